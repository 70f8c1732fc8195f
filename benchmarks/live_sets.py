"""The piles of the suite `live`: vectors for the learner, and apart from them what a person means.

Digits and demo tiles come with the package. The others are files in a folder that the user names:
``cards.parquet``, ``fruits.parquet``, ``cmuface.parquet``, ``colored-mnist.parquet`` (pictures in a
column ``image``, labels in others) and ``cifar10-simclr-pca128.npz`` (``q``, ``scale``, ``label``,
``split``). Pictures are encoded once, by the encoder that the package takes by default; what it
reads from them is kept in a cache folder.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from samekind.encoders import default_encoder, encode, encode_more
from samekind.errors import SourceError, UnknownName
from samekind.items import Collection
from samekind.pile import cache_folder
from samekind.sources import LabelledSet, open_labelled
from samekind.sources.arrays import vectors_collection
from samekind.sources.cifar import class_maps

Vectors = NDArray[np.float32]
Kinds = NDArray[np.intp]
FROZEN = "cifar10-simclr-pca128.npz"
CLEAN = (0.0,)


@dataclass(frozen=True)
class Plan:
    """What is asked of a set.

    Parameters
    ----------
    columns : for each orientation the label column, or for frozen vectors the map of classes.
    metric : the score that tables and curves show first.
    questions : the budget. noise : shares of wrong answers.
    file : where it comes from; empty for sets of the package.
    """

    columns: Mapping[str, str]
    metric: str
    questions: int = 200
    noise: tuple[float, ...] = CLEAN
    file: str = ""


PLANS: dict[str, Plan] = {
    "cifar10-2": Plan(
        {"personalized": "personalized", "default": "default"}, "heldout_acc", 500, file=FROZEN
    ),
    "cifar10": Plan({"class": "default"}, "ari", 500, file=FROZEN),
    "digits": Plan({"digit": "digit"}, "ari", noise=(0.0, 0.05, 0.1, 0.2)),
    "tiles": Plan({name: name for name in ("colour", "shape", "pattern", "count")}, "acc"),
    "cards": Plan(
        {"rank": "rank", "suit": "suit", "colour": "color_name"}, "acc", file="cards.parquet"
    ),
    "fruits": Plan({"species": "species", "colour": "color"}, "acc", file="fruits.parquet"),
    "cmuface": Plan(
        {"identity": "identity", "pose": "pose", "eyes": "eyes"}, "acc", file="cmuface.parquet"
    ),
    "colored-mnist": Plan(
        {"digit": "digit", "colour": "color", "background": "background"},
        "acc",
        file="colored-mnist.parquet",
    ),
}


@dataclass(frozen=True)
class Orientation:
    """What one person means: a kind per item, and per held-out item where there are some."""

    kinds: Kinds
    held_out: Kinds | None = None


@dataclass(frozen=True)
class Material:
    """What a session gets (items and vectors), and what only a person and the scores get.

    Parameters
    ----------
    encoder : who made the vectors, and why that one, in words.
    held_out : vectors of items that take no part in the session.
    """

    name: str
    collection: Collection
    X: Vectors
    held_out: Vectors | None
    orientations: Mapping[str, Orientation]
    encoder: str
    reason: str


def plan_of(name: str) -> Plan:
    """What is asked of a set, by its name."""
    if name not in PLANS:
        raise UnknownName("set", name, PLANS)
    return PLANS[name]


def open_material(name: str, data: Path | None = None, cache: Path | None = None) -> Material:
    """A set with its vectors.

    Parameters
    ----------
    data : the folder with the files. cache : the folder that keeps what encoders have read;
        None: that of the package.
    """
    plan = plan_of(name)
    if not plan.file:
        return _encoded(name, plan, open_labelled(name), cache)
    if data is None or not (data / plan.file).exists():
        raise SourceError(
            f"The set {name!r} needs the file {plan.file}, which is not in "
            f"{'any folder' if data is None else repr(str(data))}. Name its folder with --data."
        )
    if plan.file == FROZEN:
        return _frozen(name, plan, data / plan.file)
    return _encoded(name, plan, _in_one_pile(data / plan.file), cache)


def _in_one_pile(file: Path) -> LabelledSet:
    """All pictures of a file, its test part included: a person sorts the whole folder."""
    from samekind.sources.parquet import column_names, open_labelled_pictures

    labels = [column for column in column_names(file) if column not in ("image", "split")]
    collection, columns = open_labelled_pictures(file, labels)
    return LabelledSet(file.stem, collection, columns)


def _encoded(name: str, plan: Plan, labelled: LabelledSet, cache: Path | None) -> Material:
    """Vectors by the default encoder. A picture that cannot be read would shift all labels."""
    folder = cache or cache_folder()
    encoder, reason = default_encoder(labelled.collection)
    encoded = encode(labelled.collection, encoder, cache=folder)
    failed = encoded.failed
    held_out = None
    if labelled.held_out is not None:
        more = encode_more(encoded, labelled.held_out, cache=folder)
        held_out, failed = more.X, (*failed, *more.failed)
    if failed:
        raise SourceError(
            f"{len(failed)} items of {name!r} cannot be read, the first is {failed[0].id!r}: "
            f"{failed[0].reason}. Get the file again."
        )
    orientations = {
        orientation: Orientation(*labelled.truth(column))
        for orientation, column in plan.columns.items()
    }
    return Material(
        name, labelled.collection, encoded.X, held_out, orientations, encoder.name, reason
    )


def _frozen(name: str, plan: Plan, file: Path) -> Material:
    """Vectors that are ready. The training part is asked about, the test part held out."""
    with np.load(file, allow_pickle=False) as kept:
        X = kept["q"].astype(np.float32) * kept["scale"].astype(np.float32)
        label, apart = kept["label"].astype(np.intp), kept["split"] == 1
    maps = class_maps(name)["orientations"]
    orientations = {
        orientation: Orientation(
            np.asarray(maps[of], dtype=np.intp)[label[~apart]],
            np.asarray(maps[of], dtype=np.intp)[label[apart]],
        )
        for orientation, of in plan.columns.items()
    }
    inside = np.ascontiguousarray(X[~apart])
    return Material(
        name,
        vectors_collection(name, inside, file.name),
        inside,
        np.ascontiguousarray(X[apart]),
        orientations,
        file.stem,
        "the vectors are ready",
    )
