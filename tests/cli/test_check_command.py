"""``samekind check``: judge random items of a whole pile in the terminal."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("lance", reason="needs the extra cluster: pip install 'samekind[cluster]'")

from command_line import Cli, cli  # noqa: F401
from samekind.bulk.labels import Labels
from stored_vectors import drawn_labels, learnt_orientation


@pytest.fixture
def labels(tmp_path: Path) -> Labels:
    return drawn_labels(tmp_path, np.array([1, 2] * 20), texts=tmp_path / "texts")


def test_answers_give_an_interval_for_all_items_and_are_continued(
    cli: Cli,  # noqa: F811
    labels: Labels,
) -> None:
    done = cli("check", labels.path, "--items", 6, typed="1\n1\n0\nu\nq\n")
    assert done.code == 0
    assert "Placed in kind" in done.out and "text " in done.out, "items come from the source"
    assert "2 of 3 items drawn at random from 40 are in the right group: 9.4 to 99.2 %" in done.out
    assert "not sure about 1" in done.out and "2 drawn items are left" in done.out
    assert "samekind check" in done.out and "4 answers are saved" in done.out
    rest = cli("check", labels.path, "--items", 6, typed="1\n1\n")
    assert "4 of 5 items" in rest.out and "left to judge" not in rest.out
    again = cli("check", labels.path, "--items", 6, typed="")
    assert "4 of 5 items" in again.out and "Question" not in again.out


def test_clear_errors(cli: Cli, tmp_path: Path) -> None:  # noqa: F811
    none = cli("check", tmp_path / "none.parquet")
    assert none.code == 3 and "samekind predict FILE.orientation" in none.err
    other = cli("check", tmp_path / "labels.csv")
    assert other.code == 2 and ".parquet or .lance" in other.err


def test_without_the_extra_the_pip_line_is_said(
    cli: Cli,  # noqa: F811
    labels: Labels,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    learnt_orientation(tmp_path).save(tmp_path / "mine.orientation")
    monkeypatch.setitem(sys.modules, "lance", None)
    orientation, vectors, out = tmp_path / "mine.orientation", tmp_path / "drawn.lance", "x.parquet"
    for words in (
        ("check", labels.path),
        ("predict", orientation, vectors, "--out", tmp_path / out),
    ):
        done = cli(*words)
        assert done.code == 12 and "pip install 'samekind[cluster]'" in done.err
