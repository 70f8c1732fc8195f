"""The ledger: every act of a person as an append-only list of events; the state is their fold.

Reading order: ``event_log.py`` (store events, read those of others), ``fold.py`` (fold them into a
state), ``positions.py``, ``folded_constraints.py`` (what the answers in force imply),
``store.py`` (in memory, and :func:`open_store`), ``sql.py`` (on disk), ``checksums.py``,
``migrations.py``, ``sqlite_file.py``, ``last_events.py``, ``write_ahead_log.py`` with
``foreign_log.py`` and ``database_image.py`` (logs that are damaged or belong to another file),
``postgres.py``, ``recordings.py`` (answers of an earlier session, to be replayed), and
``repair.py`` with ``pages.py`` (what is left of a damaged file).
"""
