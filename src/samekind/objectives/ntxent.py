"""Plain contrast of items: what every constrained loss becomes without answers."""

from __future__ import annotations

from torch import Tensor, nn

from samekind.objectives.similarity import cosines, items_of, positive, without_self


class NTXent(nn.Module):
    r"""The two views of an item attract each other, all other rows repel (SimCLR; CC, Eq. 3-4).

    .. math:: \frac1{2N}\sum_{i=1}^{2N} -\log
        \frac{e^{s_{ii'}/\tau}}{\sum_{k\ne i}e^{s_{ik}/\tau}}

    Parameters
    ----------
    temperature : lower looks harder at the nearest rows, higher treats all alike.

    >>> import torch
    >>> rows = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0], [0.0, 1.0]])
    >>> round(NTXent()(rows).item(), 4)
    0.2395
    """

    def __init__(self, *, temperature: float = 0.5) -> None:
        super().__init__()
        self.temperature = positive("temperature", temperature)

    def forward(self, x: Tensor) -> Tensor:
        """The loss of the rows x (2N, M)."""
        n = items_of(x)
        similarity = cosines(x) / self.temperature  # (2N, 2N)
        own = similarity.diagonal(offset=n).repeat(2)  # (2N,): s is symmetric
        return (without_self(similarity).logsumexp(dim=1) - own).mean()

    def extra_repr(self) -> str:
        return f"temperature={self.temperature}"
