"""The keys that the page starts with are those of the terminal."""

from __future__ import annotations

import json

from places import ROOT
from samekind.questions import OddOnes, SameGroups, SamePair, WhichGroup, wording

FILE = ROOT / "page" / "src" / "keyboard" / "default-keys.json"


def test_the_page_has_the_keys_of_the_terminal() -> None:
    known = json.loads(FILE.read_text())
    groups = WhichGroup(0, ((1,), (2,), (3,), (4,), (5,)))
    marks = OddOnes((0,), tuple(range(1, 13)))
    for room, question in (
        ("pair", SamePair(0, 1)),
        ("pair", SameGroups((0,), (1,))),
        ("groups", groups),
        ("marks", marks),
    ):
        keys = {name: list(own) for name, own in _keys(question).items()}
        unsure = known["always"]["unsure"]
        assert keys.pop("unsure") == (
            [key for key in unsure if key != " "] if question.many else unsure
        )
        assert keys == known[room]


def test_actions_have_the_keys_of_the_terminal_and_two_of_their_own() -> None:
    acts = json.loads(FILE.read_text())["acts"]
    own = acts.pop("look") + acts.pop("find")
    assert acts == {name: list(keys) for name, (keys, _) in wording.ACTS.items()}
    assert not set(own) & {key for keys in acts.values() for key in keys}


def _keys(question: SamePair | SameGroups | WhichGroup | OddOnes) -> dict[str, tuple[str, ...]]:
    return wording.keys(question.choices(), many=question.many)
