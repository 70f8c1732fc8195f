"""``samekind posterior`` and ``plot posterior``: what they show, and what they refuse."""

# ruff: noqa: F811 (fixtures are imported by their names)

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from command_line import Cli, cli  # noqa: F401
from piles import clouds
from samekind.clusterers.ncp.amortized.network import NCPNetwork, Sizes
from samekind.clusterers.ncp.amortized.weights import save
from samekind.constraints import Constraints
from samekind.ledger.store import open_store
from samekind.protocols import Event
from samekind.reports.plots.beliefs import Beliefs, random_points

pytest.importorskip("matplotlib")
SMALL = Sizes(features=8, width=8, h_outputs=8, g_outputs=8)


@pytest.fixture
def weights(tmp_path: Path) -> Path:
    """A network that has learnt nothing: it groups by chance, but it groups."""
    torch.manual_seed(0)
    save(tmp_path / "w.safetensors", NCPNetwork(SMALL))
    return tmp_path / "w.safetensors"


@pytest.fixture
def table(tmp_path: Path) -> Path:
    X, kinds = clouds(40)
    np.savez(tmp_path / "things.npz", X=X[:, :2], side=np.where(kinds == 1, "left", "right"))
    return tmp_path / "things.npz"


def test_points_are_drawn_grouped_and_asked_about(cli: Cli, weights: Path, tmp_path: Path) -> None:
    done = cli(
        "plot", "posterior", "--weights", weights, "--items", 12, "--samples", 40,
        "--questions", 1, "--strategy", "random", "--out", tmp_path / "one.png",
    )  # fmt: skip
    assert done.code == 0, done.err
    assert "Drew" in done.out and (tmp_path / "one.png").stat().st_size > 10_000


def test_a_table_is_drawn_and_the_file_must_be_new(
    cli: Cli, weights: Path, table: Path, tmp_path: Path
) -> None:
    wanted = ("plot", "posterior", table, "--weights", weights, "--items", 10, "--samples", 30,
              "--questions", 0, "--out", tmp_path / "two.svg")  # fmt: skip
    assert cli(*wanted).code == 0
    assert "Before any answer" in (tmp_path / "two.svg").read_text()
    again = cli(*wanted)
    assert again.code != 0 and "exists already" in again.err


def test_what_cannot_be_drawn_is_told_before_long_work(cli: Cli, tmp_path: Path) -> None:
    many = cli("plot", "posterior", "--items", 5000, "--out", tmp_path / "x.png")
    assert many.code != 0 and "Expected --items from 1 to 600, got 5,000." in many.err
    odd = cli("plot", "posterior", "--strategy", "posterir", "--out", tmp_path / "x.png")
    assert odd.code != 0 and "Did you mean 'posterior'" in odd.err
    absent = cli("plot", "posterior", "nowhere.npz", "--out", tmp_path / "x.png")
    assert absent.code != 0 and "nowhere.npz" in absent.err


def test_every_grouping_that_is_drawn_honours_the_answers(weights: Path) -> None:
    pile, beliefs = random_points(10, seed=3), Beliefs(200, "random", 0, {"weights": str(weights)})
    known = Constraints.from_links(10, [(0, 1, True), (1, 2, False), (3, 4, False)])
    belief = beliefs.believe("told", pile, known)
    together = belief.together()
    assert together[0, 1] == pytest.approx(1) and together[0, 2] == together[3, 4] == 0
    assert 0 < together[5, 6] < 1
    assert belief.links == [(0, 1, True), (1, 2, False), (3, 4, False)]


def test_the_same_seed_draws_the_same_items() -> None:
    pile = random_points(30, seed=5)
    assert np.array_equal(pile.X, random_points(30, seed=5).X) and pile.X.shape == (30, 2)
    some = pile.at_most(8, seed=1)
    assert np.array_equal(some.X, pile.at_most(8, seed=1).X)
    assert (some.name, pile.at_most(30, 0).name) == ("8 of 30 points", "30 points")
    assert len(some.collection) == len(some.truth) == 8


def _events(ledger: Path) -> list[Event]:
    """All events; the bytes beside them change with every reader."""
    store = open_store(ledger)
    try:
        return [event for session in store.sessions() for event in store.read(session)]
    finally:
        store.close()


