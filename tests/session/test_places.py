"""Places of groups: the same key, colour and position for a whole session."""

from __future__ import annotations

import numpy as np

from piles import points
from samekind.ledger.fold import LedgerState
from samekind.ledger.store import MemoryStore
from samekind.protocols import Event
from samekind.session import Session, acts
from samekind.simulation.people import Truth

KINDS = np.arange(90) % 6


def opened(store: MemoryStore) -> Session:
    rng = np.random.default_rng(3)
    X = rng.normal(scale=0.2, size=(len(KINDS), 8))
    X[np.arange(len(KINDS)), KINDS] += 2.0
    return Session(points(len(KINDS)), X.astype(np.float32), store=store, seed=0)


def by_kind(session: Session) -> dict[int, int | None]:
    """The place of each kind that an answer has told apart."""
    places = session.places
    return {int(KINDS[kind[0]]): places.of_item(int(kind[0])) for kind in session.constraints.kinds}


def test_a_kind_keeps_its_place_from_its_first_answer_on_and_after_a_restart() -> None:
    store = MemoryStore()
    session, person = opened(store), Truth(KINDS)
    seen: dict[int, int | None] = {}
    for _ in range(30):
        asked = session.ask()
        assert asked is not None
        session.tell(asked.number, person.answer(asked.question))
        now = by_kind(session)
        assert {kind: now[kind] for kind in seen} == seen, "no place has changed"
        assert len(set(now.values())) == len(now), "and no two kinds share one"
        seen = now
        if session.due:
            session.refit()
            assert by_kind(session) == seen, "also in a refit"
    assert len(seen) == 6 and sorted(map(str, seen.values())) == [str(k) for k in range(6)]
    again = opened(store)
    assert by_kind(again) == seen and again.places.groups == session.places.groups
    labels = session.clustering.labels
    for kind, place in seen.items():
        number = int(np.bincount(labels[kind == KINDS]).argmax())
        assert session.places.groups[number] == place, "the group has the place of its kind"


def test_a_merge_moves_no_other_group_and_its_place_is_not_taken_by_the_next_one() -> None:
    session, person = opened(MemoryStore()), Truth(KINDS)
    for _ in range(30):
        asked = session.ask()
        assert asked is not None
        session.tell(asked.number, person.answer(asked.question))
        if session.due:
            session.refit()
    before = session.places.groups
    first, second, *others = sorted(before)
    acts.perform(session, acts.merge(session, first, second))
    session.refit()
    assert {n: session.places.groups[n] for n in others} == {n: before[n] for n in others}
    group = others[0]
    some = session.clustering.members(group)[:3].tolist()
    acts.perform(session, acts.split(session, group, some))
    session.refit()
    new = set(session.places.groups) - set(before)
    assert all(session.places.groups[n] not in before.values() for n in new) and new


def test_older_ledgers_without_places_give_each_group_one() -> None:
    state = LedgerState(lambda id: int(id))
    for seq, numbers in enumerate(([1, 2, 3], [1, 3, 4], [1, 3, 4, 5]), start=1):
        data = {"snapshot": seq, "after": 0, "last": 5, "marks": {str(k): [] for k in numbers}}
        state.fold(Event("refitted", data, seq=seq))
    assert state.places == {1: 0, 3: 2, 4: 1, 5: 3}
