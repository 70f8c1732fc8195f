"""Networks of other libraries by name, ``timm:NAME``, ``torchvision:NAME``, ``transformers:NAME``.

None of these libraries is required. Each is imported only when one of its networks is requested,
and any failure (also of a broken installation) becomes one sentence.
"""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from samekind.encoders.reduction import Reduced, Reduction
from samekind.errors import InputError, UnknownName
from samekind.items import Item


@dataclass(frozen=True)
class Loaded:
    """A network of another library, with its preprocessing."""

    version: str
    prepare: Callable[[Any], Any]
    """A PIL image to a tensor (3, height, width)."""
    module: Any
    features: Callable[[Any, Any], Any]
    """The module and a batch of tensors to features (n, width)."""


class Network(Reduced):
    """A pretrained image network of timm, torchvision or transformers.

    It is loaded at once, because its width is not known before.

    Parameters
    ----------
    name : library and network, such as ``"timm:vit_small_patch14_dinov2"``.
    components : maximum number of dimensions after the projection.
    """

    kinds: tuple[str, ...] = ("image",)

    def __init__(self, name: str, *, components: int = 256) -> None:
        self.name = name
        self.components = components
        library, _, network = name.partition(":")
        if library not in LIBRARIES or not network:
            raise UnknownName("library of networks", library, LIBRARIES)
        try:
            self._loaded = LIBRARIES[library](network)
            self._device = _device()
            self._loaded.module.eval().to(self._device)
            self.width: int | None = self._features([self._blank()]).shape[1]
        except Exception as problem:  # a broken torchvision raises RuntimeError on import
            raise InputError(
                f"The network {name!r} cannot be loaded: {type(problem).__name__}: {problem}. "
                f"Check that {library} is installed beside torch and that the weights are on this "
                "machine, or use 'efficientnet-lite2', which brings its own."
            ) from problem

    @property
    def fingerprint(self) -> str:
        """Library, network and version."""
        return f"{self.name}/{self._loaded.version}/v1"

    def prepare(self, content: Any) -> Any:
        """The image as the network expects it. Safe to call in advance, in a thread, and twice."""
        from PIL import Image

        if not isinstance(content, Image.Image):
            return content
        return self._loaded.prepare(content.convert("RGB"))

    def read(self, items: Sequence[Item]) -> NDArray[np.float32]:
        """Features (n, width), each item by itself."""
        if not items:
            return np.empty((0, self.width or 0), dtype=np.float32)
        return self._features([item.load() for item in items])

    def fit(self, raw: Any) -> Self:
        """Learn the mean and the principal axes."""
        self._reduction = Reduction(components=self.components).fit(raw)
        return self

    def transform(self, raw: Any) -> NDArray[np.float32]:
        """Centred, scaled to unit length, projected: (n, at most `components`)."""
        return self._reduction.transform(raw)

    def _features(self, contents: Sequence[Any]) -> NDArray[np.float32]:
        import torch

        images = torch.stack([self.prepare(content) for content in contents]).to(self._device)
        with torch.inference_mode():
            features = self._loaded.features(self._loaded.module, images)
        result: NDArray[np.float32] = features.flatten(1).float().cpu().numpy()
        return result

    @staticmethod
    def _blank() -> Any:
        from PIL import Image

        return Image.new("RGB", (64, 64))


def _device() -> str:
    from samekind.compute import best_device

    return best_device().device


def _announce(library: str, network: str) -> None:
    warnings.warn(
        f"{library} downloads the weights of {network!r} if they are not on this machine yet.",
        UserWarning,
        stacklevel=5,
    )


def _timm(network: str) -> Loaded:
    timm = import_module("timm")
    data = import_module("timm.data")
    _announce("timm", network)
    module = timm.create_model(network, pretrained=True, num_classes=0)
    prepare = data.create_transform(**data.resolve_data_config({}, model=module))
    return Loaded(timm.__version__, prepare, module, lambda net, images: net(images))


def _torchvision(network: str) -> Loaded:
    torchvision = import_module("torchvision")
    models = import_module("torchvision.models")
    import torch

    _announce("torchvision", network)
    weights = models.get_model_weights(network).DEFAULT
    module = models.get_model(network, weights=weights)
    for head in ("fc", "classifier", "heads", "head"):  # the last layer is specific to ImageNet
        if hasattr(module, head):
            setattr(module, head, torch.nn.Identity())
            break
    return Loaded(
        f"{torchvision.__version__}-{weights}",
        weights.transforms(),
        module,
        lambda net, images: net(images),
    )


def _transformers(network: str) -> Loaded:
    transformers = import_module("transformers")
    # Only local files: a model's folder, or what was downloaded on purpose before.
    processor = transformers.AutoImageProcessor.from_pretrained(network, local_files_only=True)
    module = transformers.AutoModel.from_pretrained(network, local_files_only=True)

    def prepare(image: Any) -> Any:
        return processor(images=image, return_tensors="pt")["pixel_values"][0]

    def features(net: Any, images: Any) -> Any:
        if hasattr(net, "get_image_features"):  # CLIP, SigLIP: images and texts in one space
            return net.get_image_features(pixel_values=images)
        result = net(pixel_values=images)
        pooled = getattr(result, "pooler_output", None)
        return result.last_hidden_state[:, 0] if pooled is None else pooled

    commit = getattr(module.config, "_commit_hash", None) or _folder_state(network)
    return Loaded(f"{transformers.__version__}-{commit}", prepare, module, features)


def _folder_state(network: str) -> str:
    """A token that changes when the files of a model's folder change."""
    files = sorted(path for path in Path(network).glob("*") if path.is_file())
    state = [(path.name, path.stat().st_size, path.stat().st_mtime_ns) for path in files]
    return hashlib.sha256(repr(state).encode()).hexdigest()[:16]


LIBRARIES: dict[str, Callable[[str], Loaded]] = {
    "timm": _timm,
    "torchvision": _torchvision,
    "transformers": _transformers,
}
