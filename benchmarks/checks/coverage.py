"""Whether the stated interval holds the true share of well-placed items.

    samekind bench checks
    python -m benchmarks.checks.coverage checks.jsonl

Reads any rows of ``samekind bench``: where something could be stated, the points of its curve hold
the interval and the share that it estimates. See statements.py for people of all sorts.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from samekind.simulation.rows import read_runs


def main() -> None:
    """Print coverage, width and bias by number of answers."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("rows", type=Path, nargs="+")
    points = [p for row in read_runs(parser.parse_args().rows) for p in row["curve"]]
    for n in sorted({p["questions"] for p in points if "checks" in p}):
        found = [p["checks"] for p in points if p["questions"] == n and "checks" in p]
        share, low, high, truth = (
            np.array([checks[key] for checks in found]) for key in ("share", "low", "high", "truth")
        )
        print(
            f"{n} answers: the interval holds the truth in "
            f"{100 * np.mean((low <= truth) & (truth <= high)):.0f} % of {len(found)} runs, "
            f"mean width {np.mean(high - low):.2f}, bias {np.mean(share - truth):+.3f}"
        )


if __name__ == "__main__":
    main()
