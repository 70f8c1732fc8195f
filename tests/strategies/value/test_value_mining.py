"""Value mining against the numbers computed apart, by slow loops, and by its properties."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from places import VECTORS
from samekind.compute import as_tensor
from samekind.constraints import Constraints
from samekind.errors import InputError
from samekind.strategies.value import greedy as value_greedy
from samekind.strategies.value.greedy import TOLERANCE, Greedy
from samekind.strategies.value.mining import (
    hardness,
    hardness_argument,
    representativeness,
    select,
    unit,
)
from samekind.strategies.value.questions import MAX_SHOWN, questions

VECTORS = json.loads((VECTORS / "idc.json").read_text())
Z = np.array(VECTORS["inputs"]["Z"])
CENTRES = np.array(VECTORS["kmeans"]["centres"])
SCORES, SELECTION = VECTORS["scores"], VECTORS["selection"]
VARIANTS: dict[str, dict[str, Any]] = {
    "hard_only": {"weights": (1, 0, 0), "k": 5},
    "hard_rep": {"weights": (1, 1, 0), "k": 5},
    "hard_rep_div": {"k": 5},
    "reference_neighbour_rule": {"k": 20, "include_self": True},
}


def drawn(n: int, d: int = 8, kinds: int = 4, seed: int = 0, spread: float = 0.6) -> Any:
    """Unit rows around a few directions, and these directions."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(kinds, d))
    return unit(centres[np.arange(n) % kinds] + spread * rng.normal(size=(n, d))), centres


def slow_select(z: Any, base: Any, budget: int, already: Any = ()) -> tuple[list[int], list[float]]:
    """Algorithm 1 as it is printed: all of Eq. 4 again for every pick."""
    taken, picks, values = list(already), [], []
    for _ in range(budget):
        best, most = -1, -np.inf
        for i in range(len(z)):
            if i in taken:
                continue
            d = min((np.log(max(1 - z[i] @ z[j], 1e-12)) for j in taken), default=0.0)
            if base[i] + d > most:
                best, most = i, base[i] + d
        taken.append(best)
        picks.append(best)
        values.append(most)
    return picks, values


def test_hardness_is_that_of_the_vectors_also_where_the_printed_log_is_undefined() -> None:
    np.testing.assert_allclose(hardness_argument(Z, CENTRES), SCORES["h_argument"], atol=1e-8)
    np.testing.assert_allclose(hardness(Z, CENTRES), SCORES["h"], atol=1e-7)
    undefined = SCORES["rows_where_the_printed_log_is_undefined"]
    assert undefined and (hardness_argument(Z, CENTRES)[undefined] <= 0).all()
    np.testing.assert_allclose(hardness(Z, CENTRES)[undefined], np.log(1e-12))


def test_the_length_of_a_centre_does_not_matter() -> None:
    longer = CENTRES * np.array([[3.0], [0.1], [7.0]])
    np.testing.assert_allclose(hardness(Z, longer), hardness(Z, CENTRES), atol=1e-12)


def test_hardness_is_zero_exactly_on_a_boundary_and_never_above() -> None:
    rng = np.random.default_rng(1)
    z, centres = drawn(500, seed=1)
    assert (hardness(z, centres) <= 0).all()
    middle = unit((unit(centres[[0]]) + unit(centres[[1]])) / 2)
    assert hardness(middle, centres[:2])[0] == pytest.approx(0, abs=1e-12)
    assert hardness(unit(middle + 0.05 * rng.normal(size=middle.shape)), centres[:2])[0] < -1e-6
    assert hardness(z, centres[:1]).tolist() == [0.0] * 500, "one group has no boundary"


def test_representativeness_is_that_of_the_vectors_under_both_rules() -> None:
    without = representativeness(Z, 5)
    np.testing.assert_allclose(without, SCORES["r_sum_5_without_self"], atol=1e-7)
    program = representativeness(Z, 20, include_self=True)
    np.testing.assert_allclose(program, SCORES["r_mean_20_with_self"], atol=1e-7)


def test_diversity_after_two_picks_is_that_of_the_vectors() -> None:
    greedy = Greedy(as_tensor(Z), np.zeros(len(Z)))
    for item in SCORES["first_two"]:
        greedy.take(item)
    greedy.best()
    found = np.log(np.maximum(greedy.apart.cpu().numpy(), 1e-12))
    picked = np.isin(np.arange(len(Z)), SCORES["first_two"])
    np.testing.assert_allclose(
        found[~picked], np.array(SCORES["d_after_first_two"])[~picked], atol=1e-7
    )
    assert (found[picked] < -25).all(), "an item is at no distance from itself"


@pytest.mark.parametrize("variant", sorted(VARIANTS))
def test_algorithm_1_picks_what_the_vectors_say(variant: str) -> None:
    items, values = select(Z, CENTRES, 8, **VARIANTS[variant])
    assert items.tolist() == SELECTION[variant]["index"]
    np.testing.assert_allclose(values, SELECTION[variant]["value"], atol=1e-6)


@pytest.mark.parametrize(("shown", "key"), [(2, "answers"), (1, "answers_T1")])
def test_questions_offer_the_nearest_groups_of_the_vectors(shown: int, key: str) -> None:
    recorded = VECTORS["questions"]
    standing = recorded["centre_image"]
    truth, cluster = VECTORS["inputs"]["truth"], recorded["truth_to_cluster"]
    made = questions(Z, CENTRES, SELECTION["hard_rep_div"]["index"], shown=shown)
    assert [question.item for question in made] == [row["sample"] for row in recorded[key]]
    for question, row in zip(made, recorded[key], strict=True):
        offered = [standing.index(group[0]) for group in question.groups]
        assert offered == row["offered"]
        chosen = question.truthful(lambda a, b: cluster[truth[a]] == standing.index(b))
        assert (chosen != "none") == row["positive"]
        if row["positive"]:
            assert offered[int(chosen) - 1] == row["chosen"]


