"""The pictures: what stands in which panel, and files that are whole."""

from __future__ import annotations

import builtins
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from piles import clouds
from samekind.clustering import Clustering
from samekind.errors import ExportError, InputError, MissingExtra
from samekind.reports.plots import Snapshots
from samekind.reports.plots.canvas import (
    PALETTES,
    UNKNOWN,
    colours,
    new_figure,
    percent,
    write_picture,
)
from samekind.reports.plots.curves import draw_curves
from samekind.reports.plots.evolution import MAX_NAMES, Kinds, draw_evolution
from samekind.reports.plots.maps import maps
from samekind.workspace.layout import procrustes

pytest.importorskip("matplotlib")


@pytest.fixture(scope="module")
def run() -> Snapshots:
    X, kinds = clouds(40)
    column = np.where(kinds == 1, "right", "left")
    found = Snapshots({"column": column, "row": np.arange(40) % 4 // 2}, name="clouds", note="Hand")
    found = found.with_moment("Before any answer", Clustering.first(kinds * 0, X), 0)
    return found.with_moment(
        "Asked about column", Clustering.first(kinds, X[:, 1:2]), 12, asked="column"
    )


def texts(figure: Any) -> list[str]:
    from matplotlib.text import Text

    return [t.get_text() for t in figure.findobj(Text) if t.get_text()]


# -- maps -----------------------------------------------------------------------------------------


def test_neighbours_stay_neighbours_and_every_map_fills_the_square() -> None:
    X, _ = clouds(60)
    place = np.arange(60) % 4
    for plane in maps([X, X * 3 + 1]):
        distances = np.linalg.norm(plane[:, None] - plane[None], axis=2)
        np.fill_diagonal(distances, np.inf)
        assert (place[distances.argmin(axis=1)] == place).mean() > 0.95
        assert np.abs(plane).max() == pytest.approx(1.0)


def test_the_same_seed_gives_the_same_maps() -> None:
    X, _ = clouds(30)
    assert np.array_equal(maps([X], seed=3)[0], maps([X], seed=3)[0])


def test_a_turned_and_mirrored_map_is_turned_back() -> None:
    plane = np.random.default_rng(0).normal(size=(20, 2))
    mirrored = plane @ np.array([[0.6, 0.8], [0.8, -0.6]])
    assert np.allclose(procrustes(mirrored, plane), plane)


@pytest.mark.parametrize("shape", [(1, 3), (2, 1), (5, 2), (30, 1)])
def test_few_items_or_few_numbers_still_have_a_map(shape: tuple[int, int]) -> None:
    space = np.random.default_rng(0).normal(size=shape)
    (plane,) = maps([space])
    assert plane.shape == (shape[0], 2) and np.isfinite(plane).all()


def test_a_space_that_collapsed_to_one_point_is_drawn_as_one() -> None:
    first, collapsed = maps([clouds(20)[0], np.ones((20, 4))])
    assert np.isfinite(first).all() and np.isfinite(collapsed).all()


# -- evolution ------------------------------------------------------------------------------------


def test_each_snapshot_is_drawn_once_per_orientation_with_answers_and_accuracy(
    run: Snapshots,
) -> None:
    figure = draw_evolution(run)
    assert len(figure.axes) == 4
    shown = texts(figure)
    for expected in (
        "clouds: one pile, two orientations", "Before any answer", "0 answers",
        "Asked about column", "12 answers", "column: 50 % right", "column: 100 % right",
        "row: 50 % right", "left", "right", "0", "1",
    ):  # fmt: skip
        assert expected in shown
    bold = [a.get_title("left") for a in figure.axes if a.spines["top"].get_linewidth() > 1]
    assert bold == ["column: 100 % right"]


def test_panels_of_one_snapshot_show_the_same_places_in_other_colours(run: Snapshots) -> None:
    figure = draw_evolution(run)
    by_column, by_row = figure.axes[0].collections[0], figure.axes[1].collections[0]
    assert np.array_equal(by_column.get_offsets(), by_row.get_offsets())
    assert not np.array_equal(by_column.get_facecolors(), by_row.get_facecolors())


def test_no_text_lies_on_another(run: Snapshots) -> None:
    figure = draw_evolution(run)
    figure.canvas.draw()
    from matplotlib.text import Text

    renderer = figure.canvas.get_renderer()  # type: ignore[attr-defined]
    written = [t for t in figure.findobj(Text) if t.get_text() and t.get_visible()]
    boxes = [t.get_window_extent(renderer) for t in written]
    wide, high = figure.canvas.get_width_height()
    for at, box in enumerate(boxes):
        assert box.x0 >= 0 and box.y0 >= 0 and box.x1 <= wide and box.y1 <= high, written[at]
        clash = [written[k] for k in range(at) if box.overlaps(boxes[k])]
        assert not clash, (written[at], clash)


def test_a_large_pile_is_sampled_and_the_foot_says_so(run: Snapshots) -> None:
    figure = draw_evolution(run, most=20)
    assert all(len(a.collections[0].get_offsets()) == 20 for a in figure.axes)
    assert any("20 of 40 items" in text for text in texts(figure))
    assert "column: 100 % right" in texts(figure)


def test_unknown_kinds_are_grey_and_named_so() -> None:
    kinds = Kinds.of("place", np.array([3, -1, 10, 3]))
    assert list(kinds.names) == ["3", "10"]
    assert list(Kinds.of("place", np.array(["10", "b", "9", ""])).names) == ["9", "10", "b"]
    assert kinds.codes.tolist() == [0, -1, 1, 0]
    X, _ = clouds(12)
    truth = np.where(np.arange(12) < 3, "", "known")
    run = Snapshots({"kind": truth}).with_moment("t", Clustering.first(np.zeros(12), X), 0)
    figure = draw_evolution(run)
    assert "not known" in texts(figure)
    from matplotlib.colors import to_rgba

    inks = figure.axes[0].collections[0].get_facecolors()  # type: ignore[attr-defined]
    assert sum(np.allclose(ink, to_rgba(UNKNOWN)) for ink in inks) == 3


def test_a_hundred_kinds_have_a_legend_that_ends() -> None:
    X, _ = clouds(200)
    run = Snapshots({"kind": np.arange(200) % 100})
    figure = draw_evolution(run.with_moment("t", Clustering.first(np.zeros(200), X), 0))
    (legend,) = figure.legends
    assert len(legend.get_texts()) == MAX_NAMES
    assert legend.get_texts()[-1].get_text() == f"and {101 - MAX_NAMES} more"


def test_kinds_named_like_colours_are_drawn_in_them() -> None:
    assert colours(["red", "blue"]) == ["#d55e00", "#0072b2"]
    assert colours(["red", "star"]) == list(PALETTES[0][:2])
    assert not set(colours(["a", "b"], 0)) & set(colours(["a", "b"], 1))


def test_nothing_to_draw_is_told() -> None:
    with pytest.raises(InputError, match="no snapshot"):
        draw_evolution(Snapshots({"kind": np.array([0, 1])}))


@pytest.mark.parametrize(
    ("share", "text"), [(1.0, "100 %"), (0.9999, "99.9 %"), (0.0, "0 %"), (0.2604, "26 %")]
)
def test_a_share_is_never_rounded_to_all_or_nothing(share: float, text: str) -> None:
    assert percent(share) == text


# -- curves ---------------------------------------------------------------------------------------


def rows() -> list[dict[str, Any]]:
    return [
        {"set": "tiles", "orientation": o, "strategy": s, "seed": seed, "curve": [
            {"questions": q, "acc": 0.4 + q / 500 + seed / 50, "heldout_acc": 0.3 + q / 500}
            for q in (0, 50, 100, 200)
        ]}
        for o in ("shape", "colour") for s in ("csd", "random") for seed in (0, 1)
    ]  # fmt: skip


@pytest.mark.parametrize("log", [False, True])
def test_curves_have_a_row_per_orientation_and_a_panel_for_held_out_items(log: bool) -> None:
    figure = draw_curves(rows(), log=log)
    assert len(figure.axes) == 4
    assert [line.get_label() for line in figure.axes[0].lines] == ["csd", "random"]
    assert np.allclose(figure.axes[0].lines[0].get_ydata(), [0.41, 0.51, 0.61, 0.81])
    assert figure.axes[0].get_xscale() == ("symlog" if log else "linear")
    shown = texts(figure)
    assert {"tiles, shape", "items that were sorted", "held-out items"} <= set(shown)
    assert any("Mean over 2 seeds" in text for text in shown)


def test_without_held_out_scores_there_is_one_panel() -> None:
    for_one = [{"curve": [{"questions": 0, "nmi": 0.1}, {"questions": 5, "nmi": 0.6}]}]
    figure = draw_curves(for_one, metric="nmi")
    assert len(figure.axes) == 1
    assert any("One seed" in text for text in texts(figure))
    with pytest.raises(InputError, match="No curve has the score 'ari'"):
        draw_curves(for_one, metric="ari")


def test_several_scores_are_rows_of_panels_or_columns_where_none_were_held_out() -> None:
    both = [{**row, "curve": [{**point, "nmi": point["acc"] / 2} for point in row["curve"]]}
            for row in rows()]  # fmt: skip
    figure = draw_curves(both, metric=("acc", "nmi"))
    assert [axes.get_ylabel() for axes in figure.axes[::2]] == ["accuracy", "NMI"] * 2
    assert np.allclose(figure.axes[2].lines[0].get_ydata(), [0.205, 0.255, 0.305, 0.405])
    one = [
        {
            "curve": [
                {"questions": 0, "acc": 0.2, "nmi": 0.1},
                {"questions": 5, "acc": 0.7, "nmi": 0.6},
            ]
        }
    ]
    figure = draw_curves(one, metric=("acc", "nmi"))
    left, right = figure.axes
    assert (left.get_ylabel(), right.get_ylabel()) == ("accuracy", "NMI")
    assert left.get_position().x0 < right.get_position().x0
    assert left.get_position().y0 == right.get_position().y0
    with pytest.raises(InputError, match="No curve has the score 'ari' or 'fm'"):
        draw_curves(one, metric=("ari", "fm"))


def test_each_seed_can_be_drawn_in_place_of_the_band() -> None:
    band, each = draw_curves(rows()).axes[0], draw_curves(rows(), seeds=True).axes[0]
    assert len(band.collections) == 2 and not each.collections
    assert (len(band.lines), len(each.lines)) == (2, 2 + 4)  # two seeds of each line
    assert np.allclose(
        np.mean([line.get_ydata() for line in each.lines[2:4]], axis=0), each.lines[0].get_ydata()
    )
    assert any("faint: each seed" in text for text in texts(draw_curves(rows(), seeds=True)))


# -- files ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["a.png", "a.svg", "a.pdf"])
def test_a_picture_is_written_once_and_whole(tmp_path: Path, name: str) -> None:
    figure = draw_curves(rows())
    assert write_picture(figure, tmp_path / name).stat().st_size > 1000
    with pytest.raises(ExportError, match="exists already"):
        write_picture(figure, tmp_path / name)
    assert [file.name for file in tmp_path.iterdir()] == [name]


def test_a_png_is_sharp_and_small(tmp_path: Path, run: Snapshots) -> None:
    file = write_picture(draw_evolution(run), tmp_path / "e.png")
    with Image.open(file) as picture:
        assert picture.width > 1200
    assert file.stat().st_size < 400_000


def test_a_picture_of_unknown_format_or_place_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"ending in \.png, \.svg, \.pdf, got"):
        write_picture(new_figure(1, 1), tmp_path / "a.docx")
    with pytest.raises(ExportError, match="There is no folder"):
        write_picture(new_figure(1, 1), tmp_path / "nowhere" / "a.png")


def test_a_missing_drawing_package_is_told_with_its_remedy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real = builtins.__import__

    def without(name: str, *rest: Any, **more: Any) -> Any:
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingExtra, match=r"pip install 'samekind\[plots\]'"):
        new_figure(1, 1)
