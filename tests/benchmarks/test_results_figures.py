"""Figures of the results: drawn from rows, named after what learnt, and known by their digest."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from benchmarks.results import figures
from benchmarks.results.gpu import SUITE, recipe_rows
from benchmarks.results.rows import read
from benchmarks.results.training_curves import draw_training

KEPT = read()
ROWS = [*KEPT, *recipe_rows(kept=KEPT)]


def row(seed: int = 0, **more: Any) -> dict[str, Any]:
    about = {
        "suite": "pcl-figure4-frozen", "file": "pcl-figure4-frozen.jsonl", "set": "cifar10-frozen",
        "orientation": "personalized", "method": "pcl", "learner": "PCL", "strategy": "pcl",
        "seed": seed, "commit": "abc", "protocol": {}, "schema": 3, "budget": 200,
        "curve": [{"questions": n, "acc": 0.5 + n / 1000 + seed / 100, "nmi": n / 1000}
                  for n in (0, 100, 200)],
    }  # fmt: skip
    return {**about, **more}


def trained(**more: Any) -> dict[str, Any]:
    """A training by epochs on pictures, of which 20 scores were taken with all answers."""
    curve = [{"questions": 10_000, "acc": 0.8, "heldout_acc": 0.7 + k / 100, "nmi": 0.3}
             for k in range(20)]  # fmt: skip
    about = {"by_epochs": True, "epochs_done": 501, "epochs_planned": 501, "from": "x.json"}
    where = {"suite": SUITE, "file": "x.json", "set": "cifar10-2", "budget": 10_000}
    return row(**where, **{"curve": curve, "protocol": about, **more})


def test_the_figures_of_the_page_are_drawn_from_the_kept_rows(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert figures.main(["--check"]) == 0, capsys.readouterr().err


def test_figures_of_other_rows_are_named_with_the_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert figures.figure_rows("pcl-figure-4", ROWS)
    assert figures.main(["--check", "--out", str(tmp_path)]) == 1
    said = capsys.readouterr().err
    assert "pcl-figure-4" in said and "Run: python -m benchmarks.results.figures" in said


def test_a_figure_keeps_the_digest_of_its_rows_and_is_drawn_again_for_others(
    tmp_path: Path,
) -> None:
    first, more = [row(), row(1)], [row(), row(1), row(2)]
    path = figures.draw("pcl-figure-4", first, tmp_path)
    assert path is not None
    digest = figures.drawn_from(path)
    assert digest == figures.digest(figures.figure_rows("pcl-figure-4", first[::-1]))
    figures.draw("pcl-figure-4", more, tmp_path)
    assert figures.drawn_from(path) != digest
    assert figures.draw("pcl-figure-4", [], tmp_path) is None


def test_lines_are_named_after_the_learner_and_who_chose_the_pairs() -> None:
    rows = [row(), row(learner="dcc", method="dcc", strategy="random")]
    rows += [row(learner="SimCLR + head + FixMatch"), row(learner="PCL, repaired")]
    assert [one["line"] for one in figures.figure_rows("pcl-figure-4", rows)] == [
        "PCL, pairs by pcl", "DCC, random pairs", "SimCLR + head + FixMatch, pairs by pcl",
        "PCL, repaired, pairs by pcl",
    ]  # fmt: skip


def test_a_whole_training_is_one_point_and_one_cut_short_none() -> None:
    (drawn,) = figures.figure_rows("pcl-figure-4-pictures", [row(), trained()])
    (point,) = drawn["curve"]
    assert point["questions"] == 10_000
    assert point["heldout_acc"] == pytest.approx(0.7 + 0.145)  # the mean of the last ten
    short = {"by_epochs": True, "epochs_done": 12, "epochs_planned": 501, "from": "x.json"}
    assert figures.figure_rows("pcl-figure-4-pictures", [trained(protocol=short)]) == []


def test_sorted_items_are_scored_by_the_network_alone_where_a_row_has_it() -> None:
    point = {"questions": 0, "acc": 0.9, "network_acc": 0.6, "nmi": 0.5, "heldout_acc": 0.7}
    (drawn,) = figures.figure_rows("pcl-figure-4", [row(curve=[point])])
    assert {name: drawn["curve"][0][name] for name in ("acc", "nmi", "heldout_acc")} == {
        "acc": 0.6, "nmi": 0.5, "heldout_acc": 0.7,
    }  # fmt: skip


def test_trainings_are_drawn_over_their_epochs_with_the_printed_figure(tmp_path: Path) -> None:
    def run(**more: Any) -> dict[str, Any]:
        curve = [{"questions": min(100, 50 * k), "epochs": 10 * k, "heldout_acc": 0.5 + k / 100}
                 for k in range(1, 21)]  # fmt: skip
        about = {"curve": curve, "parameters": {"profile": "paper"}, "questions": 100}
        return trained(**about, **more)

    rows = [run(), run(strategy="pcl-reference", orientation="default"), trained(seed=3)]
    found = figures.figure_rows("pcl-epochs", rows)
    assert len(found) == 2  # that without epochs is left out
    drawing = draw_training(found)
    default, personalised = drawing.axes
    assert default.get_title(loc="left") == "CIFAR10-2 default"
    score, mean, published = personalised.lines
    assert list(score.get_xdata())[:2] == [10, 20] and mean.get_ydata()[-1] == pytest.approx(0.655)
    assert published.get_ydata()[0] == 0.873
    keys = [text.get_text() for text in drawing.legends[0].get_texts()]
    assert sorted(keys) == [
        "PCL, pairs by pcl, seed 0", "PCL, pairs by pcl-reference, seed 0", "published",
    ]  # fmt: skip
    assert figures.draw("pcl-epochs", rows, tmp_path) == tmp_path / "pcl-epochs.png"
    assert figures.figure_text("pcl-epochs", rows).startswith("![Accuracy of PCL over its epochs]")
    assert figures.figure_text("occ-epochs", rows) == ""


def test_the_text_says_what_was_measured_or_that_nothing_was() -> None:
    assert figures.figure_text("pcl-figure-4", []) == (
        "Not measured yet: `samekind bench pcl-figure4-frozen`."
    )
    text = figures.figure_text("pcl-figure-4", [row(), row(1), trained()])
    table = "| PCL, pairs by pcl | .505 ± .007 | .605 ± .007 | .705 ± .007 |"
    for words in ("![", "(pictures/pcl-figure-4.png)", "seeds 0, 1, commit abc", table):
        assert words in text
    text = figures.figure_text("pcl-figure-4-pictures", [row(), trained()])
    assert "(pictures/pcl-figure-4-pictures.png)" in text and "`x.json`" in text
