"""Classes that the frozen image networks were trained on: which of them a photo shows.

The last layer of the network, which turns features into classes, ships with its weights. So the
classes of a photo follow from its stored features without another look at the photo.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from samekind.encoders.frozen.efficientnet import FEATURES, Weights
from samekind.encoders.frozen.lite_weights import read_state

N_TOP = 10
"""Classes of a photo that are kept; the others are hardly ever of use."""


@dataclass(frozen=True)
class PhotoClass:
    """A class of the network.

    Parameters
    ----------
    name : in everyday English.
    wider : words for more than this class, narrow before wide.
    """

    name: str
    wider: tuple[str, ...] = ()

    @property
    def words(self) -> tuple[str, ...]:
        """The name and all wider words."""
        return (self.name, *self.wider)


@cache
def photo_classes() -> tuple[PhotoClass, ...]:
    """The 1000 classes, in the order of the network's outputs.

    >>> photo_classes()[284]
    PhotoClass(name='Siamese cat', wider=('cat', 'animal'))
    """
    text = files(__package__).joinpath("data/imagenet-classes.txt").read_text(encoding="utf-8")
    found: list[PhotoClass] = []
    wide: tuple[str, ...] = ()
    for line in text.splitlines():
        if line.startswith("@"):
            wide = _words(line[1:])
        elif line and not line.startswith("#"):
            name, *wider = _words(line)
            found.append(PhotoClass(name, (*wider, *wide)))
    return tuple(found)


@cache
def concepts() -> tuple[str, ...]:
    """Every name and wider word once: a class has several of them."""
    return tuple(dict.fromkeys(word for one in photo_classes() for word in one.words))


@cache
def concepts_of_classes() -> csr_array:
    """(1000, concepts) 1 where a class has a word."""
    places = {word: place for place, word in enumerate(concepts())}
    rows = [row for row, one in enumerate(photo_classes()) for _ in set(one.words)]
    columns = [places[word] for one in photo_classes() for word in dict.fromkeys(one.words)]
    shape = (len(photo_classes()), len(places))
    return csr_array((np.ones(len(rows), dtype=np.float32), (rows, columns)), shape=shape)


def classify(features: NDArray[np.float32], weights: Weights) -> csr_array:
    """(n, 1000) how probable the likeliest classes are, by features of which the first 1280 count.

    A row that is not finite stands for an unknown photo, and stays empty.
    """
    matrix, bias = _last_layer(weights)
    some = np.asarray(features[:, :FEATURES], dtype=np.float32)
    known = np.isfinite(some).all(axis=1, keepdims=True)
    scores = np.where(known, some, 0.0) @ matrix.T + bias
    p = np.exp(scores - scores.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    top = np.sort(np.argpartition(-p, N_TOP, axis=1)[:, :N_TOP], axis=1)
    values = (np.take_along_axis(p, top, axis=1) * known).astype(np.float32)
    ends = np.arange(0, N_TOP * len(some) + 1, N_TOP)
    shape = (len(some), len(photo_classes()))
    return csr_array((values.ravel(), top.ravel(), ends), shape=shape)


@lru_cache(maxsize=2)
def _last_layer(weights: Weights) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    state = read_state(weights.path())
    return state["_fc.weight"], state["_fc.bias"]


def _words(line: str) -> tuple[str, ...]:
    return tuple(word for part in line.split(",") if (word := part.strip()))
