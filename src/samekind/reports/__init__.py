"""Reports: rows of a benchmark become one page, Markdown tables and CSV files.

The page needs no script and no other file. The same rows give the same bytes: the bootstrap is
seeded, and no day is written that does not come from the rows. What papers have published stands
beside our figures through ``samekind.reports.published``.
"""
