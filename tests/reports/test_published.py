"""The published figures: every printed number is there, under the names of the house."""

from __future__ import annotations

import csv

import numpy as np
import numpy.typing as npt
import pytest

from samekind.reports import published
from samekind.reports.published import FOLDER, Figure, figures, titles

Scores = npt.NDArray[np.float64]
SCORES = {"ACC": "acc", "NMI": "nmi", "ARI": "ari", "F": "f", "test accuracy": "acc"}


def one(table: str, method: str, set: str, orientation: str = "default") -> Figure:
    (found,) = [f for f in figures(set, orientation, table=table) if f.method == method]
    return found


def test_known_figures_are_found_under_the_names_of_the_house() -> None:
    pcl = one("pcl-3", "PCL", "cifar10-2", "personalized")
    assert (pcl.acc, pcl.nmi, pcl.ari, pcl.f, pcl.answers) == (0.873, 0.453, 0.558, 0.765, 10000)
    assert one("pcl-2", "PCL", "imagenet10-2").answers == 4000
    occ = one("occ-2", "OCC", "cifar10-2", "personalized")
    assert (occ.acc, occ.f, occ.answers) == (0.945, None, 50000)
    assert one("occ-2", "OCC", "imagenet-dogs-2").answers is None
    idc = one("idc-2", "IDC (TCL)", "cifar20")
    assert (idc.acc, idc.nmi, idc.ari, idc.answers) == (0.694, 0.581, 0.487, 500)
    assert one("idc-2", "TCL", "cifar10").answers == 0
    labels = [f.answers for f in figures("cifar10", table="fixmatch-zoo")]
    assert labels == [40, 40, 250, 250, 4000, 4000]


@pytest.mark.parametrize("table", published._about()["table"], ids=lambda t: t["name"])
def test_every_printed_number_comes_back_once(table: dict[str, str]) -> None:
    with (FOLDER / table["file"]).open(newline="", encoding="utf-8") as file:
        printed = [(SCORES[row["metric"]], float(row["value"])) for row in csv.DictReader(file)]
    scale = 100 if table.get("percent") else 1
    given = [
        (name, score)
        for figure in figures(table=table["name"])
        for name in ("acc", "nmi", "ari", "f")
        if (score := getattr(figure, name)) is not None
    ]
    ours = sorted((name, round(score * scale, 3)) for name, score in given)
    assert ours == sorted((name, round(value, 3)) for name, value in printed)


def test_all_is_the_sum_of_the_tables_and_every_row_names_its_protocol() -> None:
    assert sum(len(figures(table=name)) for name in titles()) == len(figures())
    for figure in figures():
        assert figure.protocol and figure.source and "  " not in figure.protocol
    rows = [(f.table, f.method, f.set, f.orientation, f.answers) for f in figures()]
    assert len(set(rows)) == len(rows)


def test_only_rows_that_no_single_table_can_give_are_doubted() -> None:
    doubted = {(f.table, f.method, f.set, f.orientation) for f in figures() if f.doubt}
    assert doubted == {
        ("pcl-3", "PCL", "cifar10-2", "personalized"),
        ("pcl-3", "DC-GMM", "imagenet10-2", "personalized"),
        ("occ-2", "K-means", "cifar10-2", "personalized"),
        ("occ-2", "GCC", "cifar10-2", "personalized"),
        ("occ-4", "OCC extension no", "cifar10-2", "default"),
    }
    doubt = one("pcl-3", "PCL", "cifar10-2", "personalized").doubt
    assert "off by .0173 or more" in doubt and "F .785" in doubt


def tables_of_counts(accuracy: float, share: float, n: int) -> dict[str, Scores]:
    """NMI, ARI and Fowlkes-Mallows of every two-by-two table with that share and accuracy."""
    small = round(share * n)
    right = np.arange(np.ceil((accuracy - 5e-4) * n), np.floor((accuracy + 5e-4) * n) + 1)
    first, both = np.meshgrid(np.arange(small + 1), right)  # right ones: smaller group, together
    possible = (both - first >= 0) & (both - first <= n - small)
    first, second = first[possible], (both - first)[possible]
    cells = np.stack([first, small - first, n - small - second, second])
    found = np.stack([cells[0] + cells[2], cells[1] + cells[3]])
    given = np.array([[small], [n - small]], dtype=float)
    together, true, guessed = (pairs(counts) for counts in (cells, given, found))
    chance = true * guessed / (n * (n - 1))
    entropies = entropy(given / n) + entropy(found / n)
    return {
        "nmi": 2 * (entropies - entropy(cells / n)) / entropies,
        "ari": (together - chance) / ((true + guessed) / 2 - chance),
        "f": together / np.sqrt(true * guessed),
    }


def pairs(counts: Scores) -> Scores:
    return np.asarray((counts * (counts - 1)).sum(0))


def entropy(shares: Scores) -> Scores:
    return -np.asarray((shares * np.log(np.maximum(shares, 1e-300))).sum(0))


def test_the_doubted_f_is_out_of_reach_of_every_table_and_the_proposed_one_is_not() -> None:
    row = one("pcl-3", "PCL", "cifar10-2", "personalized")
    assert row.acc is not None and row.ari is not None and row.f is not None
    scores = tables_of_counts(row.acc, 0.4, 10000)
    fits = np.abs(scores["ari"] - row.ari) <= 0.0005
    assert fits.any()
    assert np.abs(scores["f"][fits] - row.f).min() > 0.015
    fits &= np.abs(scores["nmi"] - row.nmi) <= 0.0005
    assert np.abs(scores["f"][fits] - 0.785).min() <= 0.0005


def test_the_row_of_dc_gmm_fits_when_its_two_groups_are_not_quite_equal() -> None:
    row = one("pcl-3", "DC-GMM", "imagenet10-2", "personalized")
    assert row.acc is not None
    near = {}
    for share in (0.5, 0.488):
        scores = tables_of_counts(row.acc, share, 2560)
        gaps = [np.abs(scores[name] - getattr(row, name)) for name in scores]
        near[share] = np.max(gaps, axis=0).min()
    assert near[0.488] <= 0.0005
    assert near[0.5] > 0.002
