"""Rows: the one format of results, its version, its reader and its writer.

A row is one line of JSON for one run, appended when the run ends, so that a suite that was killed
can continue. Its fields, as of :data:`SCHEMA` 3:

======================================  ========================================================
field                                   meaning
======================================  ========================================================
``schema``                              version of the format; rows without it have version 1
``run``                                 unique name of the run; changed settings change it
``suite``, ``set``, ``orientation``     what was run, and the label column that people have in mind
``system``                              name of the variant; ``method``, ``strategy``, ``encoder``,
                                        ``parameters``, ``strategy_with`` say what it consists of
``learner``                             what learnt: the name of the method, or of what stood in for
                                        it, such as the profile ``fast`` of PCL and OCC
``items``, ``width``, ``kinds``         size of the set
``groups_given``                        number of groups that the method was told, or null
``person``, ``noise``, ``unsure``       who answered, with the shares of wrong and unsure answers
``seed``, ``budget``, ``questions``     questions allowed, and questions answered
``curve``                               points with ``questions`` and scores (``acc``, ``nmi``,
                                        ``ari``, ...; ``unasked_acc``, ...; ``heldout_acc``, ...;
                                        of deep methods ``network_acc``, ...: by the network alone);
                                        from the runner also ``pairs``, ``person_seconds``,
                                        ``seconds``, ``groups``, ``refits``, ``checks``
``choices``, ``conflicts``              counts of the answers, and of contradictions
``ask_seconds``, ``tell_seconds``,      ``p50`` and ``p95`` in seconds
``refit_seconds``
``seconds``, ``memory_mib``             duration and peak memory of the run
``protocol``                            all other settings; ``stopped``, ``withdrawn``: reasons
``complete``                            false for a run that was cut short
``command``, ``commit``, ``when``,      provenance
``machine``, ``versions``
======================================  ========================================================

Version 1 has several dialects: what ``samekind simulate --json`` prints, the rows of recipes
(scores called ``train_acc`` and ``test_acc``), those of the first runner (``variant``, ``told``),
and rows of ``samekind bench`` from before the field existed. Version 2 has no ``learner``.
:func:`upgraded` converts them all.
Rows of other benchmarks, which have no curve, share only the provenance.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from samekind.errors import ExportError, SourceError
from samekind.user_paths import expanded

SCHEMA = 3
FAST_LEARNER = "SimCLR + head + FixMatch"
"""What the profile ``fast`` of PCL, OCC and CC is on pictures; it has none of their losses."""
EARLIER_FIXMATCH = "FixMatch, averaged guesses"
"""What ``fixmatch`` was before it followed the paper: guesses came from the averaged network."""
Row = Mapping[str, Any]


@dataclass(frozen=True)
class RowFile:
    """The content of a file: its objects, upgraded, and the numbers of its broken lines."""

    path: Path
    rows: list[dict[str, Any]]
    broken: list[int]

    @property
    def runs(self) -> list[dict[str, Any]]:
        """The rows that have a curve."""
        return [row for row in self.rows if row.get("curve")]

    @property
    def problem(self) -> str:
        """A sentence about the broken lines; empty: there are none."""
        if not self.broken:
            return ""
        lines = ", ".join(map(str, self.broken[:5])) + (", ..." if len(self.broken) > 5 else "")
        which = f"line {lines} is" if len(self.broken) == 1 else f"lines {lines} are"
        return f"{self.path.name}: {which} broken and left out."


def read_rows(path: str | Path) -> RowFile:
    """Read a file that holds one object per line, one object, or a list of objects.

    Each row gets the name of its ``file``. A line that was cut off by a kill is left out.
    """
    file = expanded(path)
    try:
        text = file.read_text("utf-8", "replace")
    except OSError as problem:
        raise SourceError(f"{path} cannot be read: {problem.strerror}.") from problem
    objects, broken = [], []
    try:
        whole = json.loads(text)
        objects = whole if isinstance(whole, list) else [whole]
    except ValueError:
        for number, line in enumerate(text.splitlines(), start=1):
            try:
                objects += [json.loads(line)] if line.strip() else []
            except ValueError:
                broken.append(number)
    rows = [{**upgraded(row), "file": file.name} for row in objects if isinstance(row, dict)]
    return RowFile(file, rows, broken)


def check_rows_file(found: RowFile) -> None:
    """Raise unless rows may be appended to a file: it has rows, or one that was cut off, or none.

    Nothing is appended to a text or a table that somebody named by mistake.
    """
    with found.path.open("rb") as file:
        begin = file.read(1)
    if begin not in (b"", b"{") and not found.rows:
        raise ExportError(
            f"Expected a file of rows that `samekind bench` has written, or a new name, got "
            f"{found.path}. It was not changed. Choose another name with --rows."
        )


def read_runs(paths: Iterable[str | Path]) -> list[dict[str, Any]]:
    """The rows with a curve of several files, each of which must have one."""
    found: list[dict[str, Any]] = []
    for file in map(read_rows, paths):
        if not file.runs:
            reason = "is not JSON" if file.broken and not file.rows else "has no row with a 'curve'"
            raise SourceError(
                f"{file.path} {reason}. Give what `samekind simulate --json` or `samekind bench` "
                "wrote."
            )
        found += file.runs
    return found


def append_row(file: Path, row: Row) -> None:
    """Append a line, on a line of its own even after one that was cut off."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("a+b") as rows:
        if rows.tell():
            rows.seek(-1, 2)
            if rows.read(1) != b"\n":
                rows.write(b"\n")
        rows.write(json.dumps(row, ensure_ascii=False).encode() + b"\n")


