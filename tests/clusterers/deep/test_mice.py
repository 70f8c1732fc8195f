"""MiCE on tiny pictures and vectors."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from drawn_kinds import SMALL, clouds, drawn, some_answers
from samekind.clusterers.deep.mice import MiCE
from samekind.errors import InputError


@pytest.mark.parametrize(("asked", "found"), [(4, 40), (50, 50), (16384, 60)])
def test_the_queue_holds_a_batch_at_least_and_all_items_at_most(asked: int, found: int) -> None:
    X, _ = clouds(60)
    model = MiCE(2, steps=2, queue=asked, batch_size=40, random_state=0).fit(X)
    assert model._learner._trainer.network.queue.shape == (found, 2, 32)


def test_prototypes_are_set_anew_after_each_epoch() -> None:
    X, _ = clouds(60)
    model = MiCE(2, steps=5, batch_size=30, random_state=0).fit(X)
    network = model._learner._trainer.network
    seen = network.sums.norm(dim=1)
    assert 0 < float(seen.max()) <= 30, "only the batch since the last whole epoch"


def test_experts_and_followers_begin_from_features_of_a_file(tmp_path: Path) -> None:
    images, _ = drawn(40)
    file = str(tmp_path / "features.safetensors")
    first = MiCE(2, steps=3, random_state=0, **SMALL).fit(images)
    first.save_features(file)
    learner = MiCE(2, start=file, steps=1, random_state=1, **SMALL)._new_learner(images, 1)
    network = learner._begin(some_answers(np.zeros(40), 0), 2).network
    trained = first._learner.backbone.state_dict()
    for part in (network.backbone, network.target_backbone):
        for name, tensor in part.state_dict().items():  # type: ignore[union-attr, operator]
            assert torch.equal(tensor, trained[name])


def test_nonsense_is_refused() -> None:
    X, _ = clouds(20)
    for wrong in ({"queue": 0}, {"average": 1.0}):
        with pytest.raises(InputError, match="MiCE"):
            MiCE(2, **wrong).fit(X)
