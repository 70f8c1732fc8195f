"""Honest names: each line of the results is named after what learnt, and stands under no other."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from benchmarks.results import page as results_page
from benchmarks.results.gpu import recipe_rows, settled
from benchmarks.results.labels import is_by, label, learner_label, questions_by, stands_in
from benchmarks.results.own import NOT_YET, epoch_table, epochs_table, own_table, repaired_table
from benchmarks.results.rows import matching, place, read, scores
from benchmarks.results.suites import cost_table, curves_table
from benchmarks.results.tables import OTHERS, bound, published_table
from samekind.reports.published import titles
from samekind.simulation.rows import FAST_LEARNER, upgraded

OURS = tomllib.loads((results_page.PARTS / "ours.toml").read_text())
CURVES = tomllib.loads((results_page.PARTS / "curves.toml").read_text())
KEPT = read()
ROWS = [*KEPT, *recipe_rows(kept=KEPT)]
TABLES = [table for table in titles() if table in OURS["difference"]]
PAPERS = ("PCL", "OCC", "IDC", "CC", "DCC", "SDEC", "FixMatch")


def fast_row(**more: Any) -> dict[str, Any]:
    """A finished run of PCL's profile `fast`, as it was kept before rows named their learner."""
    about = {
        "run": "r", "suite": "pcl-fast", "set": "cifar10-2", "orientation": "personalized",
        "system": "pcl", "method": "pcl", "strategy": "pcl", "parameters": {"profile": "fast"},
        "groups_given": 2, "person": "perfect", "noise": 0.0, "unsure": 0.0, "seed": 0,
        "file": "gpu-earlier.jsonl", "complete": True, "commit": "abc", "protocol": {},
        "curve": [{"questions": 10000, "heldout_acc": 0.957}], "questions": 10000,
    }  # fmt: skip
    return upgraded({**about, **more})


def recipe(folder: Path, name: str = "pcl-new.json", **more: Any) -> list[Any]:
    """The rows of one file as `recipes/pcl.py --json` writes it: 30 scores, every tenth epoch."""
    curve = [
        {"questions": min(10_000, 1000 * k), "epochs": 10 * k, "seconds": 60.0 * k,
         "test_acc": 0.5 + 0.01 * k, "test_nmi": 0.1, "train_acc": 0.6}
        for k in range(1, 31)
    ]  # fmt: skip
    about = {
        "method": "pcl", "profile": "paper", "learner": "PCL", "strategy": "pcl", "seed": 0,
        "set": "cifar10-2", "orientation": "personalized", "epochs_planned": 501, "epochs": 300,
        "attention": "auto", "commit": "abc", "curve": curve, "questions": 10_000,
    }  # fmt: skip
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(json.dumps({**about, **more}), encoding="utf-8")
    return recipe_rows(folder)


@pytest.mark.parametrize("table", TABLES)
def test_each_line_is_called_what_its_rows_say_learnt(table: str) -> None:
    lines = bound(table, OURS, ROWS)
    for line in lines:
        learners = {row["learner"] for row in line.rows}
        assert len(learners) == 1, line.label
        (learner,) = learners
        assert line.label.startswith((learner, f"`{learner}`")), (line.label, learner)
        assert line.beside is None or is_by(learner, line.beside, table)
        for row in line.rows:
            assert not (stands_in(row) and line.label.upper().startswith(row["method"].upper()))


@pytest.mark.parametrize("table", ["pcl-2", "pcl-3", "occ-2"])
def test_fast_rows_are_below_the_table_and_under_no_paper(table: str) -> None:
    for line in bound(table, OURS, ROWS):
        if any((row.get("parameters") or {}).get("profile") == "fast" for row in line.rows):
            assert line.beside is None and line.label.startswith(FAST_LEARNER)
    under = ""
    for line in published_table(table, OURS, ROWS).splitlines():
        if line.startswith("| ") and "**here:**" not in line:
            under = line.split(" | ")[0]
        elif line.startswith("|") and FAST_LEARNER in line:
            assert under == f"| {OTHERS}"


