"""Benchmarks, one folder per question: ``python -m benchmarks.FOLDER.FILE``."""
