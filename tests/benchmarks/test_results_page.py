"""The results page: it is what the rows say, and new rows find their place by themselves."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from benchmarks.results import page as results_page
from benchmarks.results.gpu import SUITE
from benchmarks.results.rows import (
    ROWS,
    matching,
    numbers,
    place,
    read,
    scores,
    short,
    spread,
)
from benchmarks.results.suites import curves_table, people_table, suite_table
from benchmarks.results.tables import OTHERS, Notes, bound, published_table
from places import ROOT
from samekind.reports.published import figures
from samekind.simulation.rows import upgraded

OURS = tomllib.loads((results_page.PARTS / "ours.toml").read_text())
KEPT = read()


def row(**more: Any) -> dict[str, Any]:
    """A finished row of a deep baseline."""
    about = {
        "run": json.dumps(more, default=str), "suite": "deep", "set": "cifar10-2",
        "orientation": "personalized", "system": "cc", "method": "cc", "strategy": None,
        "parameters": {}, "groups_given": 2, "person": "perfect", "noise": 0.0, "unsure": 0.0,
        "seed": 0, "budget": 0, "file": "gpu-deep.jsonl", "complete": True, "commit": "abc1234",
        "machine": {"gpu": "a card"}, "protocol": {}, "command": "samekind bench deep",
        "curve": [{"questions": 0, "heldout_acc": 0.6, "heldout_nmi": 0.02, "heldout_ari": 0.03}],
    }  # fmt: skip
    found = {**about, **({"method": more["system"]} if "system" in more else {}), **more}
    return upgraded(found)


def readable(table: str, rows: list[dict[str, Any]]) -> list[str]:
    """The lines of a table, with plain spaces."""
    return published_table(table, OURS, rows).replace("\N{NO-BREAK SPACE}", " ").splitlines()


def kept(folder: Path, name: str, *rows: Mapping[str, Any]) -> Path:
    text = "".join(json.dumps(one) + "\n" for one in rows)
    (folder / name).write_text(text, encoding="utf-8")
    return folder


def test_the_page_is_what_would_be_written(capsys: pytest.CaptureFixture[str]) -> None:
    assert results_page.main(["--check"]) == 0, capsys.readouterr().err


def test_a_page_that_was_changed_by_hand_is_told_with_the_line_and_the_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "results.md"
    page.write_text(results_page.page().replace(".873", ".973", 1), encoding="utf-8")
    assert results_page.main(["--check", "--out", str(page)]) == 1
    said = capsys.readouterr().err
    assert "+" in said and ".873" in said and "python -m benchmarks.results.page" in said
    assert results_page.main(["--out", str(page)]) == 0
    assert results_page.main(["--check", "--out", str(page)]) == 0


@pytest.mark.parametrize("entry", OURS["ours"], ids=lambda e: f"{e['tables'][0]}: {e['label']}")
def test_every_binding_finds_rows_and_stands_beside_a_published_method(
    entry: Mapping[str, Any],
) -> None:
    for table in entry["tables"]:
        methods = {figure.method for figure in figures(table=table)}
        assert methods and entry.get("beside", next(iter(methods))) in methods
        where = entry["where"]
        waiting = "file" in where and not (ROWS / where["file"]).is_file()
        waiting |= where.get("suite") == SUITE  # files of later runs
        only = {**OURS, "ours": [entry], "automatic": []}
        assert waiting or bound(table, only, KEPT)


def test_a_baseline_finds_the_published_method_of_its_name() -> None:
    rows = [row(), row(system="tcl"), row(system="dcgmm"), row(system="k-means")]
    lines = readable("pcl-3", rows)
    after = {line: lines[i + 1] for i, line in enumerate(lines) if line.startswith("|")}
    below = {name: next(v for k, v in after.items() if k.startswith(f"| {name} |"))
             for name in ("CC", "DC-GMM", "K-means", "PCL", "MiCE")}  # fmt: skip
    assert below["CC"].startswith(
        "| **here:** CC, 3,000 steps from scratch | 0 | yes | .600 / .020 / .030 / - |  |  | 1 seed"
    )
    assert "**here:** `dcgmm`" in below["DC-GMM"] and "**here:** `k-means`" in below["K-means"]
    others = next(v for k, v in after.items() if k.startswith(f"| {OTHERS} |"))
    assert below["PCL"].startswith(f"| {OTHERS} |")  # PCL is the last; TCL is not in that table
    assert "**here:** `tcl`" in others
    missing = next(line for line in lines if line.startswith("* Not measured here"))
    assert missing.startswith(
        "* Not measured here: MiCE, GCC, SPICE, DCC, ADC, SDEC, PCL, any method"
    )


def test_the_orientation_class_is_that_of_the_published_classes() -> None:
    scores = [{"questions": 500, "acc": 0.9, "nmi": 0.8, "ari": 0.7}]
    about = {"system": "idc", "learner": "IDC", "set": "cifar10", "orientation": "class"}
    rows = [row(**about, budget=500, curve=scores)]
    lines = readable("idc-2", rows)
    place = next(i for i, line in enumerate(lines) if line.startswith("| IDC (TCL) |"))
    assert lines[place + 1].startswith(
        "| **here:** IDC, 3,000 steps from scratch | 500 | yes | .900 / .800 / .700 |"
    )


def test_the_vectors_that_come_with_the_house_stand_for_two_published_sets() -> None:
    frozen = row(set="cifar10-frozen", file="x.jsonl")
    assert place(frozen) == ("cifar10-2", "personalized")
    assert place({**frozen, "orientation": "class"}) == ("cifar10", "default")


def test_seeds_are_averaged_and_other_settings_or_erring_people_are_not_mixed_in() -> None:
    def run(acc: float, **more: Any) -> dict[str, Any]:
        return row(curve=[{"questions": 0, "heldout_acc": acc}], acc=acc, **more)

    rows = [run(0.6), run(0.7, seed=1), run(0.9, parameters={"epochs": 9}), run(0.1, noise=0.1)]
    lines = [ours for ours in bound("pcl-3", OURS, rows) if ours.label.startswith("CC")]
    cells = sorted(line.cell(("cifar10-2", "personalized"), ("acc",)) for line in lines)
    assert [cell.replace("\N{NO-BREAK SPACE}", " ") for cell in cells] == [".650 ± .071", ".900"]
    assert lines[0].cell(("cifar100-4", "personalized"), ("acc",)) == ""


def test_what_a_row_comes_from_is_said_under_the_table() -> None:
    text = published_table("pcl-3", OURS, [row(), row(seed=1, commit="def5678")])
    note = next(line for line in text.splitlines() if line.startswith("* <sup>a</sup>"))
    for word in ("seeds 0, 1", "abc1234, def5678", "a card", "benchmarks/rows/gpu-deep.jsonl"):
        assert word in note
    doubt = next(line for line in text.splitlines() if line.startswith("* <sup>2</sup>"))
    assert ".0173" in doubt


def test_notes_never_run_out_of_marks() -> None:
    notes = Notes()
    marks = [notes.mark(str(number)) for number in range(60)]
    assert len(set(marks)) == 60 and marks[:2] == ["<sup>a</sup>", "<sup>b</sup>"]
    assert notes.mark("1") == "<sup>b</sup>" and notes.lines()[27] == "* <sup>bb</sup> 27"


def test_unfinished_and_withdrawn_rows_are_left_out_and_the_last_of_a_run_counts(
    tmp_path: Path,
) -> None:
    gone = {"withdrawn": "the teacher was switched off"}
    kept(tmp_path, "x.jsonl", row(run="a", seed=1), row(run="a", seed=2),
         row(run="b", complete=False), row(run="c", protocol=gone), row(run="d", curve=[]))  # fmt: skip
    assert [(one["run"], one["seed"], one["file"]) for one in read(tmp_path)] == [
        ("a", 2, "x.jsonl")
    ]


def test_a_broken_line_is_named(tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_text('{"run": "a"}\n{"run": \n', encoding="utf-8")
    with pytest.raises(SystemExit, match=r"x\.jsonl: line 2 is broken"):
        read(tmp_path)


def test_filters_look_inside_and_want_nulls() -> None:
    rows = [row(protocol={"epochs": 3}, strategy="value"), row(protocol={"epochs": 4})]
    assert matching(rows, {"protocol.epochs": 3}) == rows[:1]
    assert matching(rows, {"protocol.epochs": [3, 4], "strategy": "none"}) == rows[1:]
    assert matching(rows, {"system": "cc", "protocol.from": "none"}) == rows


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.8731, ".873"), (1.0, "1.000"), (-0.002, "-.002"), (-0.0001, ".000"), (0.4135, ".414"),
     (None, "-"), (float("nan"), "-")],
)  # fmt: skip
def test_scores_are_written_without_the_leading_zero(value: float | None, text: str) -> None:
    assert short(value) == text


def test_numbers_of_seeds_and_spreads_read_well() -> None:
    assert (numbers([2, 0, 1]), numbers([7, 5]), numbers([3])) == ("0 to 2", "5, 7", "3")
    assert (spread([0.5]), spread([0.4, 0.6]), spread([])) == (".500", ".500 ± .141", "-")


def test_curves_come_from_rows_and_printed_figures() -> None:
    about = {"corner": "answers", "answers": [0, 20], "digits": 3, "line": [
        {"label": "cc", "where": {"system": "cc"}, "metric": "heldout_acc", "interval": [0]}],
        "rows": [{"label": "PCL", "published": [["pcl-3", "PCL", "cifar10-2", "personalized"]]}],
    }  # fmt: skip
    other = row(seed=1, curve=[{"questions": 0, "heldout_acc": 0.7}])
    table = curves_table("x", {"x": about}, [row(), other])
    # two values .6 and .7: t(.975, 1) = 12.706, times .0707 / sqrt(2)
    assert table.splitlines()[2:] == ["| 0 | .650 ± .635 |", "| 20 |  |", "| PCL | .873 |"]
    about["line"][0]["where"] = {"system": "nobody"}
    with pytest.raises(SystemExit, match="No row fits 'cc'"):
        curves_table("x", {"x": about}, [row()])


def test_a_suite_weighs_sets_equally_and_says_who_was_told_k() -> None:
    def run(system: str, name: str, seed: int, *ari: float, **more: Any) -> dict[str, Any]:
        curve = [{"questions": 10 * i, "ari": score} for i, score in enumerate(ari)]
        return row(system=system, set=name, seed=seed, curve=curve, file="quick.jsonl", **more)

    rows = [
        run("live", "a", 0, 0.0, 1.0, groups_given=None),
        run("live", "a", 1, 0.0, 0.5, groups_given=None),
        run("live", "b", 0, 0.4, 0.4, groups_given=None),
        run("margin", "a", 0, 0.2, 0.2),
        run("margin", "a", 0, 0.0, 0.0, person="wrong-5", noise=0.05),
    ]
    lines = suite_table("quick", rows).splitlines()
    assert lines[2] == "| live | **no** | .388 | .575 | 2 | 3 |"  # (.375 + .4) / 2, (.75 + .4) / 2
    assert lines[3] == "| margin | yes | .200 | .200 | 1 of 2 | 1 |"
    people = people_table("quick", rows).splitlines()
    assert people[0] == "| final ARI | K told | perfect | wrong-5 |"
    assert "| margin | yes | .200 | .000 |" in people
    assert "not there" in suite_table("nothing", rows) and "not there" in people_table("no", rows)


def test_every_section_can_be_reached_from_the_contents() -> None:
    text = results_page.page()
    links = re.findall(r"^ *\* \[.+\]\(#(.+)\)$", text, flags=re.MULTILINE)
    heads = re.findall(r"^###? (.+)$", text, flags=re.MULTILINE)
    assert links == [results_page.anchor(head) for head in heads] and len(set(links)) == len(links)
    assert "{{" not in text


def test_an_unknown_place_is_named(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="is no place"):
        results_page.filled("{{tabel pcl-2}}", tmp_path, {}, [])
    assert results_page.filled("{{part later if there}}", tmp_path, {}, []) == []


def test_converted_rows_say_what_their_originals_say() -> None:
    checked = 0
    for one in KEPT:
        origin = ROOT / (one["protocol"].get("from") or "")
        if one["file"] != "gpu-earlier.jsonl" or origin.suffix != ".json":
            continue
        told = json.loads(origin.read_text())
        points = [p for p in told.get("curve", [told]) if p.get("learner") in (None, one["system"])]
        last = points[-1]
        assert (one["set"], one["orientation"]) == (told["set"], told["orientation"])
        for key, name in (("test_acc", "heldout_acc"), ("acc", "acc"), ("nmi", "nmi")):
            if key in last:
                assert one["curve"][-1][name] == pytest.approx(last[key], abs=6e-6)
                checked += 1
    assert checked > 40


def test_a_run_that_knew_the_rest_keeps_its_score_up_to_its_budget() -> None:
    curve = [{"questions": 10, "acc": 0.5}, {"questions": 80, "acc": 0.9}]
    ended = {"curve": curve, "budget": 100, "complete": True, "protocol": {}}
    assert scores([ended], 100, "acc") == [0.9]
    assert scores([ended], 50, "acc") == []
    assert scores([{**ended, "complete": False}], 100, "acc") == []
