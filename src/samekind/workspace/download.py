"""The groups of a session as the bytes of one file, for a download."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from samekind.session import Session

TYPES = {
    "csv": "text/csv; charset=utf-8",
    "json": "application/json",
    "parquet": "application/vnd.apache.parquet",
}


def formats() -> list[str]:
    """The formats that can be made with the packages installed here."""
    return [name for name in TYPES if name != "parquet" or find_spec("pyarrow") is not None]


def table(session: Session, format: str) -> bytes:
    """The file that ``samekind export`` would write."""
    from samekind.exports import plan_export, run_export

    n = len(session.collection)
    # Behind the last item are those that have gone from the collection.
    told = frozenset(session.collection.id(int(i)) for i in session.constraints.touched if i < n)
    with TemporaryDirectory(prefix="samekind-") as folder:
        target = Path(folder) / f"groups.{format}"
        run_export(plan_export(session.collection, session.clustering, target, answered=told))
        return target.read_bytes()
