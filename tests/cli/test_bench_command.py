"""``samekind bench``: rows one by one, continued where it stopped, side by side."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from command_line import Cli, cli
from samekind.cli.bench import summary
from samekind.simulation import provenance as surroundings
from samekind.simulation.rows import append_row, read_rows

__all__ = ["cli"]
SUITE = """
about = "For a test."
seeds = [0, 1]
[set.digits]
orientations = ["parity"]
items = 100
[person.perfect]
[person.careless]
noise = 0.2
[base]
method = "kmeans"
questions = 8
questions_per_refit = 4
score_at = [4]
encoder = "default"
held_out = "given"
[variant.random]
strategy = "random"
[variant.uncertain]
strategy = "uncertainty"
"""
FORBIDDEN = ("fastapi", "sqlalchemy", "pydantic", "platformdirs", "uvicorn")


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    place = tmp_path / "small.toml"
    place.write_text(SUITE)
    return place


def rows_of(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines()]


def test_a_suite_is_run_once_and_goes_on_where_it_stopped(cli: Cli, file: Path) -> None:
    some = cli(
        "bench", file, "--only", "random", "--seeds", 1, "--people", "perfect", "--commit", "abc"
    )
    rows = file.with_suffix(".jsonl")
    (row,) = rows_of(rows)
    assert some.code == 0 and "1 run, 0 finished before" in some.out
    assert "1/1 digits parity, random, perfect, seed 1: ari " in some.out
    assert (
        "samekind report small.jsonl --out small-report" in some.out
        and "100 items by vectors" in some.err
    )
    assert (row["system"], row["seed"], row["commit"], row["person"]) == (
        "random",
        1,
        "abc",
        "perfect",
    )
    rest = cli("bench", file)
    assert (
        "8 runs, 1 finished before" in rest.out and "7 runs finished, 0 failed, 0 left" in rest.out
    )
    assert rows_of(rows)[0] == row and len({r["run"] for r in rows_of(rows)}) == 8
    assert [r["seed"] for r in rows_of(rows)] == [1, 0, 0, 0, 0, 1, 1, 1]
    again = cli("bench", file)
    assert "8 runs, 8 finished before" in again.out and len(rows_of(rows)) == 8
    other = ("--with", "questions=4", "--seeds", "0", "--only", "random,uncertain", "--json")
    counted = cli("bench", file, *other)
    assert "4/4" in counted.err, "lines about runs are notices"
    assert json.loads(counted.out) == {
        "suite": "small", "rows": "small.jsonl", "runs": 4,
        "before": 0, "finished": 4, "failed": 0, "left": 0,
    }  # fmt: skip
    assert len(rows_of(rows)) == 12 and rows_of(rows)[-1]["protocol"]["overrides"] == {
        "questions": 4
    }


def test_rows_go_to_the_file_that_is_named_and_its_folder_is_made(cli: Cli, file: Path) -> None:
    rows = file.parent / "kept" / "rows.jsonl"
    cli("bench", "small.toml", "--rows", rows, "--seeds", "0", "--only", "random")
    assert {row["person"] for row in rows_of(rows)} == {"perfect", "careless"}


def test_a_line_that_was_cut_off_is_passed_over_and_its_run_done_again(
    cli: Cli, file: Path
) -> None:
    order = ("bench", file, "--only", "random", "--people", "careless")
    cli(*order)
    rows = file.with_suffix(".jsonl")
    rows.write_text(rows.read_text()[:-40])
    done = cli(*order)
    assert "line 2 is broken" in done.err and "1 finished before" in done.out
    assert [row["seed"] for row in read_rows(rows).rows] == [0, 1]


def test_a_row_is_added_after_a_line_without_an_end(tmp_path: Path) -> None:
    rows = tmp_path / "rows.jsonl"
    rows.write_text('{"run": "a", "complete": true}\n{"run": "b", "com')
    append_row(rows, {"run": "c", "complete": False})
    found = read_rows(rows)
    assert [row["run"] for row in found.rows] == ["a", "c"]
    assert found.broken == [2] and "line 2 is broken" in found.problem


def test_a_run_that_was_cut_short_is_kept_and_done_again(
    cli: Cli, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    order = ("bench", file, "--only", "random", "--people", "perfect", "--seeds", "0")
    with monkeypatch.context() as patched:
        patched.setattr(
            "samekind.simulation.runner.Limit.forbids", lambda self, seconds=0.0: seconds > 0
        )
        cut = cli(*order)
    assert "cut short" in cut.out and "0 runs finished, 0 failed, 1 left" in cut.out
    cli(*order)
    complete = [row["complete"] for row in rows_of(file.with_suffix(".jsonl"))]
    assert complete == [False, True]


def test_without_time_nothing_is_begun(cli: Cli, file: Path) -> None:
    done = cli("bench", file, "--limit-seconds", "0")
    assert done.code == 0 and "8 left" in done.out
    assert not file.with_suffix(".jsonl").exists()


def test_a_run_that_fails_does_not_take_the_others_with_it(cli: Cli, file: Path) -> None:
    file.write_text(SUITE + '[variant.too-many]\nstrategy = "random"\nn_clusters = 5000\n')
    done = cli("bench", file, "--seeds", "0", "--people", "perfect")
    assert done.code == 1 and "too-many, perfect, seed 0 failed: " in done.err
    systems = {row["system"] for row in rows_of(file.with_suffix(".jsonl"))}
    assert systems == {"random", "uncertain"} and "2 runs finished, 1 failed" in done.out


def test_a_set_whose_files_are_missing_is_left_out_with_the_reason(cli: Cli, file: Path) -> None:
    file.write_text(
        SUITE.replace("[person.perfect]", '[set.cards]\norientations = ["suit"]\n[person.perfect]')
    )
    done = cli("bench", file, "--seeds", "0", "--only", "random", "--data", file.parent)
    assert (
        done.code == 1 and "cards is left out, 2 runs: " in done.err and "cards.parquet" in done.err
    )
    assert "2 runs finished, 2 failed, 0 left" in done.out


def test_runs_side_by_side_give_the_rows_of_one_process(cli: Cli, file: Path) -> None:
    found = []
    for workers in (1, 2):
        rows = file.parent / f"{workers}.jsonl"
        done = cli("bench", file, "--rows", rows, "--workers", workers, "--seeds", "0")
        assert done.code == 0
        kept = sorted(rows_of(rows), key=lambda row: str(row["run"]))
        found.append([(r["run"], [(p["questions"], p["ari"]) for p in r["curve"]]) for r in kept])
    assert found[0] == found[1] and len(found[0]) == 4


def test_a_wrong_order_gives_one_sentence_and_an_exit_code(cli: Cli, file: Path) -> None:
    unknown = cli("bench", "no-such-suite")
    assert unknown.code == 3 and "pcl-table4" in unknown.err
    assert cli("bench").code == 2
    assert cli("bench", file, "--only", "randem").code == 5
    assert "whole numbers" in cli("bench", file, "--seeds", "one").err
    assert "NAME=VALUE" in cli("bench", file, "--with", "questions").err
    assert "--workers 1 or more" in cli("bench", file, "--workers", "0").err


def test_the_suites_are_listed_with_a_sentence_each(cli: Cli) -> None:
    done = cli("bench", "--list")
    for words in ("quick", "live", "people", "pcl-table5", "Who answers"):
        assert words in done.out


def test_a_finished_run_is_told_in_one_line() -> None:
    curve = [{"questions": n, "ari": n / 100} for n in range(0, 101, 10)]
    said = summary({"curve": curve, "complete": True, "seconds": 3.21})
    assert said == (
        "ari 0.000 at 0, 0.200 at 20, 0.400 at 40, 0.600 at 60, 0.800 at 80, 1.000 at 100; 3.2 s"
    )
    curve[-1]["heldout_acc"] = curve[0]["heldout_acc"] = 0.5
    short = summary({"curve": [curve[0], curve[-1]], "complete": False, "seconds": 1})
    assert short == "heldout_acc 0.500 at 0, 0.500 at 100; 1.0 s; cut short"


def test_a_suite_runs_where_only_the_core_is_installed(file: Path) -> None:
    code = (  # the function behind the command: newer versions of typer want pydantic themselves
        f"import sys\nfor name in {FORBIDDEN!r}:\n    sys.modules[name] = None\n"
        "from samekind.cli.bench import bench\nbench('small.toml', only=['random'], seeds=['0'])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=file.parent
    )
    assert "2 runs finished" in done.stdout, done.stderr


def test_a_row_notes_the_command_that_made_it(file: Path) -> None:
    words = ["bench", "small.toml", "--only", "random", "--seeds", "0", "--people", "perfect"]
    done = subprocess.run(
        [sys.executable, "-m", "samekind", *words], capture_output=True, text=True, cwd=file.parent
    )
    (row,) = rows_of(file.with_suffix(".jsonl"))
    assert row["command"] == f"samekind {' '.join(words)}" and "1 run finished" in done.stdout


def test_a_suite_that_cannot_be_read_does_not_hide_the_others(
    cli: Cli, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file.with_name("odd.toml").write_text(SUITE.replace("kmeans", "no-such-method"))
    both = {"odd": file.with_name("odd.toml"), "small": file}
    monkeypatch.setattr("samekind.simulation.suite_file.shipped", lambda: both)
    done = cli("bench", "--list")
    assert done.code == 0 and "Cannot be run here" in done.out and "For a test." in done.out


def test_the_commit_of_another_project_is_not_taken_for_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    (tmp_path / "__init__.py").write_text("")
    monkeypatch.setattr(surroundings, "PACKAGE", tmp_path / "__init__.py")
    assert surroundings.commit() == "unknown"


@pytest.mark.parametrize("content", ["my novel\n", "[1, 2]", "a,b\n1,2\n"])
def test_nothing_is_appended_to_a_file_of_another_kind(cli: Cli, file: Path, content: str) -> None:
    Path("mine.txt").write_text(content)
    done = cli("bench", file, "--rows", "mine.txt", "--limit-seconds", "0")
    assert done.code == 14 and "Choose another name with --rows" in done.err
    assert Path("mine.txt").read_text() == content
