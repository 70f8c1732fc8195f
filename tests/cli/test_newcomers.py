"""What people stumbled over who tried samekind for the first time; each failed before."""

# ruff: noqa: F811 (fixtures are imported by their names)

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import samekind
from command_line import Cli, cli, table  # noqa: F401
from exported import drawn, grouped
from places import ROOT
from samekind.constraints import Constraints
from samekind.errors import SourceError
from samekind.exports import plan_export
from samekind.sources import open_source

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


@pytest.fixture
def no_encoding(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Make all long work fail."""

    def fail(*_: Any, **__: Any) -> None:
        raise AssertionError("long work had begun")

    def forbid() -> None:
        monkeypatch.setattr("samekind.workspace.pile.encode", fail)

    return forbid


def test_a_table_of_an_unknown_format_is_refused_before_any_work(
    cli: Cli, table: Path, tmp_path: Path, no_encoding: Callable[[], None]
) -> None:
    no_encoding()
    done = cli("cluster", table, "--out", tmp_path / "groups.xlsx")
    assert done.code == 5
    assert "xlsx" in done.err


def test_one_new_file_is_written_at_once_and_folders_are_confirmed(
    cli: Cli, table: Path, tmp_path: Path
) -> None:
    assert cli("ask", table, typed="q\n").code == 0
    assert cli("export", table, tmp_path / "groups.csv").code == 0
    assert (tmp_path / "groups.csv").is_file()
    done = cli("export", table, tmp_path / "folders")
    assert "Add --yes to write it" in done.out
    assert not (tmp_path / "folders").exists()


def test_grouping_without_questions_uses_the_default_method(cli: Cli, table: Path) -> None:
    import inspect

    from samekind.cli import ask, serve

    commands = (ask.ask, ask.cluster, serve.serve)
    assert {inspect.signature(each).parameters["method"].default for each in commands} == {None}
    assert cli("cluster", table).code == 0


def test_a_broken_array_gives_no_unsafe_advice(tmp_path: Path) -> None:
    (tmp_path / "broken.npy").write_bytes(b"no array at all")
    np.save(tmp_path / "objects.npy", np.array([{}, {}]), allow_pickle=True)
    for name in ("broken.npy", "objects.npy"):
        with pytest.raises(SourceError) as problem:
            open_source(tmp_path / name)
        assert "allow_pickle" not in str(problem.value)
        assert "pickled objects are never loaded" in str(problem.value)


def test_data_in_memory_are_a_pile_and_links_are_triples() -> None:
    frame = pd.DataFrame(
        {"height": [1.0, 2.0, 9.0, 10.0], "colour": ["red", "red", "blue", "blue"]}
    )
    X = np.array([[0.0], [1.0], [9.0], [10.0]])
    for data in (X, frame):
        pile = samekind.open_pile(data)
        assert len(samekind.Session(pile).labels) == len(samekind.Session(data).labels) == 4
    links = [(0, 3, True), (0, 1, False)]
    labels = samekind.PCKMeans(n_clusters=2, random_state=0).fit(X, constraints=links).labels_
    assert labels[0] == labels[3] != labels[1]


def test_one_of_a_kind_is_in_the_singular(tmp_path: Path) -> None:
    assert repr(Constraints(1)) == "Constraints(1 item, 0 answers, 0 conflicts)"
    plan = plan_export(drawn("=one"), grouped([1]), tmp_path / "one.csv")
    assert plan.files[0].what == "csv, 1 row"
    assert plan.notes[0].startswith("1 cell begins with")
    assert "1 item, 1 group ->" in plan.describe()


def test_no_word_of_a_help_text_is_eaten(cli: Cli) -> None:
    shown = " ".join(re.sub(r"[│╭╰─╮╯]", " ", cli("bench", "--help").out).split())
    assert "Replace a key of [base]; repeatable." in shown


def test_the_source_distribution_has_what_the_documents_name() -> None:
    included = PROJECT["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]
    assert {"recipes", "mkdocs.yml", "docs", "benchmarks", "page", "tests"} <= set(included)
    assert all((ROOT / name).exists() for name in included if "*" not in name)


def test_every_extra_that_a_text_names_exists() -> None:
    extras = set(PROJECT["project"]["optional-dependencies"])
    texts = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "src").rglob("*.py")]
    named = {
        extra
        for text in texts
        for group in re.findall(r"samekind\[([\w,]+)\]", text.read_text())
        for extra in group.split(",")
    }
    calls = r"MissingExtra\(\s*f?\"[^\"]*\",\s*\"(\w+)\""
    named |= {extra for text in texts for extra in re.findall(calls, text.read_text())}
    assert {"plots", "pandas"} <= named
    assert named <= extras


def test_guides_name_the_default_that_there_is() -> None:
    guides = [ROOT / "docs" / "tutorial.md", *(ROOT / "docs" / "how-to").glob("*.md")]
    other = re.compile(
        r"`(propagation|placement)`[^.|]{0,30}\bdefault\b|\bdefault\b( is|:| \()[^.|]{0,20}`(propagation|placement)`"
    )
    for guide in guides:
        assert not other.search(guide.read_text()), guide.name
    from samekind.session.parts import DEFAULT_METHOD

    assert DEFAULT_METHOD == "live"


def test_guides_say_what_a_newcomer_looks_for() -> None:
    own_page = (ROOT / "docs" / "how-to" / "own-page.md").read_text()
    assert "Authorization: Bearer" in own_page
    assert "--host" in (ROOT / "README.md").read_text()
    guides = " ".join(page.read_text() for page in (ROOT / "docs" / "how-to").glob("*.md")).lower()
    field = (ROOT / "docs" / "explanation" / "in-the-words-of-the-field.md").read_text().lower()
    for word in ("must-link", "cannot-link", "active learning", "scikit-learn", "constrained"):
        assert word in guides and word in field


def test_no_guide_calls_another_method_or_strategy_the_default() -> None:
    from samekind.clusterers import DEFAULT as DEFAULT_METHOD
    from samekind.registry import strategy_of

    assert strategy_of(DEFAULT_METHOD) == "live" == DEFAULT_METHOD
    other = re.compile(
        r"`(?:propagation|placement)`[^.|\n]{0,40}\bdefault\b|default[^.|)\n]{0,30}`(?:propagation|placement)`"
    )
    pages = [ROOT / "README.md", *(ROOT / "docs").glob("*.md"), *(ROOT / "docs").glob("[he]*/*.md")]
    named = [(page.name, found[0]) for page in pages for found in other.finditer(page.read_text())]
    assert not named
    assert "`live`, the default" in (ROOT / "docs" / "how-to" / "simulate.md").read_text()
