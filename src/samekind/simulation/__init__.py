"""Benchmarks: a suite names methods, sets and simulated people; each run of it gives one row."""

from __future__ import annotations
