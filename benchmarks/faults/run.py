"""Faults on purpose: every attack of the repository, one after the other.

    python -m benchmarks.faults.run                    # all of them, about 17 minutes
    python -m benchmarks.faults.run --only damage --rounds 1000 --seed 3

Writes one row per attack to ``faults.jsonl``, and the tables in ``docs/explanation/faults.md``.
A run of more rounds than an attack has by itself gets a row of its own, one of fewer none.
"""

from __future__ import annotations

import time
import traceback
from typing import Any

from benchmarks.faults.attacks import ATTACKS
from benchmarks.faults.kept import RESULTS, is_kept, read_rows, replaced, write_rows
from benchmarks.faults.outcome import Outcome, Skipped
from benchmarks.faults.page import write_page
from benchmarks.measuring import arguments, provenance


def run(name: str, rounds: int | None, seed: int) -> dict[str, Any]:
    """Run one attack; returns its row."""
    entry = ATTACKS[name]
    wanted = rounds or entry.rounds
    begun = time.perf_counter()
    row: dict[str, Any] = {"attack": name, "about": entry.about, "seed": seed, "wanted": wanted}
    try:
        row |= entry.load()(wanted, seed).row()
    except Skipped as reason:
        row |= {"skipped": str(reason)}
    except Exception as problem:  # the attacks after it run all the same
        traceback.print_exc()
        row |= Outcome(rounds=1, problems=[f"It ended with {problem!r:.200}."]).row()
    return {**row, "seconds": round(time.perf_counter() - begun, 1), **provenance()}


def main() -> None:
    """Run the attacks and write the page."""
    parser = arguments(str(__doc__), RESULTS)
    parser.add_argument("--only", nargs="+", choices=list(ATTACKS), default=list(ATTACKS))
    parser.add_argument("--rounds", type=int, help="of each attack, instead of its own number")
    chosen = parser.parse_args()
    file = chosen.json or RESULTS
    rows = read_rows(file)
    failed = []
    for name in chosen.only:
        row = run(name, chosen.rounds, chosen.seed)
        told = row.get("skipped") or f"{row['survived']} of {row['rounds']}, {row['lost']} lost"
        left = "" if is_kept(row) else f", not kept: fewer than its {ATTACKS[name].rounds} rounds"
        print(f"{name}: {told} ({row['seconds']} s){left}", flush=True)
        for problem in row.get("problems", []):
            print(f"    {problem}", flush=True)
        if row.get("lost") or row.get("problems"):
            failed.append(name)
        rows = replaced(rows, row)
        write_rows(file, rows)
    if file == RESULTS:
        write_page(rows)
    if failed:
        raise SystemExit(f"Something did not hold: {', '.join(failed)}.")


if __name__ == "__main__":
    main()
