"""Plots: pictures of runs. ``snapshots`` keeps what a picture shows and needs no matplotlib."""

from samekind.reports.plots.snapshots import Snapshot, Snapshots

__all__ = ["Snapshot", "Snapshots"]
