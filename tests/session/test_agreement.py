"""Agreement between people: Krippendorff's alpha, and learned error rates."""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np
import pytest

from piles import points
from samekind.ledger.store import MemoryStore
from samekind.session import Session
from samekind.session.agreement import (
    agreement,
    describe_agreement,
    krippendorff_alpha,
    learned_error,
    stratified_alpha,
)
from samekind.session.people import People


def units(*observers: str) -> list[list[Hashable]]:
    """The values of each unit; one line of values per observer, with dots where one is missing."""
    return [[v for v in column if v != "."] for column in zip(*observers, strict=True)]


def test_alpha_of_the_published_example_with_missing_values() -> None:
    # Krippendorff (2011), Computing Krippendorff's Alpha-Reliability, example C.
    table = units(
        "123321412...", "12332241255"[:10] + ".3", ".333234225" + "1.", "1233244125" + "1."
    )
    assert [len(values) for values in table] == [3, 4, 4, 4, 4, 4, 4, 4, 4, 3, 2, 1]
    assert krippendorff_alpha(table) == pytest.approx(0.743, abs=0.0005)


def test_alpha_of_two_observers_and_two_values() -> None:
    # The same, example A: 10 articles, 6 equal, alpha .095.
    assert krippendorff_alpha(units("0100000010", "1110010000")) == pytest.approx(0.095, abs=0.0005)


def test_alpha_at_its_ends() -> None:
    assert krippendorff_alpha([["a", "a"], ["b", "b"]]) == 1.0
    assert krippendorff_alpha([["a", "b"], ["b", "a"]]) < 0
    assert krippendorff_alpha([["a"], ["b"], []]) is None, "nobody was asked the same"
    assert krippendorff_alpha([["a", "a"], ["a", "a"]]) is None, "one value cannot disagree"
    rng = np.random.default_rng(0)
    by_chance = rng.integers(3, size=(5000, 2)).tolist()
    assert krippendorff_alpha(by_chance) == pytest.approx(0.0, abs=0.03)


def test_kinds_of_question_are_not_confused_with_each_other() -> None:
    pairs = [["same", "same"], ["same", "different"], ["different", "different"]]
    groups = [[1, 1], [2, 2], [1, 2]]
    alone = krippendorff_alpha(pairs)
    both = stratified_alpha([*(("pair", p) for p in pairs), *(("group", g) for g in groups)])
    assert alone == both == pytest.approx(4 / 9)
    assert krippendorff_alpha([*pairs, *groups]) > 4 / 9, "pooled, chance agrees less"


def test_a_person_s_error_is_learnt_from_how_odd_the_answers_are() -> None:
    fine, odd = np.full(90, 0.95), np.full(10, 0.0005)
    assert learned_error(np.concatenate([fine, odd]), 5, 0.03) == pytest.approx(0.1, abs=0.02)
    assert learned_error(fine, 5, 0.03) < 0.02
    assert learned_error(np.array([]), 5, 0.07) == pytest.approx(0.07)


def test_the_error_rates_of_simulated_people_are_found() -> None:
    rng = np.random.default_rng(3)
    n = 600
    kinds = np.arange(n) % 4
    X = rng.normal(scale=0.5, size=(n, 8)).astype(np.float32)
    X[np.arange(n), kinds] += 3.0
    session = Session(points(n), X, store=MemoryStore(), seed=0, refit_every=11)
    session.people = People(overlap=0.2)
    rates = {"anna": 0.0, "ben": 0.1, "cleo": 0.3}
    for turn in range(330):
        name = list(rates)[turn % 3]
        asked = session.ask(by=name)
        assert asked is not None
        choice = asked.question.truthful(lambda a, b: bool(kinds[a] == kinds[b]))
        if rng.random() < rates[name]:
            others = [c for c in asked.question.choices() if c.isdecimal() and c != choice]
            choice = str(rng.choice(others)) if others else choice
        session.tell(asked.number, choice, by=name)
        if session.due:
            session.refit()
    session.refit()
    found = agreement(session)
    people = {person.name: person for person in found.people}
    assert list(people) == list(rates)
    assert sum(p.answers + p.second_opinions for p in found.people) == 330
    for name, rate in rates.items():
        error = people[name].error
        assert error is not None and error == pytest.approx(rate, abs=0.06), (name, error)
    assert found.shared > 30 and found.agreed < found.shared
    assert found.alpha is not None and 0.4 < found.alpha < 0.95
    assert found.low is not None and found.high is not None
    assert found.low < found.agreed / found.shared < found.high
    share = {n: people[n].agreed / people[n].shared for n in rates}
    assert share["anna"] > share["cleo"]
    assert "alpha" in describe_agreement(found)


def test_one_person_alone_has_no_agreement() -> None:
    X = np.random.default_rng(0).normal(size=(20, 3)).astype(np.float32)
    found = agreement(Session(points(20), X))
    assert (found.people, found.alpha, found.shared) == ((), None, 0)
    assert describe_agreement(found) == ""
