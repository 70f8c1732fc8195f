"""Plain vectors in place of images: their views are noisy copies, their backbone is small."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.functional import gelu


class NoisyRows(nn.Module):
    """Two views of each row: some of its numbers left out, and noise added.

    Rows are centred and brought to one scale first, by the mean and spread of the training rows;
    directions keep their proportions.

    Parameters
    ----------
    rows : (n, d) the training rows.
    noise : its spread, where the rows have a spread of about 1.
    left_out : chance of each number to be set to 0, the mean.

    >>> rows = torch.tensor([[2.0, 0.0], [4.0, 0.0], [6.0, 0.0]])
    >>> NoisyRows(rows)(rows, torch.Generator().manual_seed(0)).shape
    torch.Size([6, 2])
    """

    mean: Tensor
    scale: Tensor

    def __init__(self, rows: Tensor, *, noise: float = 0.6, left_out: float = 0.1) -> None:
        super().__init__()
        self.noise, self.left_out = noise, left_out
        mean = rows.mean(dim=0)
        self.register_buffer("mean", mean)
        self.register_buffer("scale", (rows - mean).square().mean().sqrt().clamp_min(1e-12))

    @torch.no_grad()
    def forward(self, rows: Tensor, generator: torch.Generator | None = None) -> Tensor:
        """Views (2B, d) of rows (B, d): the first view of all before the second."""
        twice = self.plain(rows).repeat(2, 1)
        noise = torch.randn(twice.shape, generator=generator, device=rows.device)
        kept = torch.rand(twice.shape, generator=generator, device=rows.device) >= self.left_out
        return twice * kept + self.noise * noise

    def plain(self, rows: Tensor) -> Tensor:
        """Rows with mean 0 and a spread of about 1."""
        return (rows - self.mean) / self.scale

    def exact(self, rows: Tensor) -> Tensor:
        """The same in double precision, where rounding does not depend on the batch."""
        return self.plain(rows.double())


class SingleRows(NoisyRows):
    """One noisy copy of each row.

    >>> rows = torch.tensor([[2.0, 0.0], [4.0, 0.0], [6.0, 0.0]])
    >>> SingleRows(rows)(rows, torch.Generator().manual_seed(0)).shape
    torch.Size([3, 2])
    """

    @torch.no_grad()
    def forward(self, rows: Tensor, generator: torch.Generator | None = None) -> Tensor:
        """Views (B, d) of rows (B, d)."""
        x = self.plain(rows)
        noise = torch.randn(x.shape, generator=generator, device=x.device)
        kept = torch.rand(x.shape, generator=generator, device=x.device) >= self.left_out
        return x * kept + self.noise * noise


class MildStrongRows(SingleRows):
    """Two copies of each row: one with little noise or none, one with much.

    Parameters
    ----------
    rows, noise, left_out : as in :class:`NoisyRows`, of the second copy.
    little : noise of the first copy, of which nothing is left out.
    """

    def __init__(
        self, rows: Tensor, *, little: float = 0.0, noise: float = 0.6, left_out: float = 0.1
    ) -> None:
        super().__init__(rows, noise=noise, left_out=left_out)
        self.little = little

    @torch.no_grad()
    def forward(self, rows: Tensor, generator: torch.Generator | None = None) -> Tensor:
        """Views (2B, d) of rows (B, d): the mild view of all before the strong one."""
        mild = self.plain(rows)
        noise = torch.randn(mild.shape, generator=generator, device=mild.device)
        return torch.cat([mild + self.little * noise, super().forward(rows, generator)])


class RowBackbone(nn.Module):
    """From rows (B, d) to features (B, width): a straight way and one with a bend, added up."""

    def __init__(self, n_in: int, *, width: int = 128) -> None:
        super().__init__()
        self.width = width
        self.straight = nn.Linear(n_in, width)
        self.bend = nn.Linear(n_in, width)
        self.back = nn.Linear(width, width)

    def forward(self, rows: Tensor) -> Tensor:
        """Features (B, width) of rows with a spread of about 1."""
        features: Tensor = self.straight(rows) + self.back(gelu(self.bend(rows)))
        return features
