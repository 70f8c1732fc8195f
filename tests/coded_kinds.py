"""Pictures and vectors for methods with an autoencoder, and what is measured on them."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from samekind.constraints import Constraints
from samekind.objectives.links import LinkMasks
from samekind.training.loop import SchedulePoint, Trainer

SMALL: dict[str, Any] = {
    "backbone": "resnet18", "stem": "3x3", "channels": 4, "size": 16, "batch_size": 32,
    "learning_rate": 3e-3, "device": "cpu",
}  # fmt: skip


def layouts(n: int = 72, k: int = 3, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Bright above, on the left, or a disc, in any colour: (n, 3, 16, 16) and their kinds."""
    rng = np.random.default_rng(seed)
    kinds = rng.permutation(n) % k
    row, column = np.mgrid[:16, :16]
    shapes = np.stack([row < 8, column < 8, (row - 8) ** 2 + (column - 8) ** 2 < 30])
    images = rng.integers(0, 70, (n, 3, 16, 16))
    images += rng.integers(90, 180, (n, 3, 1, 1)) * shapes[kinds][:, None]
    return images.astype(np.uint8), kinds


def overlapping(seed: int, n: int = 150, k: int = 4) -> tuple[np.ndarray, np.ndarray]:
    """Clouds of points (n, 16) of which k-means gets about a quarter wrong."""
    rng = np.random.default_rng(seed)
    kinds = rng.permutation(n) % k
    corners = np.linalg.qr(rng.normal(size=(16, 16)))[0][:k]
    return rng.normal(size=(n, 16)) + 2.2 * corners[kinds], kinds


def true_pairs(kinds: np.ndarray, count: int, seed: int = 0) -> Constraints:
    rng = np.random.default_rng(seed + 100)
    pairs = [rng.choice(len(kinds), 2, replace=False) for _ in range(count)]
    links = [(int(a), int(b), bool(kinds[a] == kinds[b])) for a, b in pairs]
    return Constraints.from_links(len(kinds), links)


def own_groups(model: Any, X: np.ndarray) -> np.ndarray:
    """What the network itself says, before answers are honoured by who calls it."""
    data = X if X.ndim == 4 else np.asarray(X, dtype=np.float32)
    groups: np.ndarray = model._learner.read(data).p.argmax(axis=1)
    return groups


def kept_share(groups: np.ndarray, known: Constraints) -> float:
    links = known.links(implied=True)
    return float(((groups[links.a] == groups[links.b]) == links.same).mean())


class NoWait(TorchDispatchMode):
    """Fails where a step would make the host wait for the device, so that it can be recorded."""

    FORBIDDEN = ("_local_scalar_dense", "nonzero", "masked_select", "unique", "equal.default")

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = str(func)
        assert not any(word in name for word in self.FORBIDDEN), f"{name} waits for the device"
        if "aten.index.Tensor" in name:
            boolean = [i for i in args[1] if i is not None and i.dtype == torch.bool]
            assert not boolean, "the shape depends on the values"
        return func(*args, **(kwargs or {}))


def step_without_waiting(model: Any) -> None:
    """One more forward and backward pass of a fitted model, under :class:`NoWait`."""
    trainer: Trainer = model._learner._trainer
    items = torch.from_numpy(trainer.batches.items(trainer.step, trainer.known))
    masks = trainer._batch(items.numpy())[1]
    trainer.network.train()
    with NoWait():
        rows = trainer.views(trainer.data[items], trainer._chance)
        if hasattr(trainer.network, "draw"):
            trainer.network.draw(len(rows), trainer._chance, SchedulePoint(0, 1))
        parts = trainer._parts(rows, items, LinkMasks(*masks), SchedulePoint(0, 1))
        torch.stack(list(parts.values())).sum().backward()  # type: ignore[no-untyped-call]
