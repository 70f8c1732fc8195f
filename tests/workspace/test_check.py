"""Checks of a whole pile: the interval holds the truth, and answers are kept."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("lance", reason="needs the extra cluster: pip install 'samekind[cluster]'")

from samekind.bulk.labels import Labels
from samekind.errors import InputError, StateError
from samekind.ledger.sql import SqlStore
from samekind.simulation.loop import run
from samekind.simulation.people import Truth
from samekind.workspace.check import Check, Share, open_check
from stored_vectors import add_rows, drawn_labels

N = 4000
N_CHECKS, N_ITEMS = 100, 40


class Pile:
    """Two kinds; one item in seven is placed wrongly, and only confident ones are references."""

    def __init__(self, folder: Path) -> None:
        rng = np.random.default_rng(3)
        self.kinds = rng.integers(1, 3, N)
        wrong = rng.random(N) < 1 / 7
        self.groups = np.where(wrong, 3 - self.kinds, self.kinds)
        confidence = np.where(wrong, 0.6, 0.9) + 0.09 * rng.random(N)
        self.fits = rng.random(N) < np.where(wrong, 0.7, 0.97)
        self.references = np.argsort(-confidence)[: N // 2]
        self.labels: Labels = drawn_labels(
            folder, self.groups, confidence=confidence.astype(np.float32), fits=self.fits
        )

    @property
    def right(self) -> np.ndarray:
        return np.asarray(self.kinds == self.groups)

    def person(self, check: Check) -> Truth:
        return Truth(self.kinds[check.rows])


@pytest.fixture(scope="module")
def pile(tmp_path_factory: pytest.TempPathFactory) -> Pile:
    return Pile(tmp_path_factory.mktemp("pile"))


def test_a_truthful_person_judges_every_drawn_item(pile: Pile) -> None:
    check = open_check(pile.labels.path, items=60)
    run(check.session, pile.person(check))
    found = check.result()
    drawn = [a.question.items()[0] for a in check.session.answers]
    rows = check.rows[drawn]
    assert len(set(rows.tolist())) == 60 == found.all.judged and found.left == found.unsure == 0
    assert found.all.right == int(pile.right[rows].sum())
    fitting = rows[pile.fits[rows]]
    assert found.fitting == Share(len(fitting), int(pile.right[fitting].sum()))
    assert check.session.ask() is None
    assert f"{found.all.right} of 60 items drawn at random from 4,000" in found.describe()


def test_intervals_hold_the_truth_for_all_items_but_not_if_only_references_are_drawn(
    pile: Pile,
) -> None:
    truth = float(pile.right.mean())
    rng = np.random.default_rng(0)
    held, shares, held_by_references = [], [], []
    for seed in range(N_CHECKS):
        check = open_check(pile.labels.path, items=N_ITEMS, seed=seed)
        run(check.session, pile.person(check))
        share = check.result().all
        low, high = share.bounds
        held.append(low <= truth <= high)
        shares.append(share.right / share.judged)
        some = pile.right[rng.choice(pile.references, N_ITEMS, replace=False)]
        low, high = Share(N_ITEMS, int(some.sum())).bounds
        held_by_references.append(low <= truth <= high)
    assert np.mean(held) >= 0.93
    error = np.sqrt(truth * (1 - truth) / N_ITEMS / N_CHECKS)
    assert abs(np.mean(shares) - truth) < 4 * error, "the estimate is unbiased"
    assert np.mean(held_by_references) < 0.1


def test_answers_are_kept_and_a_second_call_goes_on_with_the_same_items(
    pile: Pile, ledger: Path
) -> None:
    first = open_check(pile.labels.path, items=30, store=SqlStore(ledger))
    run(first.session, pile.person(first), 12)
    before = first.result()
    assert before.left == 18 and "18 drawn items are left" in before.describe()
    again = open_check(pile.labels.path, items=30, store=SqlStore(ledger))
    assert again.result() == before
    run(again.session, pile.person(again))
    whole = open_check(pile.labels.path, items=30)
    run(whole.session, pile.person(whole))
    assert again.result() == whole.result() and again.result().all.judged == 30
    more = open_check(pile.labels.path, items=50, store=SqlStore(ledger))
    assert more.result().all == again.result().all
    run(more.session, pile.person(more))
    assert more.result().all.judged == 50 == len(more.session.answers)


def test_unsure_answers_are_left_out_and_answers_can_be_undone(pile: Pile) -> None:
    check = open_check(pile.labels.path, items=10)
    for choice in ("1", "unsure", "none"):
        asked = check.session.ask()
        assert asked is not None and asked.question.at_random
        assert asked.question.choices() == ("1", "none", "unsure")
        check.session.tell(asked.number, choice)
    found = check.result()
    assert (found.all, found.unsure, found.left) == (Share(2, 1), 1, 7)
    assert "not sure about 1" in found.describe()
    check.session.undo()
    assert check.result().all == Share(1, 1)


def test_items_whose_group_has_no_others_are_left_out(tmp_path: Path) -> None:
    labels = drawn_labels(tmp_path, np.array([1] * 9 + [2]))
    check = open_check(labels.path, items=9)
    run(check.session, Truth(np.zeros(len(check.rows), dtype=np.intp)))
    found = check.result()
    assert found.all.judged + found.alone == 9 and found.left == 0
    assert found.alone == int(9 in check.labels.take(_drawn(9), ["row"]).column("row").to_pylist())


def _drawn(size: int) -> list[int]:
    from samekind.bulk.check import drawn_rows

    return drawn_rows(10, size).tolist()


def test_labels_must_be_complete(tmp_path: Path) -> None:
    from samekind.bulk.vector_store import VectorStore

    labels = drawn_labels(tmp_path, np.array([1, 2] * 10), parts=4)
    with pytest.raises(InputError, match="Expected 1 to 20 items"):
        open_check(labels.path, items=21)
    add_rows(VectorStore.open(labels.facts["vectors"]), np.ones((1, 1), np.float32))
    with pytest.raises(StateError, match=r"labels of all 21 rows.*got 20.*samekind predict"):
        open_check(labels.path, items=5)
    next(Path(labels.path).glob("part-*")).unlink()
    with pytest.raises(StateError, match="got 15"):
        open_check(labels.path, items=5)
