"""COBRA and COBRAS: replay, questions, groups, and what is kept between questions."""

from __future__ import annotations

import gc
import pickle
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.datasets import make_blobs

from samekind import superinstances
from samekind.clusterers.kmeans.cobras import COBRA, COBRAS
from samekind.clustering import Clustering
from samekind.constraints import Constraints
from samekind.errors import InputError
from samekind.evaluation import ari
from samekind.items import Collection
from samekind.protocols import View
from samekind.questions import UNSURE, Answer, SamePair
from samekind.session import Session
from samekind.simulation.loop import run
from samekind.simulation.people import Noisy, Truth, Unsure
from samekind.sources import open_source
from samekind.strategies.pairs import cobras as asking
from samekind.superinstances import replay_cobras, tree

X, CLOUD = make_blobs(240, centers=6, cluster_std=0.3, random_state=2)
X = X.astype(np.float32)
KIND = CLOUD % 3  # every kind is two clouds


def conversation(
    count: int, seed: int = 0, truth: NDArray[Any] = KIND, rows: NDArray[Any] = X
) -> list[Answer]:
    """So many truthful answers to the questions of COBRAS."""
    snapshot = Clustering.first(np.zeros(len(rows)), rows)
    answers: list[Answer] = []
    for number in range(1, count + 1):
        known = Constraints.from_answers(len(rows), answers)
        view = View(snapshot, known, np.random.default_rng(0), seed=seed)
        asked = asking.COBRAS().propose(view)
        if not asked:
            break
        choice = asked[0].truthful(lambda a, b: bool(truth[a] == truth[b]))
        answers.append(Answer(number, asked[0], choice))
    return answers


def fitted(answers: list[Answer], seed: int = 0) -> COBRAS:
    return COBRAS(random_state=seed).fit(X, constraints=Constraints.from_answers(len(X), answers))


def test_kinds_that_are_several_clouds_are_found_without_being_told_how_many() -> None:
    found = fitted(conversation(60))
    assert ari(KIND, found.labels_) > 0.98
    assert found.n_clusters_ == 3
    assert ari(KIND, found.predict(X + 0.01)) > 0.98


def test_before_the_first_answer_there_is_one_set() -> None:
    root = tree(X, 0)
    assert len(replay_cobras(root, Constraints(len(X))).parts) == 1
    assert set(fitted([]).labels_.tolist()) == {0}


def test_until_the_first_merging_is_complete_the_first_cut_gives_the_groups() -> None:
    mixed = (CLOUD + np.arange(len(X)) % 5) % 6  # the clouds say little: the first cut is fine
    answers, root = conversation(60, truth=mixed), tree(X, 0)
    steps = []
    for k in range(len(answers) + 1):
        known = Constraints.from_answers(len(X), answers[:k])
        found = replay_cobras(root, known)
        if found.merged:
            break
        assert sum(len(part) for part in found.parts) == len(X)
        kinds = len(np.unique(known.components[[part.middle for part in found.parts]]))
        assert fitted(answers[:k]).n_clusters_ == kinds, "those told to be one kind are one group"
        steps.append((len(found.parts), kinds))
    assert [parts for parts, _ in steps] == sorted(parts for parts, _ in steps)
    finest = steps[-1][0]
    assert finest in (2, 4, 8, 16, 32), "every 'different' halves doubles the number"
    merging = [kinds for parts, kinds in steps if parts == finest]
    assert merging == sorted(merging, reverse=True) and merging[0] > merging[-1]


def test_on_a_line_the_questions_are_those_of_the_paper() -> None:
    line = np.array([[0.0], [1.0], [2.0], [20.0], [21.0], [22.0], [23.0], [24.0]], np.float32)
    kinds = np.array([0, 0, 0, 1, 1, 1, 1, 1])
    asked = [a.question.items() for a in conversation(3, truth=kinds, rows=line)]
    # Halves {0 1 2} and {3..7} with middles 1 and 5 differ; the smaller half is one kind; so it is
    # cut in two, of which the pair is known, and the largest set, {3..7}, comes next.
    assert asked[0] == (1, 5)
    assert set(asked[1]) < {0, 1, 2}
    assert set(asked[2]) < {3, 4, 5, 6, 7}


def test_nothing_is_asked_that_is_implied_and_nothing_twice() -> None:
    answers = conversation(80)
    assert len({a.question for a in answers}) == len(answers)
    for k, answer in enumerate(answers):
        known = Constraints.from_answers(len(X), answers[:k])
        assert answer.question.truthful(known.same) == UNSURE


def test_later_the_groups_change_only_when_a_merging_is_complete() -> None:
    answers, root = conversation(40), tree(X, 0)
    counts = []
    for k in range(len(answers) + 1):
        known = Constraints.from_answers(len(X), answers[:k])
        found = replay_cobras(root, known)
        if not found.merged:
            continue
        middles = [part.middle for part in found.parts]
        assert all(known.same(a, b) is not None for a in middles for b in middles if a != b)
        assert sum(len(part) for part in found.parts) == len(X)
        counts.append(len(found.parts))
    assert counts == sorted(counts) and len(set(counts)) < len(counts)


