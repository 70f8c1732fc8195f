"""The picture of what each way of choosing would ask about."""

# ruff: noqa: F811 (fixtures are imported by their names)

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from command_line import Cli, cli  # noqa: F401
from piles import clouds
from samekind.errors import InputError
from samekind.reports.plots.picks import Picks, draw_picks

pytest.importorskip("matplotlib")


def example(n: int = 40, **changes: object) -> Picks:
    X, kinds = clouds(n)
    labels = kinds.copy()
    labels[:4] = 1 - labels[:4]
    given: dict[str, object] = {
        "vectors": X, "labels": labels, "orientation": "side", "truth": kinds.astype(str),
        "chosen": {"Hard": [0, 1, 2, 9], "Random": [5, 6]}, "standing": [10, 11],
    }  # fmt: skip
    return Picks(**{**given, **changes})  # type: ignore[arg-type]


def test_a_summary_counts_misplaced_items_and_kinds() -> None:
    picks = example()
    assert np.flatnonzero(picks.misplaced).tolist() == [0, 1, 2, 3]
    assert picks.summary("Hard") == "3 of 4 misplaced, 2 of 2 kinds"
    assert picks.summary("Random") == "0 of 2 misplaced, 2 of 2 kinds"


def test_every_choice_has_a_panel_with_its_picks_ringed() -> None:
    figure = draw_picks(example(), seed=0)
    assert len(figure.axes) == 2
    for panel, count in zip(figure.axes, (4, 2), strict=True):
        ringed = [dots for dots in panel.collections if dots.get_zorder() == 3]
        assert sum(len(dots.get_offsets()) for dots in ringed) == count
        crosses = [dots for dots in panel.collections if dots.get_zorder() == 4]
        assert [len(dots.get_offsets()) for dots in crosses] == [2, 2]
    texts = [text.get_text() for text in figure.texts]
    assert "Hard" in texts and "3 of 4 misplaced, 2 of 2 kinds" in texts


def test_picked_items_are_drawn_also_when_others_are_sampled_away() -> None:
    figure = draw_picks(example(200), most=20, seed=0)
    ringed = [dots for dots in figure.axes[0].collections if dots.get_zorder() == 3]
    assert sum(len(dots.get_offsets()) for dots in ringed) == 4
    assert any("of 200 items" in text.get_text() for text in figure.texts)


def test_what_does_not_fit_together_is_refused() -> None:
    with pytest.raises(InputError, match="no choice"):
        example(chosen={})
    with pytest.raises(InputError, match="not there"):
        example(chosen={"Hard": [40]})
    with pytest.raises(InputError, match="one group and one kind for each of"):
        example(labels=np.zeros(3, dtype=int))


def test_picks_are_drawn_from_the_command_line(cli: Cli, tmp_path: Path) -> None:
    X, kinds = clouds(60)
    np.savez(tmp_path / "things.npz", X=X, side=np.where(kinds == 1, "left", "right"))
    done = cli("plot", "picks", tmp_path / "things.npz", "--questions", 6, "--out",
               tmp_path / "p.png")  # fmt: skip
    assert done.code == 0, done.err
    assert (tmp_path / "p.png").stat().st_size > 10_000
    pairs = cli("plot", "picks", tmp_path / "things.npz", "--questions", 4, "--choice", "random",
                "--choice", "placement", "--out", tmp_path / "q.svg")  # fmt: skip
    assert pairs.code == 0, pairs.err
    unknown = cli("plot", "picks", tmp_path / "things.npz", "--choice", "valu", "--out",
                  tmp_path / "r.png")  # fmt: skip
    assert unknown.code == 5 and "'value'" in unknown.err
    nowhere = cli("plot", "picks", tmp_path / "things.npz", "--orientation", "sid", "--out",
                  tmp_path / "r.png")  # fmt: skip
    assert nowhere.code == 5 and "'side'" in nowhere.err
