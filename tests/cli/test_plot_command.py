"""``samekind plot``: from a set or a file to a picture, and what it refuses."""

# ruff: noqa: F811 (fixtures are imported by their names)

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

from command_line import Cli, cli  # noqa: F401
from piles import clouds
from places import ROOT
from samekind.reports.plots import Snapshots
from samekind.simulation import simulate

pytest.importorskip("matplotlib")
QUICK = ("--method", "kmeans", "--strategy", "random", "--questions", 6)


@pytest.fixture
def things(tmp_path: Path) -> Path:
    X, kinds = clouds(48)
    side = np.where(kinds == 1, "left", "right")
    row = np.where(np.arange(48) % 4 < 2, "up", "down")
    np.savez(tmp_path / "things.npz", X=X, side=side, row=row)
    with (tmp_path / "things.csv").open("w") as file:
        file.write("a,b,side,row\n")
        file.writelines(f"{x[0]},{x[1]},{s},{r}\n" for x, s, r in zip(X, side, row, strict=True))
    return tmp_path / "things.npz"


def test_a_run_is_drawn_saved_and_drawn_again(cli: Cli, things: Path) -> None:
    folder = things.parent
    done = cli(
        "plot", "evolution", things, *QUICK, "--orientation", "side", "--orientation", "row",
        "--save", folder / "run.npz", "--out", folder / "one.png",
    )  # fmt: skip
    assert done.code == 0, done.err
    assert "Drew" in done.out
    run = Snapshots.load(folder / "run.npz")
    assert [m.title for m in run.moments] == [
        "Before any answer",
        "Asked about side",
        "Asked about row",
    ]
    assert [m.answers for m in run.moments] == [0, 6, 6]
    assert [m.asked for m in run.moments] == ["", "side", "row"]
    assert list(run.truths) == ["side", "row"]
    again = cli("plot", "evolution", "--from", folder / "run.npz", "--out", folder / "two.png")
    assert again.code == 0, again.err
    assert (folder / "one.png").stat().st_size > 10_000
    assert (folder / "two.png").stat().st_size > 10_000


def test_the_accuracies_are_those_of_simulate(cli: Cli, things: Path) -> None:
    folder = things.parent
    cli("plot", "evolution", things, *QUICK, "--orientation", "row", "--save", folder / "r.npz",
        "--out", folder / "r.svg")  # fmt: skip
    curve = json.loads(cli("simulate", things, *QUICK, "--orientation", "row", "--json").out)[
        "curve"
    ]
    first, last = Snapshots.load(folder / "r.npz").moments
    assert [first.acc["row"], last.acc["row"]] == [curve[0]["acc"], curve[-1]["acc"]]


def test_all_orientations_begin_with_the_same_groups(things: Path) -> None:
    starts = []
    for asked in ("side", "row"):
        simulate(
            things, orientation=asked, method="kmeans", strategy="random", questions=1,
            on_record=lambda session, n: None if n else starts.append(session.clustering),
        )  # fmt: skip
    one, other = starts
    assert one.labels.tolist() == other.labels.tolist()
    assert np.array_equal(one.space, other.space)


def test_a_table_needs_the_names_of_its_label_columns(cli: Cli, things: Path) -> None:
    table, out = things.with_suffix(".csv"), things.parent / "t.png"
    refused = cli("plot", "evolution", table, *QUICK, "--out", out)
    assert refused.code == 2 and "--orientation COLUMN" in refused.err
    done = cli("plot", "evolution", table, *QUICK, "--orientation", "side", "--orientation", "row",
               "--out", out)  # fmt: skip
    assert done.code == 0, done.err


def test_what_cannot_be_drawn_is_told_before_the_work(cli: Cli, things: Path) -> None:
    out = things.parent / "x.png"
    neither = cli("plot", "evolution", "--out", out)
    assert neither.code == 2 and "Expected either a set" in neither.err
    unknown = cli("plot", "evolution", things, *QUICK, "--orientation", "sid", "--out", out)
    assert unknown.code == 5 and "'side'" in unknown.err and "Asking" not in unknown.err
    format = cli("plot", "evolution", things, "--out", things.parent / "x.gif")
    assert format.code == 2 and ".png" in format.err
    taken = cli("plot", "evolution", things, "--save", things, "--out", out)
    assert taken.code == 14 and "exists already" in taken.err
    foreign = cli("plot", "evolution", "--from", things, "--out", out)
    assert foreign.code == 3 and "format" in foreign.err
    assert not out.exists()


def test_curves_of_simulations_are_drawn(cli: Cli, things: Path) -> None:
    folder = things.parent
    files = []
    for strategy in ("random", "uncertainty"):
        for seed in (0, 1):
            done = cli("simulate", things, "--method", "kmeans", "--strategy", strategy,
                       "--questions", 6, "--seed", seed, "--orientation", "side", "--json")  # fmt: skip
            files.append(folder / f"{strategy}-{seed}.json")
            files[-1].write_text(done.out)
    drawn = cli("plot", "curves", *files, "--log", "--out", folder / "c.png")
    assert drawn.code == 0, drawn.err
    assert (folder / "c.png").stat().st_size > 5_000
    one = cli(
        "plot", "curves", *files, "--only", "strategy=random", "--out", folder / "d.png", "--json"
    )
    assert one.code == 0, one.err
    assert json.loads(one.out) == {"picture": str(folder / "d.png"), "rows": 2, "metric": "acc"}
    nothing = cli("plot", "curves", *files, "--only", "seed=7", "--out", folder / "e.png")
    assert nothing.code == 2 and "Values of seed: 0, 1" in nothing.err
    odd = cli("plot", "curves", *files, "--only", "seed", "--out", folder / "e.png")
    assert odd.code == 2 and "KEY=VALUE" in odd.err
    twice = cli("plot", "curves", files[0], files[0], "--out", folder / "e.png")
    assert twice.code == 2 and "--by" in twice.err


def test_every_point_of_a_curve_is_passed_to_the_callback(things: Path) -> None:
    seen: list[tuple[int, int]] = []
    row = simulate(
        things, orientation="side", method="kmeans", strategy="random", questions=7, refit_every=3,
        on_record=lambda session, n: seen.append((n, session.clustering.snapshot)),
    )  # fmt: skip
    assert [n for n, _ in seen] == [r["questions"] for r in row["curve"]] == [0, 3, 6, 7]
    assert [snapshot for _, snapshot in seen] == [0, 1, 2, 3]


def test_the_program_of_the_guide_writes_what_can_be_drawn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    guide = (ROOT / "docs" / "how-to" / "draw-a-run.md").read_text()
    (program,) = re.findall(r"```python\n(.*?)```", guide, re.DOTALL)
    exec(program, {})
    found = Snapshots.load(tmp_path / "digits.npz")
    assert [m.answers for m in found.moments] == [0, 10, 10]
    assert found.n_items == 1000
