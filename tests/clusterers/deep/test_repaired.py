"""The profile `repaired` of PCL and OCC: on vectors, on pictures, and as a step that is recorded."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
import torch
from test_recordable_steps import Listening
from torch import Tensor, nn

from drawn_kinds import SMALL, Curve, drawn, honoured, some_answers
from samekind.clusterers.deep.cc import CC
from samekind.clusterers.deep.occ import OCC
from samekind.clusterers.deep.pcl import PCL
from samekind.clusterers.deep.repaired import PairBatches
from samekind.constraints import Constraints
from samekind.errors import InputError
from samekind.evaluation import score
from samekind.objectives.links import LinkMasks
from samekind.training.answered import Answered
from samekind.training.network import Output
from samekind.training.steps import SchedulePoint

ROWS: dict[str, Any] = {"profile": "repaired", "device": "cpu", "random_state": 0, "batch_size": 64}
PICTURES: dict[str, Any] = {**SMALL, "profile": "repaired", "random_state": 0, "first_epochs": 2}


def crossed(n: int = 240) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Four kinds in pairs of two: k-means finds the loud halves, only answers the quiet ones."""
    rng = np.random.default_rng(0)
    loud, quiet = rng.integers(0, 2, (2, n))
    x = rng.normal(size=(n, 8))
    x[:, 0] += 7 * loud
    x[:, 1] += 5 * quiet
    return x, loud, quiet


def acc(truth: np.ndarray, model: Any) -> float:
    return float(score(truth, model.labels_)["acc"])


@pytest.mark.parametrize("method", [PCL, OCC])
def test_groups_of_k_means_are_kept_when_the_first_different_arrives(method: Any) -> None:
    x, loud, _ = crossed()
    before = acc(loud, method(2, **ROWS).fit(x, constraints=Constraints(240)))
    a, b = int(np.flatnonzero(loud == 0)[0]), int(np.flatnonzero(loud == 1)[0])
    first = Constraints.from_links(240, [(a, b, False)])
    assert before > 0.97
    assert acc(loud, method(2, **ROWS).fit(x, constraints=first)) > before - 0.02
    assert acc(loud, method(2, **ROWS).fit(x, constraints=some_answers(loud, 8))) > before - 0.02


@pytest.mark.parametrize("method", [PCL, OCC])
def test_answers_find_groups_that_k_means_does_not(method: Any) -> None:
    x, _, quiet = crossed()
    known = some_answers(quiet, 60)
    model: Any = method(2, **ROWS).fit(x, constraints=known)
    assert acc(quiet, model) > 0.9 and honoured(model.labels_, known)
    assert model.learner_name == f"{method.__name__}, repaired"
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(x[:20]), model.predict(x[:20]))


def test_training_on_vectors_ends_when_the_groups_stay() -> None:
    x, loud, _ = crossed()
    model: Any = PCL(2, **ROWS).fit(x, constraints=some_answers(loud, 60))
    steps = model.n_epochs_ * model._learner._trainer.batches.steps
    assert steps in (100, 150), "two pieces or three of the four"
    given: Any = PCL(2, epochs=2, **ROWS).fit(x, constraints=some_answers(loud, 60))
    assert given.n_epochs_ == 2


class Flat(nn.Module):
    """A loss without any preference."""

    calls = 0

    def forward(self, out: Output, links: LinkMasks, point: SchedulePoint) -> dict[str, Tensor]:
        self.calls += 1
        return {"flat": 0 * out.z.sum()}


@pytest.mark.parametrize("data", ["vectors", "pictures"])
def test_a_given_objective_replaces_the_published_one_and_the_likelihood_stays(data: str) -> None:
    flat, curve = Flat(), Curve()
    if data == "vectors":
        x, loud, _ = crossed(80)
        model: Any = OCC(2, epochs=2, objective=flat, monitor=curve.monitor, **ROWS)
        model.fit(x, constraints=some_answers(loud, 20))
    else:
        images, kinds = drawn(40, 2)
        small = {**PICTURES, "tune_from": 10, "epochs": 2}
        model: Any = OCC(2, objective=flat, monitor=curve.monitor, **small)
        model.fit(images, constraints=some_answers(kinds, 20))
    assert flat.calls > 0 and curve.part("flat") and max(curve.part("pairs")) > 0
    assert model.learner_name == "OCC with Flat, repaired"


