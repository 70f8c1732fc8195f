"""Many groups in the terminal: a readable list, groups by part of a name, and new ones by name."""

from __future__ import annotations

import io
import re

import pytest
from rich.console import Console as Screen

from breeds import KINDS, NAMES, breeds, until_all_groups
from samekind.cli.group_names import GroupNames
from samekind.cli.terminal import TerminalPerson
from samekind.ledger.store import MemoryStore
from samekind.session import Session
from samekind.simulation.loop import run

GROUPS = GroupNames(
    {"1": "Boxer", "2": "Scottish Terrier", "3": "", "4": "Yorkshire Terrier", "12": "Box"},
    {"3": "dog-17.png"},
)


@pytest.mark.parametrize(
    ("typed", "choice"),
    [("2", "2"), (" 12 ", "12"), ("box", "12"), ("boxe", "1"), ("SCOT", "2"), ("re terr", "4")],
)
def test_a_group_is_typed_by_number_or_part_of_its_name(typed: str, choice: str) -> None:
    found = GROUPS.read(typed)
    assert found is not None and (found.choice, found.name) == (choice, "")


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ("terr", "fits several groups: 2 Scottish Terrier, 4 Yorkshire Terrier. Type more"),
        ("beagle", "No group is called 'beagle'. To start it: new beagle"),
        ("13", "No group is called '13'"),
        ("new boxer", "Group 1 has the name 'Boxer' already."),
        ("name 13 Pug", "Expected a number and a name, as in 'name 3 Beagle', got 'name 13 Pug'."),
    ],
)
def test_what_fits_no_group_is_explained(typed: str, message: str) -> None:
    found = GROUPS.read(typed)
    assert found is not None and found.choice is None
    assert message in found.message


def test_new_groups_and_names_are_typed_in_words() -> None:
    new, named, renamed = (GROUPS.read(t) for t in ("new", "new  Shiba Inu", "name 3 Old Dog"))
    assert new is not None and (new.choice, new.name) == ("none", "")
    assert named is not None and (named.choice, named.name) == ("none", "Shiba Inu")
    assert renamed is not None and (renamed.renamed, renamed.name) == ("3", "Old Dog")


@pytest.fixture(scope="module")
def session() -> Session:
    """All 37 breeds are known, every second one by its name."""
    session = breeds(MemoryStore())
    _, question = until_all_groups(session, 37)
    for group in question.groups[::2]:
        session.naming.name_kind(group[0], NAMES[KINDS[group[0]]])
    return session


def shown(session: Session, monkeypatch: pytest.MonkeyPatch, *lines: str, width: int = 80) -> str:
    """Everything on the screen after these lines were typed."""
    monkeypatch.setattr("sys.stdin", io.StringIO("".join(f"{line}\n" for line in lines)))
    out = io.StringIO()
    screen = Screen(file=out, width=width, height=40, force_terminal=False)
    with TerminalPerson(screen, session) as person:
        run(session, person, len(lines))
    return out.getvalue()


def test_37_groups_fit_a_screen_with_their_names(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = shown(session, monkeypatch, "q", width=80)
    lines = text.splitlines()
    assert len(lines) <= 42 and max(map(len, lines)) <= 80
    _, question = until_all_groups(session, 37)
    for group in question.groups[::2]:
        assert NAMES[KINDS[group[0]]] in text
    assert f"2 like animal-{question.groups[1][0]:03d}" in text
    assert "number or a part of a name · new [NAME] New group" in text.replace("\n", " ")


def test_a_new_group_is_named_with_the_answer_in_the_terminal(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    number, question = until_all_groups(session, 37)
    lines = ("?", "beagles", "show 2", "name 2 Odd Dogs", "new Beagles", "q")
    text = shown(session, monkeypatch, *lines)
    assert re.search(r"─ 2 ─+╮\n│ ▀+", text)
    assert "it belongs to the group with this in its name" in text
    assert "No group is called 'beagles'. To start it: new beagles" in text
    assert "Group 2 has the name 'Odd Dogs' now." in text
    assert session.naming.of_kind(question.groups[1][0]) == "Odd Dogs"
    assert session.naming.with_answer(number) == "Beagles"
    assert session.undo() == number
