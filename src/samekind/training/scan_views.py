"""Views other than two random ones of one kind: one of each item, or a mild and a strong one.

Those of plain vectors are :class:`NoisyRows`, so that whoever uses the network treats them alike.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from samekind.training.augment import Family, Views
from samekind.training.rows import NoisyRows
from samekind.training.strong import Strong, StrongFamily


class StrongOnly(nn.Module):
    """One strong view of each picture; `mild` adds the plain picture before it.

    Parameters
    ----------
    family : how plain pictures are brought to the network.
    strong : what may happen to the others; of the same size, mean and std.
    mild : also give the plain pictures, all of them before the strong views.
    dtype, compiled : as in :class:`Strong`.

    >>> views = StrongOnly(Family(16), StrongFamily(16), mild=True)
    >>> images = torch.randint(256, (5, 3, 20, 20), dtype=torch.uint8)
    >>> views(images, torch.Generator().manual_seed(0)).shape
    torch.Size([10, 3, 16, 16])
    """

    def __init__(
        self,
        family: Family,
        strong: StrongFamily,
        *,
        mild: bool = False,
        dtype: torch.dtype = torch.float32,
        compiled: bool = False,
    ) -> None:
        super().__init__()
        self.mild = mild
        self._plain = Views(family, dtype=dtype, compiled=compiled)
        self._strong = Strong(strong, dtype=dtype, compiled=compiled)

    @torch.no_grad()
    def forward(self, images: Tensor, generator: torch.Generator | None = None) -> Tensor:
        """Views (B, 3, S, S) of uint8 images (B, 3, H, W), or (2B, 3, S, S) with mild ones."""
        strong: Tensor = self._strong(images, generator)
        return torch.cat([self.plain(images), strong]) if self.mild else strong

    def plain(self, images: Tensor) -> Tensor:
        """The images (B, 3, S, S) without any chance."""
        return self._plain.plain(images)


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
