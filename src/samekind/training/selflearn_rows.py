"""The self-supervised methods for plain vectors: the same losses on a small network."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from samekind.errors import UnknownName
from samekind.training.losses import BoostLoss, BYOLLoss, CCLoss, ProPosLoss
from samekind.training.momentum import Momentum
from samekind.training.network import Network
from samekind.training.pseudo_labels import PseudoLabels
from samekind.training.rows import MildStrongRows, NoisyRows, RowBackbone
from samekind.training.selflearn_methods import Method
from samekind.training.selflearn_setting import SelfSetting
from samekind.training.simclr import ItemContrast

OUT = 64
"""Numbers of the vectors that are compared."""
HIDDEN = 256
"""Width of projector and predictor of BYOL and ProPos."""
LITTLE = 0.1
"""Noise of the weak views of TCL."""
_USUAL = SelfSetting("simclr")
"""Shares and weights of the methods that do not depend on the kind of data."""


def method_of_rows(name: str, rows: Tensor, k: int, *, average: float) -> Method:
    """A method for rows (n, d) and k groups, with fresh weights.

    Parameters
    ----------
    name : ``simclr``, ``byol``, ``tcl`` or ``propos``.
    average : weight of the past in the slow copy of BYOL and ProPos.
    """
    backbone, n = RowBackbone(rows.shape[1]), len(rows)
    views: Any = NoisyRows(rows)
    if name == "simclr":
        return Method(_contrasting(backbone, k), views, ItemContrast())
    if name == "tcl":
        memory = PseudoLabels(n, k, share=0.5, threshold=_USUAL.sure)
        views = MildStrongRows(rows, little=LITTLE)
        network = _contrasting(backbone, k)
        return Method(network, views, CCLoss(), BoostLoss(memory), memory, 1 - _USUAL.boost)
    if name not in ("byol", "propos"):
        raise UnknownName("method for plain vectors", name, ("simclr", "byol", "tcl", "propos"))
    momentum = Momentum(
        backbone,
        hidden=HIDDEN,
        out=OUT,
        average=average,
        noise=_USUAL.noise if name == "propos" else 0.0,
        noise_from=_USUAL.warm,
    )
    if name == "byol":
        return Method(momentum, views, BYOLLoss())
    loss = ProPosLoss(n, k, weight=_USUAL.scatter)
    return Method(momentum, views, loss, memory=loss, starts=_USUAL.warm)


def _contrasting(backbone: RowBackbone, k: int) -> Network:
    return Network(backbone, k=k, out=OUT, attention=False)
