"""Reading rows: what is broken, unfinished or done again is left out, and it is said."""

from __future__ import annotations

from pathlib import Path

import pytest

from samekind.errors import InputError, SourceError, UnknownName
from samekind.reports.results import read_results
from synthetic_rows import synthetic_row, synthetic_rows, write_rows


def test_broken_lines_are_passed_over_with_a_sentence(tmp_path: Path) -> None:
    path = write_rows(tmp_path / "rows.jsonl", synthetic_rows({"live": 0.9}))
    whole = path.read_text()
    path.write_bytes(b'{"not": "a run"}\n\xff\xfe\n' + whole.encode() + whole[:50].encode())
    found = read_results([path])
    assert len(found.runs) == 3
    assert found.notes == [
        "rows.jsonl: lines 2, 6 are broken and left out.",
        "rows.jsonl: rows without a system or a curve, left out: 1.",
    ]


def test_unfinished_runs_are_counted_unless_they_were_finished_later(tmp_path: Path) -> None:
    rows = [
        synthetic_row("live", 0, complete=False),
        synthetic_row("live", 1, complete=False),
        synthetic_row("live", 1),
    ]
    found = read_results([write_rows(tmp_path / "rows.jsonl", rows)])
    assert [run.seed for run in found.runs] == [1]
    assert found.notes == ["1 run left out: not finished."]


def test_of_rows_with_the_same_run_the_last_counts_over_all_files(tmp_path: Path) -> None:
    first = write_rows(tmp_path / "a.jsonl", [synthetic_row("live", 0, level=0.5)])
    again = write_rows(tmp_path / "b.jsonl", [synthetic_row("live", 0, level=0.9)])
    found = read_results([first, again])
    assert len(found.runs) == 1
    assert found.runs[0].points[-1]["ari"] > 0.8
    assert found.notes == ["1 run left out: repeated later under the same name."]


def test_other_settings_of_the_same_seed_are_not_averaged(tmp_path: Path) -> None:
    old, new = synthetic_row("live", 0, level=0.5), synthetic_row("live", 0, level=0.9)
    new["run"] += "/other-digest"
    found = read_results([write_rows(tmp_path / "rows.jsonl", [old, new])])
    assert len(found.runs) == 1
    assert found.runs[0].points[-1]["ari"] > 0.8
    assert "other settings" in found.notes[0]


def test_numbers_that_are_not_finite_are_missing(tmp_path: Path) -> None:
    row = synthetic_row()
    row["curve"][0]["ari"] = float("nan")
    row["curve"][1]["ari"] = None
    row["curve"][2]["checks"] = {"share": 1.0}
    (run,) = read_results([write_rows(tmp_path / "rows.jsonl", [row])]).runs
    assert [point["questions"] for point in run.curve("ari").rows] == [20, 30, 40, 50, 60]
    assert run.curve("acc").rows[0]["questions"] == 0


def test_a_run_with_nothing_left_to_ask_keeps_its_last_score(tmp_path: Path) -> None:
    row = synthetic_row(at=(0, 10, 20), budget=60)
    (run,) = read_results([write_rows(tmp_path / "rows.jsonl", [row])]).runs
    last = run.curve("ari").rows[-1]
    assert last["questions"] == 60
    assert last["ari"] == row["curve"][-1]["ari"]
    assert last["pairs"] == row["curve"][-1]["pairs"]  # nothing was asked, so nothing was compared


def test_a_run_whose_end_was_not_scored_is_not_drawn_on(tmp_path: Path) -> None:
    row = synthetic_row(at=(0, 10, 20), budget=60, questions=55)
    (run,) = read_results([write_rows(tmp_path / "rows.jsonl", [row])]).runs
    assert run.curve("ari").rows[-1]["questions"] == 20


def test_files_without_a_run_and_unknown_names_are_refused(tmp_path: Path) -> None:
    empty = tmp_path / "empty.jsonl"
    empty.write_text("")
    with pytest.raises(SourceError, match="no complete run"):
        read_results([empty])
    with pytest.raises(SourceError, match="cannot be read"):
        read_results([tmp_path / "nothing.jsonl"])
    found = read_results([write_rows(tmp_path / "rows.jsonl", synthetic_rows({"live": 0.9}))])
    with pytest.raises(UnknownName, match="Did you mean 'live'"):
        found.only(["life"])
    with pytest.raises(UnknownName, match="Unknown set"):
        found.only([], ["letters"])
    with pytest.raises(InputError, match=r"Known: acc, ari, fm, nmi, unasked_ari\."):
        found.scored("heldout_acc")


def test_runs_without_the_score_are_left_out_and_counted(tmp_path: Path) -> None:
    rows = [synthetic_row("live", 0), synthetic_row("live", 1)]
    for point in rows[1]["curve"]:
        del point["nmi"]
    found = read_results([write_rows(tmp_path / "rows.jsonl", rows)]).scored("nmi")
    assert [run.seed for run in found.runs] == [0]
    assert found.notes == ["1 run left out: no score `nmi`."]
