"""Reports: rows of a benchmark become one page, Markdown tables and CSV files.

The page needs no script and no other file, and the same rows give the same bytes. Published figures
stand beside ours through ``samekind.reports.published``.
"""
