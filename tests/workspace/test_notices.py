"""What is said about a pile that has changed since the last time."""

# ruff: noqa: F811 (fixtures are imported by their names)

from __future__ import annotations

from pathlib import Path

import pytest

from command_line import Cli, cli, photos  # noqa: F401


@pytest.fixture
def answered(cli: Cli, photos: Path) -> Path:
    """Eight pictures, with answers about some of them."""
    for place in sorted(photos.iterdir())[8:]:
        place.unlink()
    assert cli("ask", photos, "--questions", 2, typed="1\n1\n").code == 0
    return photos


def test_a_pile_whose_files_were_all_renamed_lacks_nothing(cli: Cli, answered: Path) -> None:
    for place in answered.iterdir():
        place.rename(place.with_name(f"z{place.name}"))
    done = cli("ask", answered, typed="q\n")
    assert "renamed since the last time; the answers still apply" in done.err
    assert "missing" not in done.err


def test_only_items_with_answers_are_said_to_be_missing(cli: Cli, answered: Path) -> None:
    table = answered.with_name("x.csv")
    assert cli("export", answered, table).code == 0
    rows = [line.split(",") for line in table.read_text().splitlines()]
    which = rows[0].index("answered")
    unasked = [row[0] for row in rows[1:] if row[which] in ("false", "0", "")]
    asked = [row[0] for row in rows[1:] if row[0] not in unasked]
    assert unasked and len(asked) > 1, rows[:2]
    (answered / unasked[0]).unlink()
    assert "missing" not in cli("ask", answered, typed="q\n").err
    (answered / asked[0]).unlink()
    assert "1 item with answers is missing" in cli("ask", answered, typed="q\n").err
