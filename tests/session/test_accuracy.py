"""The estimate of the accuracy: what it uses, and that its interval holds the truth."""

from __future__ import annotations

import numpy as np
import pytest

from samekind.questions import Answer, Expectation, OddOnes, SamePair, WhichGroup
from samekind.session.accuracy import MIN_PLACEMENTS, Placed, estimate, latest_placements
from samekind.session.tally import Tally

GROUPS = ((1,), (2,), (3,))


def placements(answers: list[Answer]) -> list[Placed]:
    return latest_placements(reversed(answers), len(answers))


def drawn(rng: np.random.Generator, level: float, slips: float, n: int = 40) -> list[Placed]:
    """Placements of a simulated session: most are about unclear items, every eighth is random."""
    found = []
    for k in range(n):
        random = k % 8 == 7
        clear = float(rng.uniform() if random else rng.uniform() ** 2)
        clear = min(max(clear, 0.01), 0.99)
        logit = level + 0.65 * np.log(clear / (1 - clear)) - 0.5 * (not random)
        right = rng.uniform() < 1 / (1 + np.exp(-logit))
        slip = rng.uniform() < slips
        found.append(Placed(k + 1, 100 + k, bool(right != slip), clear, 3, random))
    return found


def truth(level: float) -> float:
    clear = (np.arange(400) + 0.5) / 400
    return float((1 / (1 + np.exp(-level - 0.65 * np.log(clear / (1 - clear))))).mean())


def test_the_interval_holds_the_truth_for_careful_and_erring_people() -> None:
    rng = np.random.default_rng(0)
    for slips in (0.0, 0.1):
        held = []
        for level in np.tile([0.0, 1.5, 3.0, 5.0], 15):
            found = estimate(drawn(rng, level, slips))
            assert found is not None
            held.append(found.low - 0.005 <= truth(level) <= found.high + 0.005)
        assert np.mean(held) >= 0.9


def test_hard_questions_that_went_wrong_do_not_make_the_groups_bad() -> None:
    clear = [(0.02, False)] * 10 + [(0.9, True)] * 30
    asked = [Placed(k, 50 + k, agreed, c, 3, False) for k, (c, agreed) in enumerate(clear)]
    found = estimate(asked)
    assert found is not None
    assert found.share > np.mean([one.agreed for one in asked])
    assert found.of_items(np.array([0.02]))[0] < 0.7 < found.of_items(np.array([0.9]))[0]


def test_answers_by_chance_are_no_sign_of_good_groups() -> None:
    rng = np.random.default_rng(1)
    asked = [Placed(k, k + 8, bool(rng.uniform() < 1 / 3), 0.5, 3, k % 8 == 7) for k in range(40)]
    found = estimate(asked)
    assert found is not None and found.share < 0.6 and found.low < 0.4


def test_what_the_answers_fix_is_wrong_only_by_slips() -> None:
    asked = drawn(np.random.default_rng(2), 0.0, 0.0)
    guessed, half, whole = (estimate(asked, n_items=1000, n_fixed=n) for n in (0, 500, 1000))
    assert guessed is not None and half is not None and whole is not None
    assert whole.share == pytest.approx(1 - whole.slips)
    assert guessed.share < half.share < whole.share and guessed.high < half.high < whole.high
    assert whole.high > 0.995, "the person may be perfect"
    assert half.of_items(np.array([0.75]))[0] == pytest.approx(1 - half.slips)
    assert half.of_items(np.array([0.25]))[0] == guessed.of_items(np.array([0.25]))[0]


def test_chance_makes_the_interval_of_a_few_items_wider() -> None:
    asked = drawn(np.random.default_rng(3), 1.5, 0.1)
    few, many = estimate(asked, n_items=12), estimate(asked, n_items=100_000)
    assert few is not None and many is not None
    assert few.share == many.share
    assert few.high - few.low > many.high - many.low


def test_pairs_fix_nothing_before_their_kinds_are_told_apart() -> None:
    pairs = [(0, 1, "same"), (2, 3, "same"), (4, 5, "different"), (6, 4, "different")]
    answers = [Answer(k, SamePair(a, b), choice) for k, (a, b, choice) in enumerate(pairs)]
    assert Tally.of(answers, 20).fixed.count() == 2, "6 may be like 5, and 0 like any of them"
    answers += [Answer(9, SamePair(0, 4), "same"), Answer(10, SamePair(6, 5), "different")]
    assert Tally.of(answers, 20).fixed.count() == 5
    assert Tally.of(answers, 5).fixed.count() == 3, "5 and 6 are gone, and 6 is a kind no longer"


def test_only_placements_among_groups_count() -> None:
    expected = Expectation("1", 0.5)
    answers = [
        Answer(1, WhichGroup(9, GROUPS, expected=expected), "1"),
        Answer(2, WhichGroup(10, GROUPS, expected=expected), "none"),
        Answer(3, WhichGroup(11, GROUPS, expected=expected), "unsure"),
        Answer(4, WhichGroup(12, GROUPS), "1"),
        Answer(5, WhichGroup(13, ((1,),), expected=expected), "1"),
        Answer(6, SamePair(4, 5, expected=Expectation("same", 0.5)), "same"),
        Answer(7, OddOnes((1,), (4, 5, 6, 7), expected=Expectation("none", 0.5)), "none"),
    ]
    found = placements(answers)
    assert [(one.number, one.position, one.agreed) for one in found] == [
        (1, 0, True),
        (2, 1, False),
    ]
    assert estimate(placements(answers * (MIN_PLACEMENTS // 2 - 1))) is None
    assert estimate(placements(answers * (MIN_PLACEMENTS // 2))) is not None


def test_the_latest_placements_are_taken_and_earlier_answers_not_looked_at() -> None:
    question = WhichGroup(9, GROUPS, expected=Expectation("1", 0.5))
    answers = [Answer(k, question, "2" if k % 3 else "unsure") for k in range(1, 1001)]
    latest_first = reversed(answers)
    found = latest_placements(latest_first, len(answers), 20)
    assert [one.number for one in found] == [a.number for a in answers if a.choice == "2"][-20:]
    assert next(latest_first).number == found[0].number - 1
    whole = estimate(placements(answers), 4321)
    assert whole is not None and whole.placements == 4321