def test_every_answer_is_honoured_wherever_it_came_from() -> None:
    rng = np.random.default_rng(1)
    pairs = [rng.choice(len(X), 2, replace=False).tolist() for _ in range(60)]
    links = [(a, b, bool(KIND[a] == KIND[b])) for a, b in pairs]
    labels = COBRAS(random_state=0).fit(X, constraints=Constraints.from_links(240, links)).labels_
    assert all((labels[a] == labels[b]) == same for a, b, same in links)


def test_a_contradictory_answer_changes_neither_groups_nor_questions() -> None:
    answers = conversation(30)
    first = next(a for a in answers if a.choice == "same")
    wrong = Answer(99, first.question, "different")
    known = Constraints.from_answers(len(X), [*answers, wrong])
    assert len(known.conflicts) == 1
    assert fitted([*answers, wrong]).labels_.tolist() == fitted(answers).labels_.tolist()
    plain = replay_cobras(tree(X, 0), Constraints.from_answers(len(X), answers))
    assert replay_cobras(tree(X, 0), known).question == plain.question


def test_a_person_who_is_unsure_or_wrong_now_and_then_still_gets_groups() -> None:
    collection = _collection(240)
    session = Session(collection, X, clusterer="cobras", strategy="cobras", seed=3)
    person = Unsure(Noisy(Truth(KIND), 0.05, seed=1), 0.1, seed=1)
    assert run(session, person, 80).n_answers == 80
    assert ari(KIND, session.refit().labels) > 0.5


def test_method_and_strategy_of_a_session_replay_the_same_cuts() -> None:
    session = Session(_collection(240), X, clusterer="cobras", strategy="cobras", seed=5)
    run(session, Truth(KIND), 40)
    session.refit()
    parts = replay_cobras(tree(session.X, 5), session.constraints).parts
    assert len(session.model.part_labels_) == len(parts)
    assert ari(KIND, session.clustering.labels) > 0.9


def test_group_numbers_stay_across_refits() -> None:
    session = Session(_collection(240), X, clusterer="cobras", strategy="cobras", seed=0)
    run(session, Truth(KIND), 60)
    before = session.refit()
    run(session, Truth(KIND), 20)
    after = session.refit()
    assert (before.labels == after.labels).mean() > 0.95


def test_cuts_are_made_once_and_shared_while_they_are_used(monkeypatch: Any) -> None:
    answers = conversation(40)
    model = fitted(answers)
    made: list[int] = []
    plain = superinstances.SuperInstance._grouped
    monkeypatch.setattr(
        superinstances.SuperInstance, "_grouped", lambda self, k: made.append(k) or plain(self, k)
    )
    again = fitted(answers)  # while `model` keeps the tree
    assert not made
    assert again.labels_.tolist() == model.labels_.tolist()
    del model, again
    gc.collect()
    assert fitted(answers).labels_.shape == (240,) and made


def test_what_is_kept_does_not_change_what_comes_out() -> None:
    answers = conversation(40)
    kept = fitted(answers)
    long = fitted(conversation(60))
    again = fitted(answers)
    assert kept.labels_.tolist() == again.labels_.tolist()
    assert "_tree" not in pickle.loads(pickle.dumps(long)).__dict__  # it would hold the vectors


def test_cobra_ends_when_its_sets_are_merged_or_told_apart() -> None:
    session = Session(
        _collection(240), X, clusterer=COBRA(n_parts=12), strategy=asking.COBRA(n_parts=12), seed=0
    )
    told = run(session, Truth(KIND), 200).n_answers
    assert 11 <= told <= 12 * 11 // 2
    assert ari(KIND, session.refit().labels) > 0.95


def test_items_that_are_all_alike_are_one_set_and_leave_nothing_to_ask() -> None:
    alike = np.ones((6, 2), dtype=np.float32)
    assert replay_cobras(tree(alike, 0), Constraints(6)).question is None
    assert set(COBRAS(random_state=0).fit(alike).labels_.tolist()) == {0}


def test_an_unsure_pair_is_not_asked_again() -> None:
    root, known = tree(X, 0), Constraints(len(X))
    first = replay_cobras(root, known).question
    assert first is not None
    second = replay_cobras(root, known, {frozenset(first)}).question
    assert second != first
    unsure = Constraints.from_answers(len(X), [Answer(1, SamePair(*first), UNSURE)])
    assert COBRAS(random_state=0).fit(X, constraints=unsure).labels_.shape == (240,)


def test_less_than_one_set_is_refused() -> None:
    with pytest.raises(InputError, match="n_parts"):
        COBRA(n_parts=0).fit(X)


def _collection(n: int) -> Collection:
    return open_source("tiles").take(range(n))
