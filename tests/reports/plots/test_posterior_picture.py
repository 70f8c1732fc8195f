"""The picture of a posterior: what is averaged, what is drawn, what is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from samekind.errors import InputError
from samekind.reports.plots.posterior import MAX_ITEMS, SHOWN, Belief, draw_posterior

pytest.importorskip("matplotlib")
POINTS = np.array([[0.0, 0], [1, 0], [8, 8], [9, 8], [0, 9], [5, 1]])
TRUTH = np.array([0, 0, 1, 1, 2, 0])
GROUPINGS = np.array(
    [[0, 0, 1, 1, 2, 0], [0, 0, 1, 1, 2, 3], [0, 0, 1, 1, 1, 0], [5, 5, 5, 5, 5, 5]]
)
BEFORE = Belief("Before any answer", GROUPINGS, np.array([1.0, 6.0, 2.0, 1.0]))
AFTER = Belief(
    "After 2 answers", GROUPINGS[:2], np.array([9.0, 1.0]), [(0, 5, True), (2, 4, False)]
)


def test_the_most_probable_grouping_comes_first_and_weights_add_up_to_one() -> None:
    assert BEFORE.labels[0].tolist() == [0, 0, 1, 1, 2, 3]
    assert BEFORE.weights.tolist() == [0.6, 0.2, 0.1, 0.1]


def test_averages_are_those_of_the_weighted_groupings() -> None:
    assert BEFORE.group_counts().tolist() == pytest.approx([0, 0.1, 0.2, 0.1, 0.6])
    together = BEFORE.together()
    assert together[0, 1] == pytest.approx(1.0) and together[0, 5] == pytest.approx(0.4)
    assert together[2, 4] == pytest.approx(0.3)
    assert np.array_equal(together, together.T) and np.allclose(np.diag(together), 1)


def panels(figure: object, title: str) -> list[object]:
    return [a for a in figure.axes if a.get_title(loc="left") == title]  # type: ignore[attr-defined]


def test_each_row_has_its_groupings_the_law_of_their_number_and_all_pairs() -> None:
    figure = draw_posterior(POINTS, [BEFORE, AFTER], truth=TRUTH, name="six points", note="seed 0")
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    extra = ["number of groups", "pairs in one group"]
    assert titles == ["p = .60", "p = .20", "p = .10", "p = .10", *extra, "p = .90", "p = .10", *extra]  # fmt: skip
    counts = [axes.get_title(loc="right") for axes in figure.axes[:4]]
    assert counts == ["4 groups", "2 groups", "3 groups", "1 group"]
    texts = [text.get_text() for text in figure.texts]
    assert "Before any answer" in texts and "After 2 answers" in texts
    assert any("six points" in text for text in texts) and "seed 0." in texts


def test_the_grouping_that_is_true_is_framed_and_no_other() -> None:
    figure = draw_posterior(POINTS, [BEFORE], truth=TRUTH)
    wide = [axes.spines["left"].get_linewidth() > 1 for axes in figure.axes]
    assert wide == [False, False, True, False, False, False]
    assert not any(
        a.spines["left"].get_linewidth() > 1 for a in draw_posterior(POINTS, [BEFORE]).axes
    )


def test_items_placed_otherwise_than_in_the_first_grouping_have_a_ring() -> None:
    figure = draw_posterior(POINTS, [BEFORE])

    def ringed(panel: int) -> list[list[float]]:
        found = [d for d in figure.axes[panel].collections if d.get_zorder() == 4]
        return [place for dots in found for place in np.asarray(dots.get_offsets()).tolist()]

    assert ringed(0) == []
    moved = (POINTS[[4, 5]] - 4.5) / 4.5  # as drawn: in the square from -1 to 1
    assert sorted(ringed(1)) == [pytest.approx(place) for place in sorted(moved.tolist())]


def test_answers_are_lines_and_the_bars_show_the_law() -> None:
    figure = draw_posterior(POINTS, [BEFORE, AFTER])
    assert [len(axes.lines) for axes in figure.axes[6:8]] == [2, 2]
    assert [len(axes.lines) for axes in figure.axes[:4]] == [0, 0, 0, 0]
    heights = [bar.get_height() for bar in panels(figure, "number of groups")[0].patches]  # type: ignore[attr-defined]
    assert heights == pytest.approx([0.1, 0.2, 0.1, 0.6])


def test_more_than_five_groupings_and_more_than_two_columns_can_be_drawn(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 7))
    many = Belief("many", rng.integers(0, 14, (9, 30)), np.ones(9))
    figure = draw_posterior(X, [many])
    assert len(figure.axes) == SHOWN + 2
    figure.savefig(tmp_path / "many.png")


@pytest.mark.parametrize("n", [1, 2, 3])
def test_a_few_items_can_be_drawn(n: int, tmp_path: Path) -> None:
    belief = Belief("few", np.zeros((1, n), dtype=np.intp), np.ones(1))
    draw_posterior(np.ones((n, 2)), [belief]).savefig(tmp_path / "few.png")


def test_what_does_not_fit_together_is_refused() -> None:
    with pytest.raises(InputError, match="no belief to draw"):
        draw_posterior(POINTS, [])
    with pytest.raises(InputError, match=r"Expected 6 vectors for 'Before any answer', got 5"):
        draw_posterior(POINTS[:5], [BEFORE])
    with pytest.raises(InputError, match="Expected at most 600 items"):
        n = MAX_ITEMS + 1
        draw_posterior(np.zeros((n, 2)), [Belief("x", np.zeros((1, n), dtype=int), np.ones(1))])
    with pytest.raises(InputError, match="weights of shape"):
        Belief("x", GROUPINGS, np.ones(3))
    with pytest.raises(InputError, match="must not be negative"):
        Belief("x", GROUPINGS, np.zeros(4))
