"""As many random views of each item as a method wants, the plain item among them or not."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.functional import conv2d, pad

from samekind.errors import InputError
from samekind.training.augment import LUMA, Views
from samekind.training.rows import NoisyRows


class Edges(nn.Module):
    """Views of pictures as their edges: how gray changes to the right, downwards, and zeros.

    The third channel is empty, so that networks for colours take it. Colour itself, which groups
    found without labels hang on too easily, is gone (PICA, IIC).

    Parameters
    ----------
    views : of pictures.

    >>> from samekind.training.augment import FAMILIES
    >>> edges = Edges(Views(FAMILIES["cc-small"]))
    >>> edges.plain(torch.zeros(2, 3, 40, 40, dtype=torch.uint8)).shape
    torch.Size([2, 3, 32, 32])
    """

    kernels: Tensor

    def __init__(self, views: Views) -> None:
        super().__init__()
        self.views = views
        across = torch.tensor([[-1.0, 0.0, 1.0], [-2.0, 0.0, 2.0], [-1.0, 0.0, 1.0]])
        self.register_buffer("kernels", torch.stack([across, across.T])[:, None])  # (2, 1, 3, 3)

    def forward(self, images: Tensor, generator: torch.Generator | None = None) -> Tensor:
        """Two random views (2B, 3, S, S)."""
        return self.of(self.views(images, generator))

    def plain(self, images: Tensor) -> Tensor:
        """The images (B, 3, S, S) without any chance."""
        return self.of(self.views.plain(images))

    @torch.no_grad()
    def of(self, rows: Tensor) -> Tensor:
        """Edges (B, 3, S, S) of views (B, 3, S, S)."""
        with torch.autocast(rows.device.type, enabled=False):
            red, green, blue = rows.float().unbind(dim=1)
            gray = LUMA[0] * red + LUMA[1] * green + LUMA[2] * blue  # (B, S, S)
            framed = pad(gray[:, None], (1, 1, 1, 1), mode="replicate")
            found = conv2d(framed, self.kernels)  # (B, 2, S, S)
            found = torch.cat([found, torch.zeros_like(found[:, :1])], dim=1)
        return found.to(rows.dtype).contiguous(memory_format=torch.channels_last)


class Perturbed(nn.Module):
    """Rows for a trainer: the plain items if wanted, then `copies` random views of each.

    The first view of all items comes before the second, as always. Other numbers of views than two
    are for one process alone.

    Parameters
    ----------
    views : what makes random views of pictures or of vectors.
    copies : random views of each item.
    first_plain : let the items themselves, without any chance, come before them.

    >>> rows = torch.tensor([[2.0, 0.0], [4.0, 0.0], [6.0, 0.0]])
    >>> Perturbed(NoisyRows(rows), copies=3, first_plain=True)(rows).shape
    torch.Size([12, 2])
    """

    def __init__(
        self, views: Views | Edges | NoisyRows, *, copies: int = 1, first_plain: bool = False
    ) -> None:
        super().__init__()
        if copies < 1:
            raise InputError(f"Expected at least one random view, got copies={copies}.")
        self.views, self.copies, self.first_plain = views, copies, first_plain

    @torch.no_grad()
    def forward(self, items: Tensor, generator: torch.Generator | None = None) -> Tensor:
        """Rows (views * B, ...) of items (B, ...)."""
        rows = self._random(items, generator)
        return torch.cat([self.plain(items), rows]) if self.first_plain else rows

    def plain(self, items: Tensor) -> Tensor:
        """The items without any chance."""
        return self.views.plain(items)

    def _random(self, items: Tensor, generator: torch.Generator | None) -> Tensor:
        wanted, views = self.copies * len(items), self.views
        if isinstance(views, NoisyRows):
            twice: Tensor = views(items.repeat((self.copies + 1) // 2, 1), generator)
            return twice[:wanted]
        pictures = views.views if isinstance(views, Edges) else views
        height, width = items.shape[2:]
        drawn = pictures.draw(wanted, height, width, items.device, generator)
        rows = pictures.render(items.repeat(self.copies, 1, 1, 1), drawn)
        return views.of(rows) if isinstance(views, Edges) else rows
