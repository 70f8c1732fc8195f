"""The recipes run from end to end, here on a handful of drawn pictures."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from recipes_here import RECIPES, run_here
from samekind.errors import InputError
from samekind.reports.plots import Snapshots
from samekind.simulation.rows import read_rows
from samekind.training.selflearn import LearntNetwork

TINY = [
    "--size",
    "8",
    "--backbone",
    "resnet18",
    "--channels",
    "4",
    "--batch-size",
    "20",
    "--seed",
    "1",
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Sixty pictures in the binary form of CIFAR-10, one colour per class."""
    place = tmp_path_factory.mktemp("cifar")
    rng = np.random.default_rng(0)
    colours = rng.integers(0, 200, (10, 3, 1, 1))
    for number in (1, 2, 3, 4, 5, 0):
        label = np.arange(10)
        images = np.clip(colours[label] + rng.integers(0, 50, (10, 3, 32, 32)), 0, 255)
        rows = np.concatenate([label[:, None], images.reshape(10, -1)], axis=1).astype(np.uint8)
        rows.tofile(place / (f"data_batch_{number}.bin" if number else "test_batch.bin"))
    return place


def run_recipe(recipe: str, folder: Path, out: Path, *options: str) -> dict[str, Any]:
    run_here(recipe, "--data", str(folder), "--json", str(out), *TINY, *options)
    result: dict[str, Any] = json.loads(out.read_text())
    return result


