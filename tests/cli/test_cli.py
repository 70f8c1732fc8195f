"""The command line as a newcomer meets it: every command, its defaults, and its JSON."""

# ruff: noqa: F811 (fixtures are imported by their names)

from __future__ import annotations

import csv
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from command_line import Cli, cli, table  # noqa: F401
from piles import clouds
from places import ROOT
from samekind import __version__
from samekind.ledger.store import open_store
from samekind.protocols import Event
from samekind.registry import registered
from samekind.sources import SETS

COMMANDS = [
    "bench",
    "serve",
    "demo",
    "ask",
    "cluster",
    "posterior",
    "simulate",
    "export",
    "predict",
    "check",
    "embed",
    "learn",
    "more",
    "plot",
    "report",
    "list",
]
DOCS = ROOT / "docs"


@pytest.fixture
def labelled(tmp_path: Path) -> Path:
    """One labelled pile in three formats; every fourth item is held out."""
    X, kinds = clouds(60)
    side = np.where(kinds == 1, "left", "right")
    corner = np.arange(60) % 4
    split = np.where(np.arange(60) % 5 == 0, "test", "train")
    np.savez(tmp_path / "things.npz", X=X, side=side, corner=corner, split=split)
    with (tmp_path / "things.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["a", "b", "c", "side", "corner", "split"])
        rows.writerows(zip(*X[:, :3].T.tolist(), side, corner, split, strict=True))
    return tmp_path


# -- the front door -------------------------------------------------------------------------------


def test_the_front_page_names_every_command_and_where_to_begin(cli: Cli) -> None:
    done = cli("--help")
    assert done.code == 0
    assert "Usage: samekind" in done.out
    assert all(command in done.out for command in COMMANDS)
    assert "samekind ask tiles" in done.out


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself_in_plain_words(cli: Cli, command: str) -> None:
    done = cli(command, "--help")
    assert done.code == 0
    for word in ("oracle", "query", "must-link", "cannot-link"):
        assert word not in done.out.lower()


def test_the_version_is_printed(cli: Cli) -> None:
    assert cli("--version").out == f"samekind {__version__}\n"


def test_list_shows_everything_that_can_be_named(cli: Cli) -> None:
    shelves = json.loads(cli("list", "--json").out)
    assert set(shelves) == {"strategies", "methods", "encoders", "sets", "paths"}
    assert set(shelves["strategies"]) == set(registered("strategy"))
    assert set(shelves["methods"]) == set(registered("method"))
    assert set(shelves["sets"]) == set(SETS)
    assert all(line for members in shelves.values() for line in members.values())
    shown = cli("list").out
    assert all(name in shown for members in shelves.values() for name in members)


def test_list_describes_one_method_or_strategy(cli: Cli) -> None:
    shown = cli("list", "--method", "pcl").out
    assert "Strategy: pcl, PCL's own." in shown and "AAAI 2025" in shown
    assert re.search(r"profile +paper.* paper ", shown) and "--with NAME=VALUE" in shown
    found = json.loads(cli("list", "--method", "pcl", "--json").out)
    profile = next(each for each in found["parameters"] if each["name"] == "profile")
    assert profile["type"] == "choice" and "paper" in profile["choices"]
    assert profile["default"] == "paper" and profile["line"].startswith("paper trains")
    assert "It has no parameters." in cli("list", "--strategy", "cobras").out
    assert "epsilon" in cli("list", "--strategy", "pcl").out
    assert cli("list", "--method", "pcll").code == 5
    assert "Omit the others" in cli("list", "--method", "pcl", "--strategy", "pcl").err


def test_help_is_given_without_loading_anything_heavy() -> None:
    code = (
        "import sys; sys.argv = ['samekind', '--help']\n"
        "from samekind.cli.main import main\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "print(sorted({'torch', 'sklearn', 'numpy', 'sqlalchemy'} & set(sys.modules)))"
    )
    environment = {**os.environ, "PYTHONPATH": ":".join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment
    )
    assert done.stdout.splitlines()[-1] == "[]", done.stderr


# -- simulate -------------------------------------------------------------------------------------


def test_simulate_prints_the_agreed_json(cli: Cli, labelled: Path) -> None:
    done = cli(
        "simulate", labelled / "things.npz", "--orientation", "side", "--questions", 12,
        "--noise", 0.1, "--seed", 3, "--json",
    )  # fmt: skip
    assert done.code == 0
    result = json.loads(done.out)
    expected = {
        "set": "things", "orientation": "side", "method": "live", "strategy": "live",
        "seed": 3, "noise": 0.1,
    }  # fmt: skip
    assert {key: result[key] for key in expected} == expected
    assert [row["questions"] for row in result["curve"]] == [0, 5, 10, 12]
    for row in result["curve"]:
        assert {"questions", "acc", "nmi", "ari", "fm", "heldout_acc"} <= set(row)
        assert 0 <= row["heldout_acc"] <= 1
    for key in ("ask_seconds", "tell_seconds"):
        assert result[key]["p50"] <= result[key]["p95"]
    assert result["peak_memory_mb"] > 0


def test_simulate_asks_the_questions_of_the_method_and_takes_its_parameters(
    cli: Cli, labelled: Path
) -> None:
    order = ("simulate", labelled / "things.npz", "--questions", 4, "--method", "pckmeans")
    done = cli(*order, "--with", "n_init=2", "--with", "w=none", "--json")
    assert done.err == "Strategy: minmax, PCKMeans's own.\n"
    result = json.loads(done.out)
    assert result["strategy"] == "minmax"
    assert result["parameters"] == {"n_init": 2, "w": None}
    assert result["learner"] == "pckmeans"
    assert (
        "pckmeans (n_init=2) + random"
        in cli(*order, "--strategy", "random", "--with", "n_init=2").out
    )
    wrong = cli(*order, "--with", "n_inits=2")
    assert wrong.code == 2 and "'n_init'" in wrong.err and "max_iter" in wrong.err
    assert "a whole number, got 'many'" in cli(*order, "--with", "n_init=many").err


def test_without_held_out_items_their_score_is_null(cli: Cli, tmp_path: Path) -> None:
    X, kinds = clouds(40)
    np.savez(tmp_path / "all.npz", X=X, kind=kinds)
    result = json.loads(cli("simulate", tmp_path / "all.npz", "--questions", 5, "--json").out)
    assert result["orientation"] == "kind"
    assert [row["heldout_acc"] for row in result["curve"]] == [None, None]
    assert "heldout_acc" not in cli("simulate", tmp_path / "all.npz", "--questions", 5).out


@pytest.mark.parametrize("name", ["things.npz", "things.csv"])
@pytest.mark.parametrize(
    ("options", "title"),
    [
        (["--labels", "side"], "side"),
        (["--orientation", "side"], "side"),
        (["--labels", "corner", "--orientation", "where it lies"], "where it lies"),
    ],
)
def test_a_label_column_is_named_in_either_way(
    cli: Cli, labelled: Path, name: str, options: list[str], title: str
) -> None:
    done = cli("simulate", labelled / name, *options, "--questions", 5, "--json")
    assert done.code == 0, done.err
    result = json.loads(done.out)
    assert result["orientation"] == title
    assert result["items"] == 48


def test_a_parquet_table_needs_only_the_orientation(cli: Cli, labelled: Path) -> None:
    arrow = pytest.importorskip("pyarrow")
    import pyarrow.parquet as parquet

    with np.load(labelled / "things.npz") as things:
        columns = {f"x{i}": things["X"][:, i] for i in range(6)}
        columns |= {name: things[name] for name in ("side", "split")}
    parquet.write_table(arrow.table(columns), labelled / "things.parquet")
    done = cli(
        "simulate", labelled / "things.parquet", "--orientation", "side", "--questions", 5, "--json"
    )
    assert done.code == 0, done.err
    assert json.loads(done.out)["curve"][-1]["heldout_acc"] is not None


def test_a_map_makes_an_orientation_out_of_labels(cli: Cli, labelled: Path) -> None:
    file = labelled / "diagonal.json"
    file.write_text('{"0": "a", "3": "a", "1": "b", "2": "b"}')
    base = ("simulate", labelled / "things.npz", "--labels", "corner", "--questions", 0, "--json")
    plain, mapped = json.loads(cli(*base).out), json.loads(cli(*base, "--map", file).out)
    assert mapped["map"] == "diagonal.json"
    assert mapped["curve"][0]["acc"] != plain["curve"][0]["acc"]


def test_the_same_seed_gives_the_same_curve(cli: Cli, labelled: Path) -> None:
    base = ("simulate", labelled / "things.npz", "--labels", "side", "--questions", 8, "--json")
    one, again = json.loads(cli(*base).out), json.loads(cli(*base).out)
    assert one["curve"] == again["curve"]


# -- ask, export, predict -------------------------------------------------------------------------


def test_a_path_is_enough_and_the_person_comes_back(cli: Cli, table: Path) -> None:
    first = cli("ask", table, typed="0\n1\nq\n")
    assert first.code == 0
    assert "2 answers are saved in" in first.out
    assert f"samekind ask {table}" in first.out
    second = cli("ask", table, typed="u\n")
    assert "Question 3" in second.out
    assert "3 answers are saved in" in second.out


def test_questions_end_when_enough_were_answered(cli: Cli, table: Path) -> None:
    done = cli("ask", table, "--questions", 2, typed="0\nu\n1\n1\n")
    assert "2 answers are saved" in done.out
    assert "no more questions" not in done.out


def test_the_end_of_the_questions_is_told(cli: Cli, tmp_path: Path) -> None:
    np.save(tmp_path / "two.npy", np.array([[0.0, 1.0], [5.0, 1.0]]))
    done = cli("ask", tmp_path / "two.npy", "--strategy", "random", typed="n\nn\nn\n")
    assert "There are no more questions worth asking." in done.out
    assert "1 answer is saved" in done.out


def test_orientations_are_kept_apart_and_repeated_in_the_advice(cli: Cli, table: Path) -> None:
    done = cli("ask", table, "--orientation", "by size", "--groups", 2, typed="0\nq\n")
    assert f"samekind export {table} --orientation 'by size' groups.csv" in done.out
    assert "0 answers are saved" in cli("ask", table, typed="q\n").out


def test_a_seed_is_kept_in_the_ledger(cli: Cli, table: Path, ledger: Path) -> None:
    cli("ask", table, "--seed", 7, "--ledger", ledger, typed="0\nq\n")
    cli("ask", table, "--ledger", ledger, typed="q\n")
    cli("export", table, table.parent / "out.csv", "--ledger", ledger)
    opened = [e.data["seed"] for e in open_store(ledger).read("main") if e.kind == "opened"]
    assert opened == [7]


def test_contradictions_are_told_and_kept(cli: Cli, table: Path, ledger: Path) -> None:
    cli("ask", table, "--strategy", "random", "--ledger", ledger, typed="q\n")
    store = open_store(ledger)
    pairs = [("row-0", "row-1"), ("row-1", "row-2"), ("row-0", "row-2")]
    questions = [{"kind": "same-pair", "a": a, "b": b} for a, b in pairs]
    store.append("main", Event("proposed", {"snapshot": 0, "questions": questions}))
    for number, choice in ((2, "same"), (3, "same"), (4, "different")):
        store.append(
            "main", Event("told", {"number": number, "choice": choice, "by": "two people"})
        )
    done = cli("ask", table, "--strategy", "random", "--ledger", ledger, typed="q\n")
    assert done.code == 0
    assert "Answers 2 and 3 and 4 contradict each other. Answer 4 was set aside" in done.out
    assert "3 answers are saved" in done.out


def test_groups_go_home_as_folders_and_come_back(cli: Cli, tmp_path: Path) -> None:
    photos = tmp_path / "photos"
    photos.mkdir()
    for k in range(8):
        Image.new("RGB", (8, 8), (30 * k, 0, 255 * (k % 2))).save(photos / f"{k}.png")
    pixels = ("--encoder", "pixels")
    cli("ask", photos, *pixels, "--strategy", "random", typed="y\nn\nq\n")
    sorted_photos = tmp_path / "sorted"
    plan = cli("export", photos, sorted_photos, *pixels)
    assert "Nothing was written. Add --yes to write it." in plan.out
    assert not sorted_photos.exists()
    assert cli("export", photos, sorted_photos, *pixels, "--yes").code == 0
    assert len(list(sorted_photos.rglob("*.png"))) == 8
    undone = cli("export", photos, sorted_photos, "--undo")
    assert "8 files removed" in undone.out
    assert not sorted_photos.exists()
    assert len(list(photos.iterdir())) == 8
    beside = cli("export", photos, photos, *pixels, "--format", "xmp", "--yes")
    assert (
        "8 files created" in beside.out and "samekind/main/" in (photos / "3.png.xmp").read_text()
    )
    assert "8 files removed" in cli("export", photos, photos, "--undo").out
    assert len(list(photos.iterdir())) == 8


def test_tables_are_written_by_suffix(cli: Cli, table: Path, tmp_path: Path) -> None:
    cli("ask", table, typed="0\n1\nq\n")
    for name in ("a.csv", "a.json"):
        done = cli("export", table, tmp_path / name, "--yes")
        assert done.code == 0 and (tmp_path / name).stat().st_size
    cli("cluster", table, "--groups", 3, "--out", tmp_path / "b.csv")
    with (tmp_path / "b.csv").open() as file:
        assert len(list(csv.DictReader(file))) == 40


def test_cluster_needs_no_answers_and_no_ledger(cli: Cli, table: Path, tmp_path: Path) -> None:
    done = cli("cluster", table, "--groups", 3)
    assert "clouds: 3 groups" in done.out
    assert not (tmp_path / "home" / "sessions").exists()


@pytest.mark.parametrize("count", [1, 5])
def test_other_items_are_placed(cli: Cli, table: Path, tmp_path: Path, count: int) -> None:
    cli("ask", table, typed="0\n0\n1\nq\n")
    np.save(tmp_path / "new.npy", clouds(40)[0][:count])
    done = cli("predict", table, tmp_path / "new.npy")
    assert done.code == 0, done.err
    lines = [line.split("\t") for line in done.out.splitlines()]
    assert len(lines) == count
    assert all(name == f"Group {number}" for _, number, name in lines)
    done = cli("predict", table, tmp_path / "new.npy", "--out", tmp_path / "new.csv")
    assert done.code == 0 and len((tmp_path / "new.csv").read_text().splitlines()) == count + 1


# -- a strategy of one's own ----------------------------------------------------------------------


def test_the_strategy_of_the_guide_works(
    cli: Cli, table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    guide = (DOCS / "how-to" / "write-your-own-strategy.md").read_text()
    code = re.search(r"```python\n(.*?)```", guide, re.DOTALL)
    assert code is not None
    (tmp_path / "closest.py").write_text(code.group(1))
    monkeypatch.syspath_prepend(tmp_path)
    done = cli("ask", table, "--strategy", "closest:Closest", typed="y\nn\nq\n")
    assert done.code == 0, done.err
    assert "2 answers are saved" in done.out

    from closest import Closest  # type: ignore[import-not-found]

    from samekind.testing import check_strategy

    check_strategy(Closest())


# -- the documentation ----------------------------------------------------------------------------


def test_every_page_is_in_the_table_of_contents_and_every_link_leads_somewhere() -> None:
    contents = (DOCS.parent / "mkdocs.yml").read_text()
    for page in [*DOCS.glob("*.md"), *DOCS.glob("how-to/*.md"), *DOCS.glob("explanation/*.md")]:
        assert page.relative_to(DOCS).as_posix() in contents
        for link in re.findall(r"\]\(([^)#:]+\.md)", page.read_text()):
            assert (page.parent / link).exists(), (page, link)


def test_what_was_chosen_once_is_remembered_by_the_ledger(cli: Cli, table: Path) -> None:
    chosen = ("--groups", 3, "--method", "kmeans", "--strategy", "random")
    assert cli("ask", table, *chosen, typed="y\nn\nq\n").code == 0
    again = cli("ask", table, typed="q\n")
    assert again.code == 0 and "Group 3" in again.out
    assert cli("export", table, table.parent / "out.csv", "--yes").code == 0
    groups = {row["group"] for row in csv.DictReader((table.parent / "out.csv").open())}
    assert len(groups) == 3
    other = cli("ask", table, "--groups", 2, typed="q\n")
    assert "clouds: 2 groups" in other.out


def test_parameters_of_the_method_are_given_to_every_door(cli: Cli, table: Path) -> None:
    chosen = ("--method", "kmeans", "--groups", 3, "--with", "n_init=1", "--with", "max_iter=1")
    first = cli("ask", table, *chosen, typed="y\nq\n")
    assert first.code == 0 and "Strategy: live, the default." in first.err
    (session,) = open_store(next((table.parent / "home").rglob("*.samekind"))).sessions()
    assert session == "main"
    assert cli("cluster", table, *chosen).code == 0
    assert "no parameter 'init'" in cli("cluster", table, "--with", "init=1").err
    assert "no parameter 'init'" in cli("ask", table, "--with", "init=1").err
    assert "no parameter 'init'" in cli("serve", table, "--port", 0, "--with", "init=1").err
