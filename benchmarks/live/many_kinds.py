"""Curves with 20 to 30 kinds: all groups in one question, or pages of five groups.

    python -m benchmarks.live.many_kinds --seeds 0 1 2 3 4 --json
    python -m benchmarks.live.many_kinds --seeds 0 1 2 3 4 --pages --json
    python -m benchmarks.live.many_kinds --table

The sets are digits in three shades (30 kinds), drawn letters (26), and a mixture (25). None is in a
suite. ``--vectors`` adds files with the arrays X (vectors) and y (kinds), such as some classes of
CIFAR-100. A true person answers; the groups are refitted every ten answers.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import adjusted_rand_score

from benchmarks.measuring import arguments, emit, table
from samekind.questions import WhichGroup
from samekind.session import Session
from samekind.simulation.people import Truth
from samekind.sources import RowCollection, Rows

Set = tuple[NDArray[Any], NDArray[np.intp]]
RESULTS = Path(__file__).with_suffix(".jsonl")
ITEMS = 900
AT = (0, 10, 20, 30, 50, 80, 120)
REFIT_EVERY = 10
DRAWN_WITH = 5
"""The seed that the sets are drawn with; those of the runs are `--seeds`."""


def main() -> None:
    parser = arguments(str(__doc__), RESULTS)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--sets", nargs="*", default=list(SETS), help="of those that are drawn")
    parser.add_argument("--vectors", type=Path, nargs="*", default=[], help="files with X and y")
    parser.add_argument("--pages", action="store_true", help="five groups at a time, as before")
    parser.add_argument("--table", action="store_true", help="print the means of the kept rows")
    wanted = parser.parse_args()
    if wanted.table:
        summarise(wanted.json or RESULTS)
        return
    if wanted.pages:
        WhichGroup.many_groups = WhichGroup.max_groups + 1
    found: dict[str, Callable[[], Set]] = {name: SETS[name] for name in wanted.sets}
    found |= {file.stem: lambda file=file: kept(file) for file in wanted.vectors}
    for name, make in found.items():
        X, kinds = subset(*make())
        for seed in wanted.seeds:
            row = {"set": name, "shown": "pages of 5" if wanted.pages else "all", "seed": seed}
            emit({**row, **measured(X, kinds, seed)}, wanted.json)


def measured(X: NDArray[Any], kinds: NDArray[np.intp], seed: int) -> dict[str, Any]:
    """The scores of one session after some numbers of answers."""
    began = time.perf_counter()
    items = RowCollection("many kinds", Rows(X))
    session = Session(items, X, seed=seed, refit_every=REFIT_EVERY)
    person, scores = Truth(kinds), {}
    for count in range(AT[-1] + 1):
        if count in AT:
            if session.changes:
                session.refit()
            scores[count] = round(float(adjusted_rand_score(kinds, session.clustering.labels)), 4)
        elif session.due:
            session.refit()
        asked = session.ask() if count < AT[-1] else None
        if asked is None:
            break
        session.tell(asked.number, person.answer(asked.question))
    return {
        "kinds": int(kinds.max() + 1),
        "items": len(X),
        "ari": scores,
        "found": len(session.constraints.kinds),
        "none": sum(answer.choice == "none" for answer in session.answers),
        "seconds": round(time.perf_counter() - began, 1),
    }


def digits_in_shades() -> Set:
    """The digits of scikit-learn, each in one of three shades: 30 kinds."""
    from sklearn.datasets import load_digits

    rng = np.random.default_rng(DRAWN_WITH)
    known = load_digits()
    shade = rng.integers(0, 3, len(known.target))
    shades = np.eye(3)[shade] * 1.6 + rng.normal(scale=0.35, size=(len(shade), 3))
    return np.hstack([known.data / 16, shades]), known.target * 3 + shade


def letters() -> Set:
    """Capital letters in the fonts of Matplotlib, turned and shifted: 26 kinds."""
    import matplotlib
    from PIL import Image, ImageDraw, ImageFont
    from sklearn.decomposition import PCA

    rng = np.random.default_rng(DRAWN_WITH)
    files = sorted(Path(matplotlib.get_data_path()).glob("fonts/ttf/DejaVu*.ttf"))
    fonts = [str(file) for file in files if "Display" not in file.name]
    kinds = np.arange(1300) % 26
    rows = []
    for kind in kinds:
        font = ImageFont.truetype(fonts[rng.integers(len(fonts))], int(rng.integers(20, 27)))
        picture = Image.new("L", (36, 36), 0)
        middle = tuple(18 + rng.integers(-2, 3, 2))
        ImageDraw.Draw(picture).text(middle, chr(65 + kind), fill=255, font=font, anchor="mm")
        small = picture.rotate(float(rng.normal(0, 9))).resize((18, 18))
        rows.append(np.asarray(small, dtype=float).ravel() / 255 + rng.normal(scale=0.08, size=324))
    return PCA(48, random_state=0).fit_transform(np.array(rows)), kinds


def mixture() -> Set:
    """25 clouds of different sizes in 12 dimensions."""
    rng = np.random.default_rng(DRAWN_WITH)
    kinds = rng.choice(25, 1500, p=rng.dirichlet(np.full(25, 3.0)))
    return rng.normal(size=(25, 12))[kinds] + rng.normal(scale=0.6, size=(1500, 12)), kinds


SETS: dict[str, Callable[[], Set]] = {
    "digits-in-shades": digits_in_shades,
    "letters": letters,
    "mixture": mixture,
}


def kept(file: Path) -> Set:
    """Vectors and kinds from a file."""
    with np.load(file) as arrays:
        return arrays["X"], arrays["y"]


def subset(X: NDArray[Any], kinds: NDArray[Any]) -> Set:
    """The same items for every run."""
    rows = np.sort(np.random.default_rng(1).permutation(len(X))[:ITEMS])
    return X[rows].astype(np.float32), np.unique(kinds[rows], return_inverse=True)[1]


def summarise(file: Path) -> None:
    """Print the mean scores by set and kind of question."""
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    lines = [("set", "shown", "seeds", *map(str, AT), "found", "none")]
    for name, shown in dict.fromkeys((row["set"], row["shown"]) for row in rows):
        some = [row for row in rows if (row["set"], row["shown"]) == (name, shown)]
        means = [np.mean([row["ari"][str(at)] for row in some]) for at in AT]
        scores = [f"{mean:.3f}".removeprefix("0") for mean in means]
        counts = [f"{np.mean([row[what] for row in some]):.0f}" for what in ("found", "none")]
        lines.append((name, shown, str(len(some)), *scores, *counts))
    table(lines)


if __name__ == "__main__":
    main()