@pytest.mark.parametrize(("method", "parts"), [(PCL, "assignment"), (OCC, "assignment")])
def test_the_published_parts_are_minimised_on_pictures(method: Any, parts: str) -> None:
    images, kinds = drawn(60, 2)
    curve = Curve()
    model: Any = method(2, tune_from=30, epochs=2, monitor=curve.monitor, **PICTURES)
    model.fit(images, constraints=Constraints(60))
    assert not curve.part(parts), "only SimCLR before the answers"
    known = some_answers(kinds, 40)
    model.fit(images, constraints=known)
    assert {"instance", parts, "groups", "balance", "pairs"} <= set(curve.told[-1].parts)
    scores = model._learner.scores
    assert set(scores) == {"frozen", "tuned"}
    used_tuned = model._learner._reader.network is model._learner._tuned
    assert used_tuned == (scores["tuned"] > scores["frozen"])
    assert honoured(model.labels_, known) and model.predict(images[:5]).shape == (5,)


def test_the_backbone_moves_less_than_the_heads() -> None:
    images, kinds = drawn(60, 2)
    model: Any = PCL(2, tune_from=30, epochs=2, **PICTURES)
    model.fit(images, constraints=some_answers(kinds, 40))
    learner = model._learner
    frozen, tuned = learner._trainer.network, learner._tuned

    def moved(part: str) -> float:
        before, after = (getattr(n, part).state_dict() for n in (frozen, tuned))
        weights = [name for name in before if name.endswith("weight") and before[name].ndim > 1]
        steps = [(after[name] - before[name]).abs().mean() for name in weights]
        return float(torch.stack(steps).mean())

    assert 0 < moved("backbone") < 0.3 * moved("instance")


def test_few_answers_leave_the_network_as_it_is() -> None:
    images, kinds = drawn(40, 2)
    model: Any = OCC(2, tune_from=30, **PICTURES).fit(images, constraints=some_answers(kinds, 10))
    assert model._learner.scores == {} and model._learner._tuned is None


def test_attention_and_extension_have_their_effect_where_they_are_given() -> None:
    x, loud, _ = crossed(80)
    known = some_answers(loud, 20)
    plain: Any = PCL(2, epochs=2, **ROWS).fit(x, constraints=known)
    attended: Any = PCL(2, epochs=2, attention=True, **ROWS).fit(x, constraints=known)
    assert plain._learner._trainer.network.attention is None
    assert attended._learner._trainer.network.attention is not None
    guessed: Any = OCC(2, epochs=4, extension=0.5, certain=0.5, **ROWS).fit(x, constraints=known)
    assert guessed._learner._trainer.guesses is not None
    images, kinds = drawn(40, 2)
    model: Any = PCL(2, tune_from=10, epochs=1, attention=True, **PICTURES)
    model.fit(images, constraints=some_answers(kinds, 20))
    assert model._learner._tuned.attention is not None


def test_cc_has_no_such_profile() -> None:
    with pytest.raises(InputError, match="Choose one of: paper, fast"):
        CC(2, profile="repaired").fit(np.zeros((4, 2)))


def test_every_batch_holds_answered_pairs_however_few_there_are() -> None:
    known = Answered.from_constraints(Constraints.from_links(5000, [(17, 4000, False)]))
    batches = PairBatches(5000, 32, seed=0, share=0.25)
    for step in range(20):
        items = batches.items(step, known)
        assert {17, 4000} <= set(items.tolist()) and len(np.unique(items)) == 32


def test_many_answered_items_take_their_share_of_a_batch_with_partners() -> None:
    links = [(i, i + 1000, i % 2 == 0) for i in range(1000)]
    known = Answered.from_constraints(Constraints.from_links(5000, links))
    batches = PairBatches(5000, 64, seed=0, share=0.5)
    items = batches.items(3, known)
    same, different = known.pairs(items)
    assert len(items) == 64 and len(same) + len(different) >= 12
    assert known.touched[items[:32]].all() and not np.array_equal(items, batches.items(4, known))


@pytest.mark.parametrize("method", [PCL, OCC])
@pytest.mark.parametrize("kind", ["pictures", "vectors"])
def test_a_step_never_waits_for_the_device(method: Any, kind: str) -> None:
    if kind == "pictures":
        images, kinds = drawn(40, 2)
        model: Any = method(2, tune_from=10, epochs=1, **PICTURES)
        model.fit(images, constraints=some_answers(kinds, 20))
    else:
        x, kinds, _ = crossed(40)
        model: Any = method(2, epochs=1, **ROWS).fit(x, constraints=some_answers(kinds, 20))
    learner = model._learner
    trainer = learner._trainer
    trainer.change(learner.loss)
    trainer.learn_from(some_answers(kinds, 20))
    trainer.network.train()
    items, masks = trainer._batch(np.arange(40))
    point = SchedulePoint(torch.tensor(0.5), torch.tensor(2.0))
    with Listening() as listening:
        rows = trainer.views(trainer.data[trainer._mine(items)], trainer._chance)
        parts = trainer._run(rows, items, LinkMasks(*masks), point)
    assert listening.heard == [] and all(part.isfinite() for part in parts.values())
    assert parts["pairs"] > 0
