"""Live on one page: what 100 to 500 answers make of learnt features, nobody telling K.

    python recipes/live.py --vectors features.npz --set cifar10 --data FOLDER --rows live.jsonl
    python recipes/live.py --vectors cifar10-frozen --orientation class --budgets 100 200

Features are a file of ``recipes/learn.py --vectors`` (or its network, ``--start``), or vectors that
come with the package. People answer right, or wrong in 5 % of the questions; three seeds each. One
row per run, scored at each budget, in the format of ``samekind bench``: ``samekind report`` reads
it. A command that is repeated with the same file goes on with what is missing. ``--answers`` keeps
what was answered for ``recipes/polish.py``.
"""

from __future__ import annotations

import argparse
import time

from arguments import over
from live_grid import LiveGrid, grid_arguments, open_features

from samekind.sources import CIFAR_SETS


def main() -> None:
    wanted = arguments()
    began = time.monotonic()
    dataset = open_features(wanted)
    print(f"{dataset.labelled.name}, {wanted.orientation}: {dataset.X.shape} of {dataset.encoder}")
    grid = LiveGrid(wanted, len(dataset.X), dataset.labelled.name, lambda: dataset)
    done = grid.done()
    for noise, seed in grid.runs():
        if grid.name(grid.live_run(noise, seed)) in done:
            continue
        if over(began, wanted.limit):
            print("The time is over; repeat the command to go on.", flush=True)
            return
        grid.write(grid.ask(noise, seed))


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    add = parser.add_argument
    add("--vectors", default=None, help="a .npz file, or a set of vectors of the package")
    add("--start", default=None, help="a network of recipes/learn.py, in place of --vectors")
    add("--set", default="cifar10", choices=CIFAR_SETS)
    add("--orientation", default="default")
    add("--data", default=None, help="folder with the pictures (or SAMEKIND_DATA)")
    add("--items", type=int, default=None, help="only the first so many items")
    add("--person", default="shown", choices=("shown", "matched"))
    add("--unsure", type=float, default=0.0, help="share of questions left open")
    add("--commit", default="", help="noted in the rows")
    grid_arguments(parser)
    return parser.parse_args()


if __name__ == "__main__":
    main()
