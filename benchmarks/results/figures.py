"""Draws the figures of docs/results.md: PCL's and IDC's Figure 4, OCC's Figure 3, trainings.

    python -m benchmarks.results.figures            # draw those that can be drawn
    python -m benchmarks.results.figures --check    # exit 1 when a figure was drawn from other rows

Both papers show scores against the number of answers. Here each line is a learner with a way to
choose pairs: runs on frozen vectors from ``benchmarks/rows``, and runs on pictures from
``benchmarks/gpu``. A training by epochs has all its answers after the first epochs, so it is one
point: the mean of its last scores. A figure keeps a digest of its rows.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.results.gpu import LAST_SCORES, SUITE, recipe_rows, settled
from benchmarks.results.idc import draw_figure4, figure4_text, figure_lines
from benchmarks.results.labels import learner_label
from benchmarks.results.rows import matching, numbers, read, scores, spread
from benchmarks.results.training_curves import draw_training, training_rows
from samekind.reports.markdown import pipe_table
from samekind.reports.plots.canvas import write_picture
from samekind.reports.plots.curves import draw_curves
from samekind.simulation.rows import Row

PICTURES = Path(__file__).parents[2] / "docs" / "pictures"
DIGEST = "rows"
"""The text chunk of a picture that says which rows it was drawn from."""
SPELLED_OUT = {"dcc": "DCC", "sdec": "SDEC", "dc-gmm": "DC-GMM", "pckmeans": "PCK-means"}
"""Names of methods as their papers write them."""
SETS = {
    "cifar10-frozen": "CIFAR10-2, frozen vectors", "cifar10-2": "CIFAR10-2, pictures",
    "cifar100-4": "CIFAR100-4, pictures",
}  # fmt: skip
SPELLED = {"default": "default", "personalized": "personalised"}


@dataclass(frozen=True)
class Drawing:
    """A figure of a method: its alternative text, and what it shows.

    Either the runs of a `suite` on frozen vectors, or those on pictures over the `answers`, or
    whole trainings on pictures over their epochs, or IDC's `grid`.
    """

    method: str
    title: str
    suite: str = ""
    answers: bool = True
    grid: bool = False


ANSWERS = "over the number of answers"
DRAWINGS = {
    "pcl-figure-4": Drawing("pcl", f"ACC and NMI {ANSWERS}, by learner", "pcl-figure4-frozen"),
    "pcl-figure-4-pictures": Drawing("pcl", f"ACC on pictures {ANSWERS}, by learner"),
    "occ-figure-3": Drawing("occ", f"ACC and NMI {ANSWERS}, by strategy", "occ-figure3-frozen"),
    "occ-figure-3-pictures": Drawing("occ", f"ACC on pictures {ANSWERS}, by learner"),
    "pcl-epochs": Drawing("pcl", "Accuracy of PCL over its epochs", answers=False),
    "occ-epochs": Drawing("occ", "Accuracy of OCC over its epochs", answers=False),
    "idc-figure-4": Drawing("idc", "Accuracy over questions and over offered groups", grid=True),
}


def figure_rows(name: str, rows: Sequence[Row]) -> list[Row]:
    """The rows of a figure, each with its line and its panel, trainings by epochs as one point."""
    about = DRAWINGS[name]
    if about.grid:
        return figure_lines(rows)
    if about.suite:
        return [_drawn(row) for row in matching(rows, {"file": f"{about.suite}.jsonl"})]
    if not about.answers:
        return training_rows(about.method, rows)
    found = matching(rows, {"suite": SUITE, "method": about.method})
    return [_drawn(row) for row in found if _whole(row)]


def _whole(row: Row) -> bool:
    """Whether a run is no training by epochs, or one that came to its end."""
    about = row["protocol"]
    return not about.get("by_epochs") or about["epochs_done"] >= about["epochs_planned"]


def _drawn(row: Row) -> Row:
    learner = learner_label([row]).replace("`", "")
    learner = SPELLED_OUT.get(learner, learner)
    pairs = "random pairs" if row["strategy"] == "random" else f"pairs by {row['strategy']}"
    place = f"{SETS[row['set']]}, {SPELLED[row['orientation']]}"
    points = [settled(row)] if row["protocol"].get("by_epochs") else row["curve"]
    curve = [_by_network(point) for point in points]
    return {**row, "line": f"{learner}, {pairs}", "set": place, "orientation": "", "curve": curve}


def _by_network(point: Mapping[str, float]) -> dict[str, float]:
    """A point with the scores of the network alone, as the papers have them, where it has any."""
    alone = {name.removeprefix("network_"): value for name, value in point.items()
             if name.startswith("network_")}  # fmt: skip
    return {**point, **alone}


def digest(rows: Sequence[Row]) -> str:
    """A digest of what is drawn, in any order of the rows."""
    keys = ("line", "set", "orientation", "strategy", "seed", "curve")
    texts = sorted(json.dumps([row.get(key) for key in keys], sort_keys=True) for row in rows)
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()[:16]


def figure_text(name: str, rows: Sequence[Row]) -> str:
    """The figure as Markdown with what was measured, or a sentence that there is none."""
    about, found = DRAWINGS[name], figure_rows(name, rows)
    if not found:
        return f"Not measured yet: `samekind bench {about.suite}`." if about.suite else ""
    picture = f"![{about.title}](pictures/{name}.png)"
    if about.grid:
        return "\n".join([picture, "", figure4_text(found)])
    if about.suite:
        seeds = numbers(row["seed"] for row in found)
        commits = ", ".join(sorted({str(row["commit"]) for row in found}))
        said = (
            f"`samekind bench {about.suite}`, seeds {seeds}, commit {commits}, CPU, rows in "
            f"`benchmarks/rows/{about.suite}.jsonl`."
        )
        return "\n".join([picture, "", said, "", *_numbers_table(found)])
    if not about.answers:
        return picture
    files = ", ".join(f"`{row['protocol']['from']}`" for row in found)
    said = (
        f"On pictures, one NVIDIA H200: {files}. A point without a line is a whole training, the "
        f"mean of its last {LAST_SCORES} scores."
    )
    return "\n".join([picture, "", said])


def _numbers_table(rows: Sequence[Row]) -> list[str]:
    """The accuracy behind a figure on frozen vectors: mean and sd over seeds, by answers."""
    metric = "heldout_acc" if "heldout_acc" in rows[0]["curve"][-1] else "acc"
    answers = sorted({point["questions"] for row in rows for point in row["curve"]})
    lines = []
    for name in dict.fromkeys(row["line"] for row in rows):
        some = matching(rows, {"line": name})
        lines.append([name, *(spread(scores(some, n, metric)) for n in answers)])
    title = "held-out ACC after answers" if metric == "heldout_acc" else "ACC after answers"
    return pipe_table([title, *(f"{n:,}" for n in answers)], lines).splitlines()


def draw(name: str, rows: Sequence[Row], folder: Path = PICTURES) -> Path | None:
    """Draw a figure in place of the earlier one; None without rows."""
    found = figure_rows(name, rows)
    if not found:
        return None
    about = DRAWINGS[name]
    if about.grid:
        figure = draw_figure4(found)
    elif about.answers:
        metrics = ("acc", "nmi") if about.suite else ("acc",)
        figure = draw_curves(found, metric=metrics, by=["line"], log=True, seeds=True)
    else:
        figure = draw_training(found)
    path = folder / f"{name}.png"
    path.unlink(missing_ok=True)
    write_picture(figure, path)
    _mark(path, {DIGEST: digest(found)})
    return path


def drawn_from(path: Path) -> str:
    """The digest that a picture keeps; empty without one."""
    from PIL import Image

    if not path.is_file():
        return ""
    with Image.open(path) as picture:
        return str(picture.info.get(DIGEST, ""))


def _mark(path: Path, texts: Mapping[str, Any]) -> None:
    from PIL import Image
    from PIL.PngImagePlugin import PngInfo

    about = PngInfo()
    for key, text in texts.items():
        about.add_text(key, str(text))
    with Image.open(path) as picture:
        picture.load()
        picture.save(path, format="PNG", optimize=True, pnginfo=about)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check", action="store_true", help="draw nothing; exit 1 on old figures")
    parser.add_argument("--out", type=Path, default=PICTURES, help="folder of the pictures")
    wanted = parser.parse_args(arguments)
    kept = read()
    rows = [*kept, *recipe_rows(kept=kept)]
    old = []
    for name in DRAWINGS:
        found = figure_rows(name, rows)
        if found and drawn_from(wanted.out / f"{name}.png") != digest(found):
            old.append(name)
            if not wanted.check:
                print(f"Drew {draw(name, rows, wanted.out)}.")
    if wanted.check and old:
        sys.stderr.write(f"Old: {', '.join(old)}. Run: python -m benchmarks.results.figures\n")
    return int(bool(wanted.check and old))


if __name__ == "__main__":
    sys.exit(main())
