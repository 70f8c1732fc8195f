"""Find photos by words: classes of the network, or what is near them in meaning.

A word that is the name of a class, or a wider word for classes, finds the photos that show it.
Another word finds photos whose likeliest classes mean nearly the same: a photo lies where its
classes lie on average, weighted by their probabilities (ConSE, Norouzi et al. 2014), and a class
lies where its name and its wider words lie on average.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from samekind.atomic_files import draft_name
from samekind.encoders import default_cache
from samekind.encoders.frozen import minilm
from samekind.encoders.frozen.classes import concepts, concepts_of_classes
from samekind.workspace.objects import Objects

MIN_SEEN = 0.15
"""Probability from which a photo counts as showing something."""
MIN_NEAR = 0.55
"""Cosine from which a word counts as near to the name of a class."""
SLACK = 0.1
"""How much farther from a word than the nearest class a photo may be."""
MAX_CLASSES = 150
"""Wider words for more classes than this do not tell where a class lies."""
N_NAMED = 2
"""Classes that are named as near."""

Vectors = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Shown:
    """Which photos show what a word means.

    Parameters
    ----------
    photos : (n,) whether each photo shows it.
    exact : whether the word names a class or several. near : classes with nearly this meaning.
    """

    photos: NDArray[np.bool_]
    exact: bool = False
    near: tuple[str, ...] = ()


def find_shown(
    objects: Objects, wanted: Sequence[str], written: Mapping[str, NDArray[np.bool_]]
) -> tuple[NDArray[np.bool_], list[str]]:
    """Return which photos show each of the words, or have it written, and what is not known.

    Several words may also be one name, as in *teddy bear*. Meanings near to a word are searched
    only if it is written nowhere.
    """
    phrase = shown(objects, " ".join(wanted), by_meaning=False)
    if len(wanted) > 1 and phrase.exact:
        return np.logical_and.reduce(list(written.values())) | phrase.photos, []
    keep = np.ones(objects.classes.shape[0], dtype=bool)
    told = []
    for word in wanted:
        here = written[word]
        found = shown(objects, word, by_meaning=not here.any())
        keep &= here | found.photos
        if found.near:
            nearest = " and ".join(found.near)
            told.append(f"The network has no class “{word}”; nearest to it: {nearest}.")
        elif not found.exact and not here.any():
            told.append(f"No class of the network is near “{word}”.")
    return keep, told


def shown(objects: Objects, word: str, *, by_meaning: bool = True) -> Shown:
    """Return which photos show what a word means, if the network knows it, or what is near it."""
    place = _places().get(_plain(word))
    if place is not None:
        seen = objects.concepts[:, [place]].toarray().ravel()
        return Shown(seen >= MIN_SEEN, exact=True)
    nothing = Shown(np.zeros(objects.classes.shape[0], dtype=bool))
    if not by_meaning or not minilm.installed():
        return nothing
    wanted, known = vector_of(_plain(word)), concept_vectors()
    likeness = known @ wanted
    likeness[[_modifies(_plain(word), name) for name in concepts()]] = 0.0
    near = np.argsort(-likeness, kind="stable")[:N_NAMED]
    near = near[likeness[near] >= MIN_NEAR]
    if not len(near):
        return nothing
    limit = max(MIN_NEAR, float((class_vectors() @ wanted).max()) - SLACK)
    means = _unit(np.asarray(objects.classes @ class_vectors()))
    return Shown(means @ wanted >= limit, near=tuple(concepts()[k] for k in near))


@cache
def _places() -> dict[str, int]:
    return {_plain(name): place for place, name in enumerate(concepts())}


def _plain(word: str) -> str:
    """A word in small letters, in the singular as far as that is easy to tell.

    >>> [_plain(word) for word in ("Dogs", "butterflies", "glass", "Boxes", "buses")]
    ['dog', 'butterfly', 'glass', 'box', 'bus']
    """
    text = " ".join(word.casefold().split())
    for end, singular in (("ies", "y"), ("xes", "x"), ("ches", "ch"), ("shes", "sh"), ("ses", "s")):
        if text.endswith(end) and len(text) > len(end) + 1:
            return text[: -len(end)] + singular
    return text[:-1] if text.endswith("s") and not text.endswith(("ss", "us", "is")) else text


def _modifies(word: str, name: str) -> bool:
    """Whether a word only tells which kind something is: a tree frog is no tree."""
    *before, _ = _plain(name).split()
    return word in before


@lru_cache(maxsize=256)
def vector_of(word: str) -> Vectors:
    """(384,) the meaning of a word."""
    vector: Vectors = _vectors([word])[0]
    return vector


@cache
def concept_vectors() -> Vectors:
    """(concepts, 384) the meanings of all names, computed once and stored in the cache folder."""
    made = "\n".join([minilm.Sentences().fingerprint, *concepts()])
    digest = hashlib.sha256(made.encode()).hexdigest()[:16]
    path = default_cache() / "models" / f"class-names-{digest}.npy"
    shape = (len(concepts()), minilm.FEATURES)
    with suppress(OSError, ValueError):
        stored: Vectors = np.load(path, allow_pickle=False)
        if stored.shape == shape and stored.dtype == np.float32 and np.isfinite(stored).all():
            return stored
    found = _vectors([_plain(name) for name in concepts()])
    with suppress(OSError):  # if they cannot be stored, they are computed again next time
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = draft_name(path).with_suffix(".npy")
        np.save(draft, found)
        draft.replace(path)  # also a damaged one
    return found


def _vectors(texts: Sequence[str]) -> Vectors:
    return _language_network().read_texts(texts)


@cache
def _language_network() -> minilm.Sentences:
    return minilm.Sentences()


@cache
def class_vectors() -> Vectors:
    """(1000, 384) where each class lies among the meanings of words."""
    matrix = concepts_of_classes()
    telling = np.asarray(matrix.sum(axis=0)).ravel() <= MAX_CLASSES
    return _unit(np.asarray(matrix @ (concept_vectors() * telling[:, None])))


def _unit(vectors: NDArray[np.floating[Any]]) -> Vectors:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.maximum(lengths, 1e-12), dtype=np.float32)
