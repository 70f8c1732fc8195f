"""Piles beyond one machine: vectors in a Lance dataset, computed and used by Ray.

``vector_store.py`` keeps vectors, ``manifest.py`` how they were made. All of it needs the extra
``cluster``; nothing here is imported by a plain session.
"""
