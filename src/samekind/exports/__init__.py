"""Exports: the groups as a table (csv, json, parquet) or as folders, which can be undone.

Plan first, check the plan, then run it::

    plan = plan_export(collection, clustering, Path("sorted"))
    print(plan.describe())          # a dry run: nothing was written
    report = run_export(plan)
    undo_export(report.manifest)    # removes everything that is still unchanged

An :class:`OrientationFile` stores the way of grouping itself, to apply it to other items.
"""

from samekind.exports.manifest import MANIFEST, Report
from samekind.exports.orientation_file import OrientationFile
from samekind.exports.placements import Placed, Placements
from samekind.exports.plan import FORMATS, MODES, Plan, Planned, plan_export
from samekind.exports.run import run_export
from samekind.exports.undo import undo_export

__all__ = [
    "FORMATS",
    "MANIFEST",
    "MODES",
    "OrientationFile",
    "Placed",
    "Placements",
    "Plan",
    "Planned",
    "Report",
    "plan_export",
    "run_export",
    "undo_export",
]
