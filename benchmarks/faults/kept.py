"""The rows of the attacks that are kept: one of a whole run each, and those of longer runs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.faults.attacks import ATTACKS

RESULTS = Path(__file__).with_name("faults.jsonl")
Row = Mapping[str, Any]


def read_rows(file: Path) -> list[Row]:
    """The rows of a file; none if there is no file yet."""
    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    return [json.loads(line) for line in lines]


def write_rows(file: Path, rows: Sequence[Row]) -> None:
    """Write all rows."""
    lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    file.write_text("".join(lines), encoding="utf-8")


def is_longer(row: Row) -> bool:
    """Whether it is of more rounds than `make faults` makes."""
    return bool(row["wanted"] > ATTACKS[row["attack"]].rounds)


def is_kept(row: Row) -> bool:
    """Whether it is of at least as many rounds as `make faults` makes."""
    return bool(row["wanted"] >= ATTACKS[row["attack"]].rounds)


def replaced(rows: Sequence[Row], new: Row) -> list[Row]:
    """The rows with a new one, in the order of the attacks.

    It takes the place of the earlier row of its attack: a longer run that of a longer run with its
    seed. One that is too short to be kept takes no place.
    """
    if not is_kept(new):
        return list(rows)
    others = [row for row in rows if _place(row) != _place(new)]
    return sorted([*others, new], key=_place)


def _place(row: Row) -> tuple[int, bool, int]:
    longer = is_longer(row)
    return list(ATTACKS).index(row["attack"]), longer, row["seed"] if longer else 0
