"""ResNet-18 and ResNet-34 without the classifier, with the stem for large or for small images."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor, nn

from samekind.errors import InputError

BLOCKS: dict[int, tuple[int, int, int, int]] = {18: (2, 2, 2, 2), 34: (3, 4, 6, 3)}
Stem = Literal["7x7", "3x3"]


class ResNet(nn.Module):
    """From images (B, 3, S, S) to vectors (B, width). Parameters are named as is usual.

    Parameters
    ----------
    depth : 18 or 34.
    stem : "7x7" with stride 2 and max-pooling as published; "3x3" without either, for images of
        about 32 pixels (16 times the work per pixel).
    base : channels of the first stage; the published network has 64, fewer are quicker.
    linear : end with a linear layer of the same width, as TCL's program does. Vectors are its
        output, so they may be negative.

    References
    ----------
    He et al., Deep Residual Learning for Image Recognition, CVPR 2016. Convolutions start from
    He et al. 2015 (normal, fan-out), batch norms from 1 and 0.

    >>> ResNet(18, base=8, stem="3x3")(torch.zeros(2, 3, 32, 32)).shape
    torch.Size([2, 64])
    """

    def __init__(
        self, depth: int = 34, *, stem: Stem = "7x7", base: int = 64, linear: bool = False
    ) -> None:
        super().__init__()
        if depth not in BLOCKS:
            raise InputError(f"There is no ResNet-{depth} here. Choose a depth of 18 or 34.")
        if stem not in ("7x7", "3x3"):
            raise InputError(f"{stem!r} is not a stem of a ResNet. Choose one of: 7x7, 3x3.")
        if base < 1:
            raise InputError(f"A ResNet cannot have {base} channels. Take a base of at least 1.")
        self.depth, self.stem, self.base = depth, stem, base
        self.width = 8 * base
        large = stem == "7x7"
        kernel, stride, padding = (7, 2, 3) if large else (3, 1, 1)
        self.conv1 = nn.Conv2d(3, base, kernel, stride, padding, bias=False)
        self.bn1 = nn.BatchNorm2d(base)
        self.relu = nn.ReLU(inplace=True)
        self.maxpool = nn.MaxPool2d(3, 2, 1) if large else nn.Identity()
        n_blocks = BLOCKS[depth]
        self.layer1 = _stage(base, base, n_blocks[0], stride=1)
        self.layer2 = _stage(base, 2 * base, n_blocks[1], stride=2)
        self.layer3 = _stage(2 * base, 4 * base, n_blocks[2], stride=2)
        self.layer4 = _stage(4 * base, 8 * base, n_blocks[3], stride=2)
        self.fc = nn.Linear(self.width, self.width) if linear else None
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")

    def forward(self, images: Tensor) -> Tensor:
        """Vectors (B, width)."""
        x = self.maxpool(self.relu(self.bn1(self.conv1(images))))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))  # (B, width, S/32, S/32)
        pooled = torch.mean(x, dim=(2, 3))
        return pooled if self.fc is None else self.fc(pooled)


class BasicBlock(nn.Module):
    """Two 3x3 convolutions and a way around them."""

    def __init__(self, n_in: int, n_out: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(n_in, n_out, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(n_out)
        self.relu = nn.ReLU(inplace=True)
        self.conv2 = nn.Conv2d(n_out, n_out, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(n_out)
        self.downsample: nn.Module | None = None
        if stride != 1 or n_in != n_out:
            shortcut = nn.Conv2d(n_in, n_out, 1, stride, bias=False)
            self.downsample = nn.Sequential(shortcut, nn.BatchNorm2d(n_out))

    def forward(self, x: Tensor) -> Tensor:
        """The sum of both ways."""
        around = x if self.downsample is None else self.downsample(x)
        through = self.bn2(self.conv2(self.relu(self.bn1(self.conv1(x)))))
        summed: Tensor = self.relu(through + around)
        return summed


def _stage(n_in: int, n_out: int, n_blocks: int, stride: int) -> nn.Sequential:
    rest = [BasicBlock(n_out, n_out, 1) for _ in range(n_blocks - 1)]
    return nn.Sequential(BasicBlock(n_in, n_out, stride), *rest)