def test_a_recipe_is_a_script(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "result.json"
    words = ["--data", str(folder), "--json", str(out), *TINY, "--epochs", "2", "--questions", "4"]
    command = [sys.executable, str(RECIPES / "pcl.py"), *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and json.loads(out.read_text())["questions"] == 4, done.stderr


@pytest.mark.parametrize(
    ("recipe", "options", "key", "answers"),
    [
        ("pcl", ["--epochs", "14", "--questions", "6", "--score-every", "1"], "test_acc", 6),
        ("occ", ["--epochs", "4", "--questions", "8"], "acc", 8),
        ("pcl", ["--profile", "fast", "--questions", "30", "--seconds", "2"], "test_acc", 30),
        ("idc", ["--questions", "30", "--first-epochs", "20", "--unlabelled", "30"], "acc", 30),
    ],
)
def test_a_recipe_runs_and_writes_its_result(
    recipe: str, options: list[str], key: str, answers: int, folder: Path, tmp_path: Path
) -> None:
    result = run_recipe(recipe, folder, tmp_path / "result.json", *options)
    assert result["questions"] == answers and 0.5 <= result[key] <= 1
    assert result["method"] == recipe
    assert result["curve"][0]["questions"] == 0 and len(result["curve"]) >= 2
    assert recipe == "idc" or 0 < result["same"] < 1
    assert result["machine"]["cores"] and result["versions"]["torch"]
    assert str(tmp_path) not in json.dumps(result) and str(folder) not in json.dumps(result)


def events(ledger: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in ledger.read_text().splitlines()]


def whys(ledger: Path) -> list[str]:
    """The reasons of the questions, in the order in which they were proposed."""
    proposals = [event["data"] for event in events(ledger) if event["kind"] == "proposed"]
    return [question["why"] for data in proposals for question in data["questions"]]


def test_pcl_repaired_asks_in_rounds_and_learns_from_pairs(folder: Path, tmp_path: Path) -> None:
    plan = ("--profile", "repaired", "--questions", "30", "--rounds", "10", "30")
    few = ("--first-epochs", "5", "--tune-from", "30", "--tune-seconds", ".5")
    result = run_recipe("pcl", folder, tmp_path / "result.json", *plan, *few)
    assert (result["learner"], result["profile"]) == ("PCL, repaired", "repaired")
    assert [row["questions"] for row in result["curve"]] == [0, 10, 30]
    assert result["curve"][0]["epochs"] == 0 < result["epochs"]


@pytest.mark.parametrize(
    ("recipe", "strategy", "epochs", "why"),
    [
        ("pcl", "pcl-reference", "12", "It is unclear how similar these two are."),
        ("occ", "occ-entropy", "3", "It is unclear where one of these two belongs."),
    ],
)
def test_a_recipe_asks_by_the_strategy_that_was_named(
    recipe: str, strategy: str, epochs: str, why: str, folder: Path, tmp_path: Path
) -> None:
    ledger = tmp_path / "run.jsonl"
    words = ("--strategy", strategy, "--questions", "4", "--ledger", str(ledger))
    result = run_recipe(recipe, folder, tmp_path / "result.json", *words, "--epochs", epochs)
    assert result["strategy"] == strategy and result["questions"] == 4
    assert set(whys(ledger)) == {why}
    made = events(ledger)[0]["data"]["settings"]
    assert made["strategy"] == strategy
    views = made["parameters"].get("keep_views", False)
    assert views == (strategy == "pcl-reference"), "only the program's rule compares two views"


def test_occ_asks_everything_before_the_first_epoch(folder: Path, tmp_path: Path) -> None:
    ledger = tmp_path / "run.jsonl"
    plan = ("--strategy", "random", "--first-epochs", "0", "--per-epoch", "10", "--epochs", "2")
    words = (*plan, "--questions", "10", "--score-every", "1", "--ledger", str(ledger))
    result = run_recipe("occ", folder, tmp_path / "result.json", *words, "--mean", "pairs")
    assert result["learner"] == "OCC, mean over pairs"
    found = [(row["questions"], row["epochs"]) for row in result["curve"]]
    assert found == [(0, 0), (10, 1), (10, 2)]
    kinds = [event["kind"] for event in events(ledger) if event["kind"] != "proposed"]
    assert kinds[:13] == ["opened", "refitted", *["told"] * 10, "refitted"]


def test_pcl_can_begin_with_random_questions_and_extend_its_answers(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ledger, out = tmp_path / "run.jsonl", tmp_path / "result.json"
    guessing = ("--extension", ".5", "--certain", ".9999")
    plan = ("--questions", "6", "--epochs", "14", "--random-first", "3", "--ledger", str(ledger))
    result = run_recipe("pcl", folder, out, *plan, *guessing)
    at_random = [reason == "Two items picked at random." for reason in whys(ledger)]
    assert at_random == [True] * 3 + [False] * 3
    assert (result["random_first"], result["extension"], result["certain"]) == (3, 0.5, 0.9999)
    made = events(ledger)[0]["data"]["settings"]
    assert made["strategy_parameters"] == {"random_first": 3}
    assert made["parameters"]["certain"] == 0.9999
    odd = {("--certain", ".9"): "--extension", ("--random-first", "3"): "got csd"}
    for words, said in odd.items():
        with pytest.raises(SystemExit):
            run_recipe("occ", folder, out, *words)
        assert said in capsys.readouterr().err


def test_an_interrupted_run_goes_on_with_its_answers_and_its_network(
    folder: Path, tmp_path: Path
) -> None:
    out, weights = tmp_path / "result.json", str(tmp_path / "run.safetensors")
    kept = ("--ledger", str(tmp_path / "run.jsonl"), "--save-training", weights)
    plan = ("--epochs", "16", "--questions", "6", "--score-every", "2")
    first = run_recipe("pcl", folder, out, *plan, *kept, "--seconds", "0")
    assert first["epochs"] == 13 and first["questions"] == 6 and first["epochs_planned"] == 16
    second = run_recipe("pcl", folder, out, *plan, *kept, "--checkpoint", weights)
    assert second["curve"][: len(first["curve"])] == first["curve"]
    assert [row["epochs"] for row in second["curve"][len(first["curve"]) :]] == [15, 16]
    assert second["learner"] == "PCL" and second["seconds"] > first["seconds"]


def test_features_learnt_once_serve_another_recipe(folder: Path, tmp_path: Path) -> None:
    weights, fast = tmp_path / "features.safetensors", ("--profile", "fast")
    learning = ("--questions", "0", "--seconds", ".5", "--save-features", str(weights))
    first = run_recipe("pcl", folder, tmp_path / "first.json", *fast, *learning)
    again = ("--questions", "20", "--start", str(weights), "--tune-from", "99")
    second = run_recipe("occ", folder, tmp_path / "second.json", *fast, *again)
    assert first["questions"] == 0 and second["questions"] == 20
    assert weights.stat().st_size > 1000


@pytest.fixture(scope="module")
def weights(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Features that IDC's recipe learnt without a question."""
    place = tmp_path_factory.mktemp("weights")
    file = place / "features.safetensors"
    learning = ("--first-epochs", "10", "--questions", "0", "--save-features", str(file))
    run_recipe("idc", folder, place / "first.json", *learning)
    return file


@pytest.mark.parametrize("method", ["idc", "fixmatch", "corrected"])
def test_what_idc_is_compared_with_begins_from_the_same_features(
    method: str, folder: Path, weights: Path, tmp_path: Path
) -> None:
    again = ("--method", method, "--questions", "20", "--start", str(weights), "--epochs", "2")
    doubtful = ("--noise", ".05", "--unsure", ".1", "--unlabelled", "30")
    result = run_recipe("idc", folder, tmp_path / "second.json", *again, *doubtful)
    assert result["method"] == method and result["curve"][0]["questions"] == 0
    assert {"acc", "nmi", "ari", "unasked_acc"} <= set(result["curve"][-1])


GRID = ("--grid", "all", "--step", "3", "--epochs", "1", "--unlabelled", "20")


def grid(folder: Path, out: Path, weights: Path, *options: str) -> list[dict[str, Any]]:
    words = ["--data", str(folder), "--json", str(out), "--start", str(weights), "--size", "8"]
    run_here("idc", *words, *GRID, *options)
    rows: list[dict[str, Any]] = json.loads(out.read_text()) if out.exists() else []
    return rows


def test_one_command_trains_all_of_idcs_tables_and_goes_on_where_it_stopped(
    folder: Path, weights: Path, tmp_path: Path
) -> None:
    out = tmp_path / "grid.json"
    assert grid(folder, out, weights, "--limit", "0") == [], "there was no time at all"
    one = ("--people", "matched", "--commit", "abc1234")
    few = grid(folder, out, weights, *one, "--grid", "table3")
    assert [(row["strategy"], len(row["curve"])) for row in few] == [
        ("value", 2), ("value-hard", 2), ("value-hard-rep", 2), ("value-random", 2),
    ]  # fmt: skip
    rows = grid(folder, out, weights, *one)
    assert rows[1:4] == few[1:4], "what is there is not trained again"
    value = rows[0]
    assert [point["questions"] for point in value["curve"]] == [0, 3, 6, 9, 12, 15, 18, 21]
    assert value["curve"][5] == few[0]["curve"][1]
    assert sum(value["choices"].values()) == 15
    shown = {row["strategy_with"]["shown"] for row in rows}
    assert shown == {1, 2, 3, 4, 5, 6, 7}
    losses = {"+".join(row["parameters"]["losses"]): row["learner"] for row in rows}
    assert len(losses) == 7 and losses["pos+neg+reg"] == "IDC"
    assert losses["pos"] == "IDC without neg and reg"
    for row in rows:
        assert row["person"] == "matched" and row["commit"] == "abc1234" and row["machine"]
        assert {"acc", "network_acc", "unasked_acc", "seconds"} <= set(row["curve"][-1])
        assert row["protocol"]["start"] == "features" and row["groups_given"] == 10
    assert grid(folder, out, weights, *one) == rows
    both = grid(folder, out, weights, "--grid", "table2", "--profiles", "paper", "repaired",
                "--noise", ".1", "--unsure", ".1", "--seeds", "0", "1")  # fmt: skip
    assert both[: len(rows)] == rows and len(both) - len(rows) == 8
    assert {row["learner"] for row in both[len(rows) :]} == {"IDC, as printed", "IDC, repaired"}
    people = {row["person"] for row in both[len(rows) :]}
    assert people == {"wrong-10+unsure-10", "matched+wrong-10+unsure-10"}


@pytest.fixture(scope="module")
def features(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A network of the recipe of self-supervised learning, with vectors beside it."""
    file = tmp_path_factory.mktemp("features") / "features.safetensors"
    vectors = ("--vectors", str(file.with_suffix(".npz")))
    learnt = run_recipe(
        "learn", folder, file.with_suffix(".json"), "--epochs", "20", "--out", str(file), *vectors
    )
    assert learnt["epochs"] == 20 and learnt["acc"] > 0.3
    return file


def test_learnt_features_are_asked_about_live_and_then_polished(
    features: Path, folder: Path, tmp_path: Path
) -> None:
    answers = tmp_path / "answers.json"
    common = ("--start", str(features), "--questions", "30", "--answers", str(answers))
    first = run_recipe(
        "polish", folder, tmp_path / "a.json", *common, "--method", "fixmatch", "--epochs", "2"
    )
    other = ("--method", "idc", "--epochs", "2")
    again = run_recipe("polish", folder, tmp_path / "b.json", *common, *other)
    whole = "FixMatch, from learnt features"
    assert [row["learner"] for row in first["curve"]] == ["live", "live", whole]
    assert [row["learner"] for row in again["curve"]] == ["IDC, repaired"]  # the same answers
    third = run_recipe("polish", folder, tmp_path / "c.json", *common, "--epochs", "3")
    assert [row["learner"] for row in third["curve"]] == ["polish"] and third["acc"] > 0.3
    assert first["questions"] == again["questions"] == 30


def test_polishing_at_several_budgets_is_one_command_that_goes_on_where_it_was(
    features: Path, folder: Path, tmp_path: Path
) -> None:
    rows, answers = tmp_path / "rows.jsonl", tmp_path / "answers.json"
    npz = features.with_suffix(".npz")
    grid = ("--budgets", "10", "20", "--noises", "0", ".2", "--answers", str(answers))
    vectors = ("--vectors", str(npz), "--data", str(folder), "--rows", str(rows))
    run_here("live", *vectors, *grid, "--seeds", "1")
    asked = read_rows(rows).rows
    assert [row["person"] for row in asked] == ["perfect", "wrong-20"]
    for row in asked:
        assert [point["questions"] for point in row["curve"]] == [0, 10, 20]
        assert (row["learner"], row["groups_given"], row["encoder"]) == ("live", None, npz.stem)
        assert row["commit"] and row["machine"]["cores"] and "live.py" in row["command"]
    run_here("live", *vectors, *grid, "--seeds", "1")
    assert len(read_rows(rows).rows) == 2, "nothing is asked twice"
    whole = ("--start", str(features), "--rows", str(rows), *grid, "--seeds", "1", "--epochs", "1")
    for _ in range(2):
        run_here("polish", "--data", str(folder), *TINY, *whole)
    trained = read_rows(rows).rows[2:]
    assert [(row["learner"], row["noise"], row["budget"]) for row in trained] == [
        ("polish", 0.0, 10), ("polish", 0.0, 20), ("polish", 0.2, 10), ("polish", 0.2, 20),
    ]  # fmt: skip
    for row in trained:
        (point,) = row["curve"]
        assert {"acc", "unasked_acc", "network_acc", "groups"} <= set(point)
        assert row["parameters"]["start"] == features.name and row["groups_given"] is None
    assert str(tmp_path) not in rows.read_text()


def test_live_asks_about_vectors_of_the_package_and_stops_when_its_time_is_over(
    tmp_path: Path,
) -> None:
    rows = tmp_path / "rows.jsonl"
    words = ("--vectors", "cifar10-frozen", "--orientation", "class", "--items", "300")
    grid = ("--budgets", "10", "--seeds", "0", "--rows", str(rows))
    said = run_here("live", *words, *grid, "--limit", "0")
    assert "The time is over" in said and not rows.exists()
    run_here("live", *words, *grid)
    found = read_rows(rows).rows
    assert [row["noise"] for row in found] == [0.0, 0.05]
    assert found[0]["set"] == "cifar10-frozen" and found[0]["kinds"] == 10


def test_features_of_another_set_are_refused_in_words(
    features: Path, folder: Path, tmp_path: Path
) -> None:
    fewer = tmp_path / "fewer.npz"
    np.savez(fewer, X=np.ones((7, 3)))
    with pytest.raises(InputError, match=r"cifar10 has items, 60, got 7\. Name the set"):
        run_here("live", "--vectors", str(fewer), "--data", str(folder))
    with pytest.raises(InputError, match=r"Give --vectors or --start"):
        run_here("live")
    earlier = tmp_path / "answers.json"
    earlier.write_text('{"links": [[0], [1], [true]], "answers": 1}')
    vectors = ("--vectors", str(features.with_suffix(".npz")), "--data", str(folder))
    with pytest.raises(InputError, match=r"an earlier form that holds one\. Name another"):
        run_here("live", *vectors, "--answers", str(earlier))


def test_features_are_learnt_in_pieces_with_one_curve(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    features, vectors = tmp_path / "features.safetensors", tmp_path / "vectors.npz"
    plan = ("--method", "propos", "--epochs", "12", "--score-every", "4", "--resample")
    kept = ("--save-training", str(tmp_path / "run.safetensors"), "--out", str(features))
    with monkeypatch.context() as clock:
        seconds = itertools.count()
        clock.setattr(time, "monotonic", lambda: next(seconds))  # each look takes a second
        stop = ("--seconds", "30", "--compact")
        first = run_recipe("learn", folder, tmp_path / "a.json", *plan, *kept, *stop)
    assert 4 <= first["epochs"] < 12 and first["epochs_planned"] == 12
    more = ("--vectors", str(vectors), "--compact")
    second = run_recipe("learn", folder, tmp_path / "b.json", *plan, *kept, *more)
    assert second["curve"][: len(first["curve"])] == first["curve"]
    assert {4, 8, 12} <= {row["epochs"] for row in second["curve"]} and second["epochs"] == 12
    assert all({"nearest_acc", "acc", "own_acc"} <= set(row) for row in second["curve"])
    here, there = second["pieces"]
    assert here["to"] == there["from"] == first["epochs"] and there["to"] == 12
    assert there["machine"]["cores"] and "propos" in there["command"] and there["commit"]
    assert LearntNetwork.load(features, device="cpu").facts["method"] == "propos"
    assert np.load(vectors)["q"].dtype == np.int8
    again = run_recipe("learn", folder, tmp_path / "c.json", *plan, *kept)  # nothing is left to do
    assert again["curve"] == second["curve"]
    lost = ("--resume", str(tmp_path / "lost.safetensors"))
    with pytest.raises(InputError, match="cannot be read"):  # not silently begun anew
        run_recipe("learn", folder, tmp_path / "d.json", *plan, *lost)


@pytest.mark.parametrize("recipe", ["pcl", "occ", "idc"])
def test_a_recipe_leaves_curves_and_what_a_picture_needs(
    recipe: str, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    drawing, log = tmp_path / "run.npz", tmp_path / "log"
    extra = ["--snapshots", str(drawing), "--questions", "6", "--first-epochs", "1"]
    extra += ["--epochs", "60" if recipe == "idc" else "14"]
    logged = find_spec("tensorboard") is not None
    extra += ["--tensorboard", str(log)] if logged else []
    run_recipe(recipe, folder, tmp_path / "result.json", *extra)
    assert [m.answers for m in Snapshots.load(drawing).moments] == [0, 6]
    assert not logged or list(log.iterdir())
    with pytest.raises(SystemExit) as stopped:
        run_here(recipe, *extra)
    assert stopped.value.code == 2 and "exists already" in capsys.readouterr().err
