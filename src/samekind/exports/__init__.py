"""Exports: the groups as a table (csv, json, parquet) or as folders that can be undone.

Plan first, look at it, then run it::

    plan = plan_export(collection, clustering, Path("sorted"))
    print(plan.describe())          # a dry run: nothing was touched
    report = run_export(plan)
    undo_export(report.manifest)    # removes what was made and is unchanged

An :class:`OrientationFile` takes the way of grouping itself along, to other items.
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
