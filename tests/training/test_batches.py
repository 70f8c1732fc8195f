"""Batches: everything is seen, answered items meet, and links are those of the closure."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from samekind.constraints import Constraints
from samekind.errors import InputError
from samekind.training.answered import Answered, Guesses, batch_links
from samekind.training.batches import LinkedBatches


def known_by_kind(n: int, links: int, kinds: int = 3, seed: int = 0) -> Constraints:
    rng = np.random.default_rng(seed)
    kind = rng.integers(0, kinds, n)
    pairs = [rng.choice(n, 2, replace=False) for _ in range(links)]
    return Constraints.from_links(n, [(int(a), int(b), bool(kind[a] == kind[b])) for a, b in pairs])


def pairs_of(rows: torch.Tensor) -> set[tuple[int, int]]:
    return {(a, b) for a, b in rows.tolist() if a != b}


@settings(max_examples=40, deadline=None)
@given(n=st.integers(2, 60), links=st.integers(0, 60), seed=st.integers(0, 99))
def test_the_links_of_a_batch_are_those_of_the_closure(n: int, links: int, seed: int) -> None:
    known = known_by_kind(n, links, seed=seed)
    items = np.random.default_rng(seed).permutation(n)[: max(1, n // 2)]
    found = batch_links(items, known)
    places = [(i, j) for i in range(len(items)) for j in range(i + 1, len(items))]
    same = {(i, j) for i, j in places if known.same(int(items[i]), int(items[j])) is True}
    different = {(i, j) for i, j in places if known.same(int(items[i]), int(items[j])) is False}
    assert pairs_of(found.same) == same and pairs_of(found.different) == different
    assert not len(found.guessed)


def test_items_of_a_batch_are_all_different_and_every_item_is_seen_over_time() -> None:
    known = Answered.from_constraints(known_by_kind(103, 80))
    batches = LinkedBatches(103, 16, seed=3, share=0.5)
    seen: set[int] = set()
    for step in range(batches.steps * 8):
        items = batches.items(step, known)
        assert len(set(items.tolist())) == len(items) == 16
        seen |= set(items.tolist())
    assert seen == set(range(103))


def test_every_epoch_is_shuffled_and_the_same_step_gives_the_same_batch() -> None:
    batches = LinkedBatches(40, 8, seed=1)
    first = [batches.items(step).tolist() for step in range(5)]
    assert sorted(np.concatenate(first).tolist()) == list(range(40)), (
        "without answers an epoch is a permutation"
    )
    assert first != [batches.items(step).tolist() for step in range(5, 10)]
    assert first == [LinkedBatches(40, 8, seed=1).items(step).tolist() for step in range(5)]
    assert first != [LinkedBatches(40, 8, seed=2).items(step).tolist() for step in range(5)]


def test_answered_items_meet_far_more_often_than_by_chance() -> None:
    known = known_by_kind(5000, 300)
    table = Answered.from_constraints(known)

    def met(share: float) -> int:
        batches = LinkedBatches(5000, 64, seed=0, share=share)
        drawn = (batches.items(step, table) for step in range(batches.steps))
        return sum(map(len, (np.concatenate(table.pairs(items)) for items in drawn)))

    assert met(0.25) > 5 * max(1, met(0.0))


def test_no_partner_comes_for_an_item_that_gave_way() -> None:
    table = Answered.from_constraints(known_by_kind(5000, 1500))
    batches = LinkedBatches(5000, 64, seed=0, share=0.25)
    in_vain = []
    for step in range(batches.steps):
        items = batches.items(step, table)
        drawn = LinkedBatches(5000, 64, seed=0).items(step)
        partners = np.flatnonzero(~np.isin(items, drawn))
        linked = np.concatenate(table.pairs(items)).ravel()
        in_vain.append(np.setdiff1d(partners, linked))
        assert set(drawn[:48].tolist()) <= set(items.tolist()), "three quarters stay"
    assert not len(np.concatenate(in_vain))


def test_both_sorts_of_partners_are_brought() -> None:
    table = Answered.from_constraints(
        Constraints.from_links(1000, [(0, 500, True), (1, 501, False), (2, 502, True)])
    )
    rng = np.random.default_rng(0)
    assert set(table.partners(np.arange(3), 10, rng).tolist()) == {500, 501, 502}
    assert not len(table.partners(np.array([7, 8]), 10, rng))


def test_the_parts_of_all_processes_are_the_batch_in_order() -> None:
    batches = LinkedBatches(50, 10, seed=0, ranks=3)
    items = batches.items(0)
    assert len(items) == 9
    parts = [batches.part(items, rank) for rank in range(3)]
    assert np.concatenate(parts).tolist() == items.tolist()


def test_fewer_items_than_a_batch_make_one_batch() -> None:
    batches = LinkedBatches(5, 128, seed=0)
    assert batches.steps == 1 and sorted(batches.items(4).tolist()) == [0, 1, 2, 3, 4]


def test_a_share_or_a_size_that_cannot_be_is_refused() -> None:
    for settings_ in ({"batch_size": 0}, {"batch_size": 4, "share": 1.0}):
        with pytest.raises(InputError):
            LinkedBatches(10, **settings_)  # type: ignore[arg-type]


def test_guesses_link_sure_and_like_items_and_never_what_is_known() -> None:
    z = np.array([[1, 0], [1, 1e-4], [1, 2e-4], [0, 1], [1, 0]], dtype=np.float32)
    p = np.array([[1, 0], [1, 0], [1, 0], [1, 0], [0.6, 0.4]], dtype=np.float32)
    known = Answered.from_constraints(Constraints.from_links(5, [(0, 1, True)]))
    guesses = Guesses.above(z, p)
    links = batch_links(np.arange(5), known, guesses)
    assert pairs_of(links.guessed) == {(0, 2), (1, 2)}, "not the answered, unlike or unsure ones"
    assert len(Guesses.above(z, p, most=1).pairs(np.arange(5), known)) == 1


def certain_of(shares: list[float], k: int = 2) -> Any:
    """Memberships (n, k) in the first group and the second, by turns."""
    p = np.full((len(shares), k), 0.0)
    p[np.arange(len(shares)), np.arange(len(shares)) % k] = shares
    p[np.arange(len(shares)), (np.arange(len(shares)) + 1) % k] = 1 - np.array(shares)
    return p


def test_the_most_certain_share_of_each_group_guesses_however_unsure_it_is() -> None:
    p = certain_of([0.9, 0.7, 0.8, 0.6, 0.7, 0.55, 0.6, 0.51])
    z = np.ones((8, 2), dtype=np.float32)
    assert (Guesses.above(z, p).group == -1).all(), "nobody is sure to four digits"
    for share, expected in ((0.5, {0, 1, 2, 3}), (0.25, {0, 1}), (1.0, set(range(8))), (0, set())):
        guesses = Guesses.most_certain(z, p, share=share)
        assert set(np.flatnonzero(guesses.group >= 0).tolist()) == expected
        assert (guesses.group[sorted(expected)] == np.array(sorted(expected)) % 2).all()
    equal = Guesses.most_certain(z, certain_of([1.0] * 6 + [0.6] * 2), share=0.25)
    assert np.flatnonzero(equal.group >= 0).tolist() == [0, 1, 2, 3, 4, 5], "as certain as the last"


def test_guesses_hold_an_answered_item_and_what_it_was_linked_to() -> None:
    angle = np.array([0.0, 0.1, 2.0, 0.2, 0.3])
    z = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    p = np.array([[1, 0], [1, 0], [0, 1], [1, 0], [1, 0]])
    known = Answered.from_constraints(Constraints.from_links(5, [(0, 2, True)]))
    guesses = Guesses.most_certain(z, p, share=1.0, most=1)
    links = batch_links(np.arange(5), known, guesses)
    # 0 and 1 are the most alike with an answer; 2 is like 0, though it is in another group.
    assert pairs_of(links.guessed) == {(0, 1), (1, 2)}
    assert not len(guesses.pairs(np.arange(5), Answered.from_constraints(Constraints(5))))


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from([1, 7, 64]), st.booleans())
def test_no_guess_contradicts_or_repeats_an_answer(seed: int, most: int, near: bool) -> None:
    rng = np.random.default_rng(seed)
    n, kinds = 40, rng.integers(0, 3, 40)
    links = [(int(a), int(b), bool(kinds[a] == kinds[b])) for a, b in rng.integers(0, n, (50, 2))]
    constraints = Constraints.from_links(n, [link for link in links if link[0] != link[1]])
    known = Answered.from_constraints(constraints)
    z, p = rng.normal(size=(n, 3)), rng.dirichlet(np.ones(2), n)
    guesses = Guesses.most_certain(z, p, share=0.8, most=most)
    guesses = replace(guesses, near_answers=near)
    items = rng.permutation(n)[:30]
    found = items[guesses.pairs(items, known)].tolist()
    assert len({frozenset(pair) for pair in found}) == len(found) or near
    assert all(a != b and constraints.same(a, b) is None for a, b in found)
    if not near:
        assert found == slow_guesses(guesses, items, constraints)


def slow_guesses(guesses: Guesses, items: Any, constraints: Constraints) -> list[list[int]]:
    """Every two items of the batch, one after the other."""
    found = []
    for place, a in enumerate(items.tolist()):
        for b in items[place + 1 :].tolist():
            same_group = guesses.group[a] == guesses.group[b] >= 0
            if same_group and constraints.same(a, b) is None:
                found.append((-float(guesses.z[a] @ guesses.z[b]), a, b))
    return [[a, b] for _, a, b in sorted(found, key=lambda pair: pair[0])[: guesses.most]]