def test_who_is_asked_about_does_not_stand_for_a_group() -> None:
    standing = VECTORS["questions"]["centre_image"]
    made = questions(Z, CENTRES, standing)
    assert [question.item for question in made] == standing
    for item, question in zip(standing, made, strict=True):
        assert len(question.groups) == 3, "the next nearest item stands for its group"
        assert item not in {i for group in question.groups for i in group}


def test_questions_leave_out_what_the_answers_imply() -> None:
    first, second, third = VECTORS["questions"]["centre_image"]
    known = Constraints.from_links(30, [(2, first, True), (22, second, False)])
    made = questions(Z, CENTRES, [2, 22], known=known)
    assert [question.item for question in made] == [22], "the group of item 2 is known"
    assert second not in made[0].items() and {first, third} <= set(made[0].items())
    merged = Constraints.from_links(30, [(first, second, True)])
    (question,) = questions(Z, CENTRES, [22], known=merged)
    assert len(question.groups) == 2, "two groups of one kind are shown once"


def test_more_groups_than_a_question_can_show_are_refused() -> None:
    for shown in (0, MAX_SHOWN + 1):
        with pytest.raises(InputError, match=f"1 to {MAX_SHOWN} groups to show, got {shown}"):
            questions(Z, CENTRES, [0], shown=shown)


@pytest.mark.parametrize("seed", range(4))
def test_the_running_minimum_picks_what_the_slow_loop_picks(seed: int) -> None:
    z, centres = drawn(60, seed=seed)
    base = hardness(z, centres) + representativeness(z, 6)
    picks, values = slow_select(z, base, 15)
    items, found = select(z, centres, 15, k=6)
    assert items.tolist() == picks
    np.testing.assert_allclose(found, values, atol=1e-6)
    picks, _ = slow_select(z, base, 10, already=(3, 17))
    assert select(z, centres, 10, k=6, already=(3, 17))[0].tolist() == picks


@pytest.mark.parametrize("hot", [8, 40, 100_000])
def test_values_that_wait_change_no_pick(monkeypatch: pytest.MonkeyPatch, hot: int) -> None:
    z, centres = drawn(600, seed=5)
    expected = select(z, centres, 60)
    monkeypatch.setattr(value_greedy, "MAX_HOT_ITEMS", hot)
    items, values = select(z, centres, 60)
    assert items.tolist() == expected[0].tolist()
    np.testing.assert_allclose(values, expected[1], atol=1e-9)
    everything, _ = select(z, centres, 10_000, weights=(1, 0, 0))
    assert sorted(everything.tolist()) == list(range(600))


@pytest.mark.parametrize("seed", range(3))
def test_picks_are_distinct_and_their_values_fall_from_the_second_on(seed: int) -> None:
    z, centres = drawn(200, seed=seed)
    items, values = select(z, centres, 120)
    assert len(set(items.tolist())) == 120
    assert (np.diff(values[1:]) <= TOLERANCE).all()


def test_permuting_the_items_permutes_the_picks() -> None:
    z, centres = drawn(150, seed=7)
    order = np.random.default_rng(0).permutation(150)
    items, _ = select(z, centres, 30)
    assert order[select(z[order], centres, 30)[0]].tolist() == items.tolist()


def test_weights_and_constants_do_what_they_say() -> None:
    z, centres = drawn(120, seed=2)
    hardest, values = select(z, centres, 120, weights=(1, 0, 0))
    np.testing.assert_allclose(values, np.sort(hardness(z, centres))[::-1], atol=TOLERANCE)
    sum_rule = select(z, centres, 40, k=7)[0]
    mean_rule = select(z, centres, 40, k=8, include_self=True)[0]
    assert sum_rule.tolist() == mean_rule.tolist(), "a constant in r changes nothing"
    assert hardest[:10].tolist() != sum_rule[:10].tolist()
    with pytest.raises(InputError, match="from 0 up, got -1"):
        select(z, centres, 3, weights=(1, 1, -1))


def test_items_asked_before_count_as_picked() -> None:
    z, centres = drawn(200, seed=3)
    items, values = select(z, centres, 20)
    rest, later = select(z, centres, 15, already=items[:5].tolist())
    assert rest.tolist() == items[5:].tolist()
    np.testing.assert_allclose(later, values[5:], atol=1e-9)


def test_duplicates_are_asked_about_last_and_nothing_is_ever_not_a_number() -> None:
    z, centres = drawn(40, seed=4)
    twice = np.concatenate([z, z[:10]]).astype(np.float32)
    items, values = select(twice, centres, 50, k=3, weights=(0, 0, 1))
    assert np.isfinite(values).all()
    assert sorted(items.tolist()) == list(range(50))
    pairs = [{i, i + 40} for i in range(10)]
    assert all(not pair <= set(items[:40].tolist()) for pair in pairs)
    for odd in (np.zeros((30, 5)), np.ones((30, 5)) / np.sqrt(5)):
        for k in (1, 20, 100):
            items, values = select(odd, np.eye(2, 5), 30, k=k)
            assert sorted(items.tolist()) == list(range(30)) and np.isfinite(values).all()


def test_what_is_not_a_number_never_wins() -> None:
    z, _ = drawn(20)
    base = np.linspace(0, 1, 20)
    base[[3, 5, 7]] = np.nan, np.inf, -np.inf
    greedy = Greedy(as_tensor(z), base)
    order = []
    while (best := greedy.best()) is not None:
        assert np.isfinite(best[1])
        greedy.take(best[0])
        order.append(best[0])
    assert order[0] == 5 and set(order[-2:]) == {3, 7} and len(order) == 20
