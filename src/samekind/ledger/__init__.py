"""The ledger: every act of a person as an append-only list of events; the state is their fold.

Reading order: ``fold.py`` (append events, fold them into a state, item ids to positions),
``store.py`` (in memory, and :func:`open_store`), ``sql.py`` (on disk, with its migrations),
``sqlite_file.py``, ``postgres.py``, and ``recordings.py`` (answers of an earlier session, to be
replayed).
"""