def test_a_fast_row_cannot_be_labelled_pcl() -> None:
    with pytest.raises(SystemExit, match=r"Expected a label with {learner}, got 'PCL, `fast`'"):
        label("PCL, `fast`", [fast_row()])
    entry = {"tables": ["pcl-3"], "label": "{learner}", "beside": "PCL", "scores": "heldout_",
             "where": {"suite": "pcl-fast"}}  # fmt: skip
    with pytest.raises(SystemExit, match=r"Expected rows of 'PCL'.*got rows of SimCLR"):
        bound("pcl-3", {**OURS, "ours": [entry]}, [fast_row()])
    own = fast_row(parameters={"profile": "paper"})
    (line,) = bound("pcl-3", {**OURS, "ours": [entry]}, [own])
    assert (line.label, line.beside) == ("PCL", "PCL")


def test_every_label_of_the_binding_leaves_the_learner_to_the_rows() -> None:
    for entry in OURS["ours"]:
        named = entry["label"].replace("{learner}", "")
        assert "{learner}" in entry["label"]
        assert not re.search(rf"\b({'|'.join(PAPERS)})\b(?<!score of OCC)", named), entry["label"]


def test_two_learners_do_not_share_a_label() -> None:
    with pytest.raises(SystemExit, match="Expected rows of one learner under one label, got"):
        learner_label([fast_row(), fast_row(parameters={})])


def test_rows_of_a_file_that_stand_in_for_a_method_do_not_stand_beside_it() -> None:
    rows = [fast_row(suite="deep", file="gpu-deep.jsonl")]
    lines = bound("pcl-3", OURS, rows)
    assert [line.beside for line in lines] == [None]
    assert lines[0].label.startswith(f"{FAST_LEARNER}, questions by `pcl`")
    point = {"questions": 10, "heldout_acc": 0.6, "heldout_nmi": 0, "heldout_ari": 0, "groups": 2}
    assert f"| {FAST_LEARNER} | `pcl` |" in cost_table(
        "gpu-deep", [{**rows[0], "curve": [point], "seconds": 3.0}]
    )


def test_tables_over_answers_are_headed_by_what_learnt() -> None:
    for name in ("pcl-fast", "occ-fast"):
        assert curves_table(name, CURVES, ROWS).startswith(f"| {FAST_LEARNER}")
    assert curves_table("pcl-paper", CURVES, ROWS).startswith("| PCL:")


def test_settings_that_were_changed_belong_to_the_name() -> None:
    (row,) = matching(KEPT, {"suite": "deep-cifar10-2", "system": "pcl"})
    assert learner_label([row]) == "PCL (no attention, rate 0.0003, ResNet-18, 32 x 32 pixels)"
    (occ,) = matching(KEPT, {"suite": "deep-cifar10-2", "system": "occ"})
    assert questions_by(occ) == "`random` (`csd` in one round)"
    frozen = matching(KEPT, {"suite": "occ-tables-frozen", "system": "both"})
    assert {questions_by(row) for row in frozen} == {"`csd`"}


def test_the_page_makes_none_of_the_withdrawn_claims() -> None:
    claims = ("same loss family", "a fifth of the answers", "four times the training",
              "chose their own", "GPU time allowed", "defaults of the house")  # fmt: skip
    files = [results_page.PAGE, results_page.PAGE.parents[1] / "README.md"]
    text = " ".join(file.read_text(encoding="utf-8") for file in files)
    assert [claim for claim in claims if claim in " ".join(text.split())] == []


