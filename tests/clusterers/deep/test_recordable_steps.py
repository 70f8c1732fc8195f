"""A step of training must not wait for the device, or it could not be recorded on a GPU."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from drawn_kinds import SMALL, Curve, clouds, drawn
from samekind.clusterers.deep.gcc import GCC
from samekind.clusterers.deep.idfd import IDFD
from samekind.clusterers.deep.mice import MiCE
from samekind.clusterers.deep.pica import PICA
from samekind.objectives.links import LinkMasks
from samekind.training.steps import SchedulePoint

METHODS = [PICA, IDFD, GCC, MiCE]
WAITING = {
    "aten::_local_scalar_dense", "aten::nonzero", "aten::masked_select", "aten::lift_fresh",
    "aten::bincount", "aten::repeat_interleave.Tensor", "aten::equal", "aten::is_nonzero",
    "aten::_unique2",
}  # fmt: skip
"""Operations whose result, or its shape, the host has to know, or that bring numbers from it."""


class Listening(TorchDispatchMode):
    """Notes every operation that would make the host wait."""

    def __init__(self) -> None:
        super().__init__()
        self.heard: list[str] = []

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        name = func._schema.name + (f".{over}" if (over := func._schema.overload_name) else "")
        indices = args[1] if name.startswith(("aten::index.Tensor", "aten::index_put")) else ()
        if name in WAITING or any(i is not None and i.dtype == torch.bool for i in indices):
            self.heard.append(name)
        return func(*args, **(kwargs or {}))


def test_what_waits_is_heard() -> None:
    x = torch.arange(3.0)
    for wait in (lambda: x[0].item(), lambda: x[x > 1], lambda: x.nonzero(), lambda: bool(x[0])):
        with Listening() as listening:
            wait()
        assert listening.heard


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", ["pictures", "vectors"])
def test_losses_and_memories_never_wait_for_the_device(method: Any, kind: str) -> None:
    if kind == "pictures":
        model = method(2, steps=2, random_state=0, **SMALL).fit(drawn(40)[0])
    else:
        model = method(2, steps=2, random_state=0).fit(clouds(40)[0])
    learner = model._learner
    trainer = learner._trainer
    stage = learner._stages(trainer)[-1]
    trainer.change(stage.objective, stage.views)
    if stage.prepare is not None:
        stage.prepare(trainer)
    trainer.network.train()
    point = SchedulePoint(torch.tensor(0.5), torch.tensor(2.0))
    items, masks = trainer._batch(np.arange(40))
    with Listening() as listening:
        rows = trainer.views(trainer.data[trainer._mine(items)], trainer._chance)
        parts = trainer._run(rows, items, LinkMasks(*masks), point)
        if hasattr(trainer.network, "follow"):
            trainer.network.follow(point)
    assert listening.heard == [] and all(part.isfinite() for part in parts.values())


@pytest.mark.parametrize("method", METHODS)
def test_recording_changes_nothing(method: Any) -> None:
    X, _ = clouds(60)
    curves = [Curve(), Curve()]
    for curve, mode in zip(curves, ("", "record"), strict=True):
        setting = {"steps": 6, "batch_size": 30, "random_state": 0, "monitor": curve.monitor}
        method(2, compile=mode, **setting).fit(X)
    np.testing.assert_allclose(*(curve.part("loss") for curve in curves), rtol=1e-4)
