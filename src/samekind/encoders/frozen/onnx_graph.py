"""Write a convolutional network as an ONNX file, without the `onnx` package.

Exporters need `onnx` and `onnxscript` (some 60 MB) for a format of which a plain network uses five
message types. Protocol buffers are length-prefixed fields, so those five are written here. Batch
normalisation is folded into the convolutions, which also makes them faster.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from samekind.encoders.frozen.lite_weights import EPSILON, Layer

OPSET = 13
IR_VERSION = 8
FLOAT, UINT8 = 1, 2  # TensorProto.DataType


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _block(field: int, value: bytes | str) -> bytes:
    data = value.encode() if isinstance(value, str) else value
    return _varint(field << 3 | 2) + _varint(len(data)) + data


class OnnxGraph:
    """Collect nodes and weights of a network from images to vectors, then write the file.

    Parameters
    ----------
    name : the graph's name in the file.
    size : height and width of the images, which come as uint8 (n, size, size, 3).
    """

    def __init__(self, *, name: str, size: int) -> None:
        self._name = name
        self._size = size
        self._nodes: list[bytes] = []
        self._weights: list[bytes] = []
        self._low = self.weight(np.float32(0))
        self._high = self.weight(np.float32(6))

    def node(self, operation: str, inputs: Sequence[str], **attributes: int | list[int]) -> str:
        """Add an operation; returns the name of its result."""
        result = f"t{len(self._nodes)}"
        message = b"".join(_block(1, i) for i in inputs) + _block(2, result) + _block(4, operation)
        for key, value in attributes.items():
            if isinstance(value, int):
                message += _block(5, _block(1, key) + _number(3, value) + _number(20, 2))
            else:
                ints = b"".join(_number(8, v) for v in value)
                message += _block(5, _block(1, key) + ints + _number(20, 7))
        self._nodes.append(message)
        return result

    def weight(self, values: Any) -> str:
        """Add a constant of 32-bit floats; returns its name."""
        array = np.asarray(values, dtype="<f4")
        name = f"w{len(self._weights)}"
        dims = b"".join(_number(1, n) for n in array.shape)
        self._weights.append(
            dims + _number(2, FLOAT) + _block(8, name) + _block(9, array.tobytes())
        )
        return name

    def normalised(self, image: str, *, mean: float, scale: float) -> str:
        """Images as (n, 3, height, width) floats, ``(pixel - mean) / scale``."""
        x = self.node("Cast", [image], to=FLOAT)
        x = self.node("Transpose", [x], perm=[0, 3, 1, 2])
        x = self.node("Sub", [x, self.weight(np.float32(mean))])
        return self.node("Div", [x, self.weight(np.float32(scale))])

    def convolution(self, x: str, layer: Layer) -> str:
        """A convolution without bias followed by its batch normalisation, as one node."""
        kernel, bias = folded(layer)
        before, after = layer.pads
        return self.node(
            "Conv",
            [x, self.weight(kernel), self.weight(bias)],
            kernel_shape=[int(n) for n in kernel.shape[2:]],
            strides=[layer.stride, layer.stride],
            pads=[before, before, after, after],
            group=layer.groups,
        )

    def relu6(self, x: str) -> str:
        """Values clipped to 0..6."""
        return self.node("Clip", [x, self._low, self._high])

    def pooled(self, x: str) -> str:
        """The mean over height and width: (n, channels)."""
        return self.node("Flatten", [self.node("GlobalAveragePool", [x])], axis=1)

    def averaged(self, x: str, side: int, step: int) -> str:
        """Means over square windows `side` wide, `step` apart: (n, channels x windows)."""
        x = self.node("AveragePool", [x], kernel_shape=[side, side], strides=[step, step])
        return self.node("Flatten", [x], axis=1)

    def to_bytes(self, *, input: str, output: str, width: int) -> bytes:
        """The whole file: images named `input` in, vectors of `width` numbers out."""
        graph = b"".join(_block(1, node) for node in self._nodes)
        graph += _block(2, self._name)
        graph += b"".join(_block(5, weight) for weight in self._weights)
        graph += _block(11, _value(input, UINT8, ["n", self._size, self._size, 3]))
        graph += _block(12, _value(output, FLOAT, ["n", width]))
        opset = _block(1, "") + _number(2, OPSET)
        return _number(1, IR_VERSION) + _block(2, "samekind") + _block(7, graph) + _block(8, opset)


def _value(name: str, dtype: int, shape: Sequence[int | str]) -> bytes:
    """A ValueInfoProto: name, type and shape, where a name means a free dimension."""
    dims = b"".join(_block(1, _number(1, n) if isinstance(n, int) else _block(2, n)) for n in shape)
    return _block(1, name) + _block(2, _block(1, _number(1, dtype) + _block(2, dims)))


def folded(layer: Layer) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The kernel and bias of a convolution with its normalisation folded in."""
    mean, var, gain, shift, kernel = (
        np.asarray(array, dtype=np.float64)
        for array in (layer.mean, layer.var, layer.gain, layer.shift, layer.kernel)
    )
    factor = gain / np.sqrt(var + EPSILON)
    return kernel * factor[:, None, None, None], shift - mean * factor