def finished(rows: Iterable[Row]) -> set[str]:
    """The names of the completed runs."""
    return {str(row["run"]) for row in rows if row.get("complete") and "run" in row}


def upgraded(row: Row) -> dict[str, Any]:
    """The same row in the current version; objects without a curve stay as they are.

    >>> old = {"variant": "pcl", "questions": 20, "told": 10,
    ...        "curve": [{"questions": 0, "test_acc": 0.5, "train_acc": 0.6, "groups": None}]}
    >>> new = upgraded(old)
    >>> new["system"], new["budget"], new["questions"], new["curve"]
    ('pcl', 20, 10, [{'questions': 0, 'heldout_acc': 0.5, 'acc': 0.6}])
    """
    version = row.get("schema", 1)
    if version >= SCHEMA or not isinstance(row.get("curve"), list):
        return dict(row)
    new = _from_version_1(row) if version < 2 else dict(row)
    learner = new.get("learner") or earlier_learner(new)
    return {**new, **({"learner": learner} if learner else {}), "schema": SCHEMA}


def earlier_learner(row: Row) -> str | None:
    """The learner of a row that does not name it, by its method, profile and encoder.

    On plain vectors the profile ``fast`` trained as ``paper`` does.

    >>> earlier_learner({"method": "pcl", "parameters": {"profile": "fast"}})
    'SimCLR + head + FixMatch'
    >>> earlier_learner({"method": "occ", "protocol": {"without": ["assignment"]}})
    'OCC without assignment'
    >>> [earlier_learner({"method": method}) for method in ("dcc", "idc", "fixmatch")]
    ['dcc', 'IDC, repaired', 'FixMatch, averaged guesses']
    """
    method = row.get("method")
    given = row.get("parameters") or {}
    profile = given.get("profile") or row.get("profile")
    if method == "idc":
        return _earlier_idc(profile or "repaired", given.get("losses") or row.get("losses"))
    if method == "fixmatch":
        return EARLIER_FIXMATCH
    if method not in _OWN_NAMES:
        return None if method is None else str(method)
    if profile == "fast" and row.get("encoder") in _OF_PICTURES:
        return FAST_LEARNER
    own = _OWN_NAMES[method]
    name = own if profile in (None, "paper", "fast") else f"{own}, {profile}"
    without = (row.get("protocol") or {}).get("without") or ()
    return name + (f" without {' and '.join(without)}" if without else "")


def _earlier_idc(profile: str, losses: Any) -> str:
    """IDC by its profile, which was ``repaired`` unless the row says so, and its losses.

    >>> _earlier_idc("program", "pos,reg")
    'IDC without neg'
    """
    used = losses.split(",") if isinstance(losses, str) else losses or _IDC_LOSSES
    left_out = [name for name in _IDC_LOSSES if name not in used]
    name = "IDC" if profile == "program" else f"IDC, {profile}"
    return name + (f" without {' and '.join(left_out)}" if left_out else "")


def _from_version_1(row: Row) -> dict[str, Any]:
    """The row under the names of version 2."""
    new = {_RENAMED.get(key, key): value for key, value in row.items()}
    if "told" in new and "budget" not in new:
        new |= {"budget": new.get("questions"), "questions": new["told"]}
    new["curve"] = [_point(point) for point in row["curve"] if isinstance(point, dict)]
    if "suite" not in new or not new.get("person"):
        new["person"] = person_name(
            str(new.get("person") or "shown"), new.get("noise") or 0.0, new.get("unsure") or 0.0
        )
    parts = (new.get(key) for key in ("method", "strategy"))
    if system := new.get("system") or "+".join(str(part) for part in parts if part):
        new["system"] = system
    keys = ("suite", "set", "orientation", "person", "system", "seed")
    name = "/".join(str(new.get(key, "-")) for key in keys)
    return {"run": name, "complete": True, **new}


def person_name(kind: str, noise: float, unsure: float) -> str:
    """The name of a person without one.

    >>> person_name("shown", 0.05, 0.0), person_name("shown", 0.0, 0.0)
    ('wrong-5', 'perfect')
    """
    parts = [] if kind == "shown" else [kind]
    parts += [f"wrong-{100 * noise:g}"] if noise else []
    parts += [f"unsure-{100 * unsure:g}"] if unsure else []
    return "+".join(parts) or "perfect"


_OWN_NAMES = {"pcl": "PCL", "occ": "OCC", "cc": "CC"}
"""Methods with profiles, and the name of each where it trains by its own loss."""
_IDC_LOSSES = ("pos", "neg", "reg")
_OF_PICTURES = (None, "pixels", "pixels of the pictures", "resnet18", "resnet34")
"""Encoders of rows whose network was trained on pictures; recipes wrote none."""
_RENAMED = {"variant": "system", "peak_memory_mb": "memory_mib"}


def _point(point: Row) -> dict[str, Any]:
    """A point of a curve under today's names, without scores that were not taken."""
    names = {key: _score_name(key) for key in point}
    return {names[key]: value for key, value in point.items() if value is not None}


def _score_name(name: str) -> str:
    if name.startswith("test_"):
        return f"heldout_{name.removeprefix('test_')}"
    return name.removeprefix("train_")