def test_how_sure_the_groups_are_is_shown_with_the_answers_and_nothing_is_written(
    cli: Cli, weights: Path, table: Path
) -> None:
    given = ("--method", "ncp", "--with", f"weights={weights}", "--with", "n_samples=40")
    asked = cli("ask", table, *given, "--questions", 2, typed="p\ny\nn\n")
    assert asked.code == 0 and "p How sure?" in " ".join(asked.out.split()), asked.err
    assert "Strategy: posterior, NCP's own." in asked.err
    assert asked.out.count("Most likely") == 2, "on p, and at the end"
    ledger = next((weights.parent / "home" / "sessions").glob("*.samekind"))
    before = _events(ledger)
    assert before
    shown = cli("posterior", table)
    assert "Most likely" in shown.out and "Uncertain pairs" in shown.out, shown.err
    assert ", now" in shown.out and "same kind" in shown.out
    found = json.loads(cli("posterior", table, "--json", "--pairs", 3).out)
    assert sum(found["n_groups"].values()) == pytest.approx(1, abs=1e-4)
    assert len(found["pairs"]) <= 3 and found["items"] == found["placed"] == 40
    assert _events(ledger) == before


def test_a_pile_without_answers_is_reported_on_and_a_method_without_draws_refused(
    cli: Cli, weights: Path, table: Path
) -> None:
    few = ("--with", f"weights={weights}", "--with", "n_samples=20")
    shown = cli("posterior", table, "--method", "ncp", *few)
    assert shown.code == 0 and "Most likely" in shown.out
    absent = cli("posterior", table, "--orientation", "colour")
    assert absent.code == 2 and "Expected one of the groupings" in absent.err
    refused = cli("posterior", table, "--method", "kmeans")
    assert (
        refused.code == 2 and "Expected a method that draws groupings, such as ncp" in refused.err
    )


@pytest.mark.parametrize(
    ("command", "wrong", "says"),
    [
        (("cluster", "digits"), "variant=acps", "Expected variant to be auto, pointwise"),
        (("simulate", "digits"), "estimate=mean", "Expected estimate to be central or probable"),
        (("ask", "digits"), "weights=gone.safetensors", "found no file at 'gone.safetensors'"),
        (("serve", "digits"), "weight=x", "Did you mean 'weights'?"),
        (("plot", "posterior"), "variant=acps", "Expected variant to be auto, pointwise"),
        (("plot", "picks", "digits"), "weights=gone.safetensors", "found no file"),
        (("plot", "evolution", "digits"), "estimate=mean", "Expected estimate to be central"),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, tuple) else "",
)
def test_weights_variant_and_estimate_are_checked_before_any_long_work(
    cli: Cli, command: tuple[str, ...], wrong: str, says: str
) -> None:
    method = () if command == ("plot", "posterior") else ("--method", "ncp")
    done = cli(*command, *method, "--with", wrong)
    assert done.code == 2 and says in done.err and "Encod" not in done.err


def test_a_simulated_person_is_asked_by_the_strategy_of_the_method(
    cli: Cli, weights: Path, table: Path
) -> None:
    few = ("--with", f"weights={weights}", "--with", "n_samples=20", "--with", "estimate=probable")
    done = cli(
        "simulate", table, "--orientation", "side", "--method", "ncp", *few, "--questions", 4
    )
    assert done.code == 0 and "+ posterior" in done.out and "estimate=probable" in done.out
    drawn = cli(
        "plot", "posterior", table, "--with", f"weights={weights}", "--with", "estimate=probable",
        "--items", 8, "--samples", 20, "--questions", 0, "--out", weights.parent / "one.svg",
    )  # fmt: skip
    assert drawn.code == 0 and "estimate probable" in (weights.parent / "one.svg").read_text()


def test_the_file_of_weights_is_found_again_from_another_folder(
    cli: Cli, weights: Path, table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(weights.parent)
    given = ("--method", "ncp", "--with", "weights=w.safetensors", "--with", "n_samples=20")
    assert cli("ask", table, *given, "--questions", 1, typed="y\n").code == 0
    monkeypatch.chdir(weights.parent / "home")
    again = cli("posterior", table)
    assert again.code == 0 and "left out" not in again.err, again.err
