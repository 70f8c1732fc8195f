"""A partition keeps its numbers and names when its ledger or its file is opened again."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.datasets import make_blobs

from samekind.ledger.store import MemoryStore, open_store
from samekind.questions import SamePair
from samekind.session import Session, acts

METHODS = ("live", "propagation", "seeded", "kmeans", "logistic")
STEPS = 9


def blobs(seed: int = 0) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    X, kinds = make_blobs(n_samples=120, centers=3 + seed % 3, random_state=seed)
    return X, kinds


def told_the_same(session: Session, answers: int) -> Session:
    for _ in range(answers):
        asked = session.ask()
        assert asked is not None
        session.tell(asked.number, "1" if "1" in asked.question.choices() else "same")
    session.refit()
    return session


def test_a_name_outlives_closing_a_ledger_and_a_saved_session(tmp_path: Path) -> None:
    store = open_store(tmp_path / "m.samekind")
    session = told_the_same(Session(blobs()[0], store=store), 5)
    session.rename(1, "dogs")
    session.save(tmp_path / "m.session")
    assert session.groups == {1: "dogs"}
    assert Session(blobs()[0], store=store).groups == {1: "dogs"}
    assert Session.load(tmp_path / "m.session").groups == {1: "dogs"}


def test_two_sessions_over_one_ledger_agree_on_numbers_and_names() -> None:
    X, store = blobs()[0], MemoryStore()
    first, second = Session(X, store=store), Session(X, store=store)
    told_the_same(first, 5)
    first.rename(1, "dogs")
    second.catch_up()
    second.follow()
    assert second.groups == first.groups == {1: "dogs"}
    assert np.array_equal(second.labels, first.labels)


def test_groups_that_become_one_keep_the_name_that_they_share() -> None:
    session = told_the_same(Session(blobs()[0]), 5)
    for round in range(6):
        session.rename(session.clustering.numbers[0], f"dogs {round}")
        told_the_same(session, 2)
        assert list(session.groups.values()) == [f"dogs {round}"]


def act_at_random(session: Session, kinds: NDArray[np.intp], rng: np.random.Generator) -> None:
    """Answer, volunteer, undo, name, merge or split; a person who has `kinds` in mind."""
    what, numbers = rng.random(), session.clustering.numbers
    asked = session.ask()
    if what < 0.5 and asked is not None:
        truth = asked.question.truthful(lambda a, b: bool(kinds[a] == kinds[b]))
        session.tell(asked.number, truth)
    elif what < 0.75:
        a, b = map(int, rng.choice(len(kinds), 2, replace=False))
        session.volunteer(SamePair(a, b), "same" if kinds[a] == kinds[b] else "different")
    elif what < 0.8:
        session.undo()
    elif what < 0.85 and len(numbers) > 1:
        acts.perform(session, acts.merge(session, *map(int, rng.choice(numbers, 2, replace=False))))
    elif what < 0.9:
        members = session.clustering.members(int(rng.choice(numbers)))
        if len(members) > 3:
            group = int(session.labels[members[0]])
            acts.perform(session, acts.split(session, group, members[:2].tolist()))
    number = int(rng.choice(session.clustering.numbers))
    if rng.random() < 0.4:
        session.rename(number, f"name {rng.integers(1000)}")


@pytest.mark.parametrize(("method", "n_kinds"), product(METHODS, (1, 2)))
def test_labels_and_groups_are_those_of_the_live_session(method: str, n_kinds: int) -> None:
    for seed in range(4):
        X, place = blobs(seed)
        kinds, rng, store = place % n_kinds, np.random.default_rng(seed), MemoryStore()
        live = Session(X, store=store, clusterer=method, seed=seed, refit_every=3)
        for _ in range(STEPS):
            act_at_random(live, kinds, rng)
            if live.due:
                live.refit()
                again = Session(X, store=store)
                assert np.array_equal(again.labels, live.labels)
                assert again.groups == live.groups