def test_a_training_by_epochs_is_the_mean_of_its_last_ten_scores(tmp_path: Path) -> None:
    (row,) = recipe(tmp_path)
    last = [0.5 + 0.01 * k for k in range(21, 31)]
    assert settled(row)["heldout_acc"] == pytest.approx(sum(last) / 10)
    assert scores([row], None, "heldout_acc") == scores([row], 10_000, "heldout_acc")
    assert scores([row], 3000, "heldout_acc") == [pytest.approx(0.53)]
    line = own_table("pcl", [row]).splitlines()[2]
    for text in ("CIFAR10-2 personalised | PCL |", "| 300 of 501 |", "| .800 | **.755** |",
                 ".710 to .800", "| .873 |", "`benchmarks/gpu/pcl-new.json`"):  # fmt: skip
        assert text in line
    assert epochs_table("pcl", [row]).splitlines()[2].count(".") == 9  # 10 to 300, without gaps


def test_scores_before_the_last_question_are_not_averaged_in(tmp_path: Path) -> None:
    few = [{"questions": n, "epochs": n, "test_acc": acc} for n, acc in ((5, 0.1), (9, 0.8))]
    (row,) = recipe(tmp_path, curve=[*few, {"questions": 9, "epochs": 10, "test_acc": 0.9}])
    assert settled(row)["heldout_acc"] == pytest.approx(0.85)
    assert "**.850** (2 scores)" in own_table("pcl", [row])


def test_occ_is_scored_by_the_network_alone(tmp_path: Path) -> None:
    curve = [{"questions": 50_000, "epochs": k, "acc": 0.99, "network_acc": 0.9} for k in (1, 2)]
    (row,) = recipe(tmp_path, method="occ", learner="OCC", strategy="csd", curve=curve)
    (line,) = bound("occ-2", OURS, [row])
    assert (line.beside, line.cell(("cifar10-2", "personalized"), ("acc",))) == ("OCC", ".900")
    assert "| **.900** (2 scores) |" in own_table("occ", [row]) and "| .990 |" in own_table(
        "occ", [row]
    )


def test_a_new_file_of_a_recipe_finds_its_tables_by_itself(tmp_path: Path) -> None:
    (row,) = recipe(tmp_path / "a")
    (line,) = [x for x in bound("pcl-3", OURS, [row]) if x.beside == "PCL"]
    assert line.label == "PCL, 300 epochs, pairs by `pcl`, mean of the last 10 scores"
    assert place(row) == ("cifar10-2", "personalized")
    ours = {"profile": "repaired", "learner": "PCL, repaired", "epochs": None}
    (row,) = recipe(tmp_path / "b", **ours)
    assert [x.beside for x in bound("pcl-3", OURS, [row])] == [None, None]  # at 1,000 and 10,000
    assert (
        "| PCL, repaired |" in repaired_table("pcl", [row]) and own_table("pcl", [row]) == NOT_YET
    )
    assert recipe_rows(tmp_path / "a", [{"protocol": {"from": "x/pcl-new.json"}}]) == []


def test_what_is_not_there_is_said_and_filled_in_later(tmp_path: Path) -> None:
    assert own_table("occ", []) == repaired_table("pcl", []) == epoch_table(tmp_path) == NOT_YET
    assert results_page.picture("epoch-profile", tmp_path) == "Picture: not measured yet."
    (tmp_path / "epoch-profile.png").touch()
    assert results_page.picture("epoch-profile", tmp_path).startswith("![Epoch profile](pictures/")
    for name, whole in (("after", 3.4), ("before", 6.3)):
        phases = {"whole": whole, "training": whole - 0.5}
        times = {"label": f"commit {name}", "epoch with questions, s": phases, "items": 50_000,
                 "first fit of one epoch, s": 107.2, "share of peak": 1.06 / whole}  # fmt: skip
        (tmp_path / f"epoch-{name}.json").write_text(json.dumps(times))
    assert epoch_table(tmp_path).splitlines() == [
        "| seconds per epoch | before, commit before | after, commit after |",
        "|---|---|---|",
        "| **epoch with questions** | 6.3 | 3.4 |",
        "| epoch with questions: training | 5.8 | 2.9 |",
        "| **first fit of one epoch** | 107 | 107 |",
        "| share of the card's peak | 16.8 % | 31.2 % |",
    ]
