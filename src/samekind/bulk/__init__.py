"""Piles beyond one machine: vectors in a Lance dataset, computed and used by Ray.

``vector_store.py`` keeps vectors, ``manifest.py`` how they were made, ``sampled_pile.py`` opens
some of them for a session. All of it needs the extra ``cluster``, whose packages are imported only
when a store is used.
"""
