"""Labels of measured lines: what learnt is read from the rows, never typed by hand."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from benchmarks.results.gpu import settled
from samekind.simulation.rows import Row

VARIANTS_OF = {
    "pcl-4": "PCL", "pcl-5": "PCL", "occ-3": "OCC", "occ-4": "OCC", "idc-3": "IDC", "idc-4": "IDC",
}  # fmt: skip
"""Published tables whose lines are variants of one method."""
WITH_PROFILES = ("pcl", "occ", "cc")
"""Methods whose changed settings belong to the label."""


def label(template: str, rows: Sequence[Row]) -> str:
    """Fill a template: ``{learner}``, ``{strategy}``, ``{epochs}``, ``{scored}`` are the rows'.

    >>> label("{learner}, pairs by `{strategy}`", [
    ...     {"method": "pcl", "learner": "SimCLR + head + FixMatch", "strategy": "pcl",
    ...      "curve": [{"questions": 9}]}])
    'SimCLR + head + FixMatch, pairs by `pcl`'
    """
    if "{learner}" not in template:
        raise SystemExit(
            f"Expected a label with {{learner}}, got {template!r}. What learnt is read from the "
            "rows."
        )
    epochs = sorted({n for row in rows if (n := epochs_done(row)) is not None}, reverse=True)
    strategies = dict.fromkeys(str(row.get("strategy")) for row in rows)
    return template.format(
        learner=learner_label(rows),
        strategy=" or ".join(strategies),
        epochs=" or ".join(f"{number:g}" for number in epochs),
        scored=" or ".join(dict.fromkeys(_scored(row) for row in rows)),
    )


def _scored(row: Row) -> str:
    """What the result of a training by epochs is, in words."""
    count = settled(row).get("scores", 1)
    return "last score" if count == 1 else f"mean of the last {count:g} scores"


def learner_label(rows: Sequence[Row]) -> str:
    """The one learner of some rows, with the settings that were changed in it."""
    found = list(dict.fromkeys(_with_changes(row) for row in rows))
    if len(found) != 1:
        raise SystemExit(
            f"Expected rows of one learner under one label, got {', '.join(found) or 'none'}. "
            "Split the line in benchmarks/results/ours.toml."
        )
    return found[0]


def shown(learner: str) -> str:
    """A learner as it is printed; names of ``samekind list`` are code."""
    return f"`{learner}`" if learner == learner.lower() else learner


def _with_changes(row: Row) -> str:
    changed = ", ".join(changes(row))
    return shown(str(row["learner"])) + (f" ({changed})" if changed else "")


def changes(row: Row) -> list[str]:
    """Settings in which a run of a paper's method differs from the published ones.

    >>> changes({"method": "pcl", "learner": "PCL",
    ...          "parameters": {"attention": False, "learning_rate": 3e-4}})
    ['no attention', 'rate 0.0003']
    """
    if row.get("method") not in WITH_PROFILES or stands_in(row):
        return []
    given: dict[str, Any] = row.get("parameters") or {}
    words = ["no attention"] if given.get("attention") in (False, "off") else []
    rate, size = given.get("learning_rate"), given.get("size")
    words += [f"rate {rate:g}"] if rate is not None else []
    backbone = str(given.get("backbone") or "").replace("resnet", "ResNet-")
    words += [backbone] if backbone else []
    words += [f"{size} x {size} pixels"] if size else []
    return words + (["from self-supervised weights"] if given.get("start") else [])


def stands_in(row: Row) -> bool:
    """Whether something else than the method of a row learnt."""
    return not str(row["learner"]).lower().startswith(str(row["method"]).lower())


def questions_by(row: Row) -> str:
    """How the questions of a run were chosen in effect.

    CSD compares with an earlier training. With a single round there is none, so its pairs are
    random ones.
    """
    strategy, protocol = str(row.get("strategy")), row.get("protocol") or {}
    if not row.get("questions"):
        return ""
    rounds = protocol.get("questions_per_refit") or protocol.get("refit_at")
    if strategy == "csd" and not rounds and not protocol.get("first_refits"):
        return "`random` (`csd` in one round)"
    return f"`{strategy}`"


def epochs_done(row: Row) -> float | None:
    """Epochs of a training by epochs: those done, else those planned."""
    given = row.get("parameters") or {}
    done = (row.get("protocol") or {}).get("epochs_done", given.get("epochs"))
    return done if isinstance(done, int | float) else None


def plain(name: str) -> str:
    """A name without differences of spelling; IDC that begins from TCL is simply IDC."""
    return re.sub(r"[^a-z0-9+]", "", name.lower().removesuffix(" (tcl)"))


def is_by(learner: str, method: str, table: str = "") -> bool:
    """Whether a learner may stand under the name of a published method.

    Parts that were left out of a loss make a variant of the method, not another learner.

    >>> is_by("PCL", "PCL"), is_by("SimCLR + head + FixMatch", "PCL"), is_by("PCL, repaired", "PCL")
    (True, False, False)
    >>> is_by("OCC without assignment", "OCC R only", "occ-3")
    True
    """
    own = learner.split(" without ")[0]
    named = VARIANTS_OF.get(table, method).removesuffix(" (ProPos)")  # IDC that begins from it
    return plain(own) == plain(named)
