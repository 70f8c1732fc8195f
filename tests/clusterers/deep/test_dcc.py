"""DCC: an epoch for the groups, then batches of answered items."""

from __future__ import annotations

import numpy as np

from coded_kinds import (
    SMALL,
    layouts,
    overlapping,
    step_without_waiting,
    true_pairs,
)
from drawn_kinds import Curve, honoured
from samekind.clusterers.deep.dcc import DCC, AnsweredBatches
from samekind.training.answered import Answered, batch_links


def test_its_losses_fall() -> None:
    images, kinds = layouts()
    known = true_pairs(kinds, 40)
    curve = Curve()
    model = DCC(3, steps=30, monitor=curve.monitor, random_state=0, **SMALL)
    model.fit(images, constraints=known)
    assert curve.fell("reconstruction") > 0.02
    pairs = np.add(curve.part("same"), curve.part("different"))
    pairs = pairs[pairs > 0]
    assert pairs[:5].mean() > pairs[-5:].mean()
    assert honoured(model.labels_, known)
    assert model._learner._trainer.step == 30


def test_batches_of_answers_come_after_each_epoch_and_are_not_mixed_with_it() -> None:
    images, kinds = layouts(96)
    curve = Curve()
    model = DCC(3, steps=30, pretraining=0.0, monitor=curve.monitor, random_state=0, **SMALL)
    model.fit(images, constraints=true_pairs(kinds, 20))
    turns = ["groups" if told.parts["groups"] > 0 else "links" for told in curve.told]
    # Three batches of 32 make an epoch, two hold the forty ends of the pairs.
    assert turns == (["groups"] * 3 + ["links"] * 2) * 6
    for told in curve.told:
        pairs = told.parts["same"] + told.parts["different"]
        assert (told.parts["groups"] > 0) != (pairs > 0) and told.parts["reconstruction"] > 0


def test_without_answers_all_steps_go_to_the_groups() -> None:
    X, _ = overlapping(0, n=60)
    curve = Curve()
    DCC(4, steps=20, monitor=curve.monitor, random_state=0).fit(X)
    assert len(curve.part("groups")) == 10 and min(curve.part("groups")) > 0


def test_answered_batches_hold_pairs_each_item_once_and_are_filled_up() -> None:
    links = np.array([[1, 2], [2, 3], [10, 20], [30, 31]])
    batches = AnsweredBatches(50, 12, seed=3, links=links)
    for step in range(5):
        items = batches.items(step)
        assert len(items) == len(set(items.tolist())) == batches.size == 12
        assert set(links.ravel().tolist()) <= set(items.tolist())
    few = AnsweredBatches(50, 4, seed=3, links=links)
    assert few.rounds == 2
    known = Answered.from_constraints(true_pairs(np.zeros(50, dtype=int), 30))
    ends = np.stack([known.members[:20], known.members[1:21]], axis=1)
    drawn = AnsweredBatches(50, 6, links=ends)
    assert not np.array_equal(drawn.items(0), drawn.items(1))
    assert np.array_equal(drawn.items(1), drawn.items(1))
    assert batch_links(few.items(0), known).same.ndim == 2


def test_the_published_bracket_makes_shares_sharper() -> None:
    X, _ = overlapping(0, n=60)
    right, published = (
        DCC(4, steps=2, published_bracket=told, random_state=0).fit(X) for told in (False, True)
    )
    assert published.membership_.max(axis=1).mean() > right.membership_.max(axis=1).mean() + 0.05


def test_a_step_never_waits_for_the_device() -> None:
    images, kinds = layouts(40)
    known = true_pairs(kinds, 30)
    step_without_waiting(DCC(3, steps=3, **SMALL).fit(images, constraints=known))
