"""Tables of the clustering processes: they are what the newest rows say, in both places."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.ncp.summaries import FILE_OF
from benchmarks.results import ncp


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Rows of a test instead of those that are kept."""
    for name in FILE_OF:
        monkeypatch.setitem(FILE_OF, name, tmp_path / f"{name}.jsonl")
    return tmp_path


def keep(folder: Path, name: str, *rows: dict[str, Any]) -> None:
    about = {"seed": 18, "commit": "abc1234", "machine": {"cores": 2}}
    text = "".join(json.dumps({**about, **row}) + "\n" for row in rows)
    (folder / f"{name}.jsonl").write_text(text, encoding="utf-8")


def piece(method: str, ari: list[float], sha: str | None = None, first: int = 0) -> dict[str, Any]:
    return {
        "world": "clear", "N": 50, "method": method, "sha256": sha, "first": first,
        "sets": len(ari), "ari": ari, "groups": [3] * len(ari), "true_groups": [2] * len(ari),
        "processor_seconds": 1.0,
    }  # fmt: skip


def test_the_documents_are_what_the_rows_say(capsys: pytest.CaptureFixture[str]) -> None:
    assert ncp.main(["--check"]) == 0, capsys.readouterr().err


def test_a_table_changed_by_hand_is_told_with_the_command_and_written_again(
    tmp_path: Path, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- table quality -->\nby hand\n<!-- end -->\nafter\n")
    keep(folder, "quality", piece("gibbs", [0.5, 0.7]))
    assert ncp.main(["--check", "--documents", str(page)]) == 1
    assert "python -m benchmarks.results.ncp" in capsys.readouterr().err
    assert (
        ncp.main(["--documents", str(page)]) == 0 == ncp.main(["--check", "--documents", str(page)])
    )
    text = page.read_text()
    assert text.startswith("before\n<!-- table") and text.endswith("<!-- end -->\nafter\n")
    assert "by hand" not in text and ".600 ± 1.271 (+1.0)" in text and "abc1234" in text


def test_new_weights_replace_earlier_ones_and_are_compared_with_gibbs_set_by_set(
    folder: Path,
) -> None:
    gibbs = [0.9, 0.5, 0.7, 0.3]
    keep(
        folder, "quality", piece("gibbs", gibbs),
        piece("ncp pointwise", [0.1, 0.2, 0.0, 0.1], "older"),
        piece("ncp pointwise", [0.5, 0.1], "newer", first=2),
        piece("ncp pointwise", [0.7, 0.3], "newer"),
    )  # fmt: skip
    text = ncp.quality_table()
    assert "newer" in text and "older" not in text
    ours = next(line for line in text.splitlines() if line.startswith("| `NCP()`, pointwise |"))
    assert ".400 ±" in ours
    assert "| `NCP()`, pointwise, clear | -.200 ± .000 |" in text, "the same gap in each data set"


def test_rows_of_every_check_have_a_table_and_none_is_made_up(folder: Path) -> None:
    assert {ncp.ncp_table(name) for name in ncp.TABLES} == {ncp.NOT_YET}
    with pytest.raises(SystemExit, match="quality"):
        ncp.ncp_table("tabel")
    sha = {"variant": "pointwise", "sha256": "abc", "sets": 9, "N": 20}
    bins = [{"from": 0.5, "to": 0.7, "said": 0.6, "true": 0.5, "count": 3, "z": 1.0}]
    one = {"statistic": "groups", "law": 3.0, "sampler": 3.4, "first": 1.24, "z": -2.5}
    rates = {"share": 0.25, "per_second": 1234.0}
    keep(
        folder, "shipped",
        {**sha, "check": "groups", "said": 3.5, "true": 3.0, "z": 2.2, "covered": 0.9, "size": 2.0,
         "p_true": 0.5},
        {**sha, "check": "pairs", "error": 0.012, "bins": bins},
        {**sha, "check": "joint", "rounds": 4, "statistics": [one]},
        {**sha, "check": "effective", "world": "clear", "ncp": rates, "gibbs": rates},
        {**sha, "check": "enumeration", "error": 0.07},
    )  # fmt: skip
    assert "| pointwise | 20 | 3.50 | 3.00 | +2.2 | .90 | 2.0 | .500 |" in ncp.ncp_table("groups")
    assert "| pointwise | 20 | .60 / .50 | .012 |" in ncp.ncp_table("pairs")
    assert "| pointwise | +1.2 / -2.5 |" in ncp.ncp_table("joint")
    assert "| clear | 20 | 25.0 % | 1,234 | 25.0 % | 1,234 |" in ncp.ncp_table("effective")
    assert "| pointwise | 20 | .070 |" in ncp.ncp_table("enumeration")
