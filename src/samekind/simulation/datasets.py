"""The sets of a suite as arrays: what is learnt from, and apart from it what people mean."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from samekind.errors import SourceError
from samekind.items import Collection
from samekind.simulation.settings import Settings
from samekind.sources import LabelledSet
from samekind.sources.files.rows import RowCollection, Rows
from samekind.sources.sets.cifar import CIFAR_SETS, open_cifar
from samekind.sources.sets.named import open_set

EVERY = 5
"""Of a set without a test part every fifth item is held out, where one is wanted."""


@dataclass(frozen=True, eq=False)
class Dataset:
    """What a run learns from (X), and held-out items that it is scored on (apart).

    Labels go to the person and to the scores only.

    Parameters
    ----------
    encoder : who made the vectors; reason : why that one, in words.
    """

    labelled: LabelledSet
    X: NDArray[Any]
    apart: NDArray[Any] | None
    encoder: str = "none"
    reason: str = "arrays are taken as they are"

    def truth(self, orientation: str) -> tuple[NDArray[np.intp], NDArray[np.intp] | None]:
        """The kinds of the items, and of those held out."""
        return self.labelled.truth(orientation)


def material_for(name: str, data: str | None, settings: Settings) -> Dataset:
    """A set as these settings want it; kept, because one process does many runs."""
    return opened(name, data, settings.held_out, settings.encoder, settings.items)


@lru_cache(maxsize=4)
def opened(
    name: str,
    data: str | None = None,
    held_out: bool | str = True,
    encoder: str = "none",
    items: int = 0,
) -> Dataset:
    """A set with its vectors.

    Parameters
    ----------
    data : folder with the files of sets that do not come with the package.
    held_out, encoder, items : as in :class:`~samekind.simulation.settings.Settings`.
    """
    labelled, images = _read(name, data)
    if held_out is False:
        labelled = joined(labelled)
        images = None if images is None else (np.concatenate(images),)
    elif held_out is True and labelled.held_out is None:
        labelled = divided(labelled)
    labelled = _first(labelled, items)
    if encoder != "none":
        return _encoded(labelled, encoder)
    if images is not None:
        apart = images[1] if len(images) > 1 else None
        return Dataset(labelled, images[0][: items or None], apart, "pixels of the pictures")
    made = _array(labelled.collection)
    apart = None if labelled.held_out is None else _array(labelled.held_out)
    return Dataset(labelled, made, apart, "vectors" if made.ndim == 2 else "pixels")


def joined(labelled: LabelledSet) -> LabelledSet:
    """Both parts as one: what OCC learns from, asks about and is scored on."""
    if labelled.held_out is None:
        return labelled
    columns = {
        column: np.concatenate([values, labelled.held_out_orientations[column]])
        for column, values in labelled.orientations.items()
    }
    parts = (labelled.collection, labelled.held_out)
    return LabelledSet(labelled.name, _together(labelled.name, *parts), columns)


def divided(labelled: LabelledSet) -> LabelledSet:
    """A set without a test part, with every fifth item held out."""
    apart = np.arange(len(labelled.collection)) % EVERY == EVERY - 1
    inside, outside = np.flatnonzero(~apart), np.flatnonzero(apart)
    columns = labelled.orientations
    return LabelledSet(
        labelled.name,
        labelled.collection.take(inside.tolist()),
        {name: values[inside] for name, values in columns.items()},
        labelled.collection.take(outside.tolist()),
        {name: values[outside] for name, values in columns.items()},
    )


def _read(name: str, data: str | None) -> tuple[LabelledSet, tuple[NDArray[Any], ...] | None]:
    """A set by its name; pictures that are at hand as arrays come along."""
    if name in CIFAR_SETS:
        pictures = open_cifar(name, data)
        return pictures.labelled, (pictures.images, pictures.held_out_images)
    return open_set(name, data=data), None


def _together(name: str, one: Collection, other: Collection) -> Collection:
    """Two piles as one; rows stay rows, so that their encoder stays the same."""
    if not isinstance(one, RowCollection) or not isinstance(other, RowCollection):
        return Collection(name, [*one, *other], (), one.location)
    rows = Rows(
        np.concatenate([one.matrix, other.matrix]),
        keys=[*one.ids(), *other.ids()],
        picture=one.items.picture,
    )
    return replace(one, items=rows)


def _first(labelled: LabelledSet, items: int) -> LabelledSet:
    if not items or items >= len(labelled.collection):
        return labelled
    return replace(
        labelled,
        collection=labelled.collection.take(range(items)),
        orientations={name: of[:items] for name, of in labelled.orientations.items()},
    )


def _encoded(labelled: LabelledSet, encoder: str) -> Dataset:
    """Vectors by one of the house's encoders, from its cache where they are there.

    An item that cannot be read would shift all labels, so it is an error.
    """
    from samekind.workspace.pile import encoded_pile

    pile = encoded_pile(labelled.collection, encoder=None if encoder == "default" else encoder)
    failed = pile.encoded.failed
    apart = None
    if labelled.held_out is not None:
        more = pile.vectors_of(labelled.held_out)
        apart, failed = more.X, (*failed, *more.failed)
    if failed:
        raise SourceError(
            f"{len(failed)} items of {labelled.name!r} cannot be read, the first is "
            f"{failed[0].id!r}: {failed[0].reason}. Get the files again."
        )
    return Dataset(labelled, pile.X, apart, pile.encoded.encoder.name, pile.reason)


def _array(collection: Collection) -> NDArray[Any]:
    """Items as they are: rows as they stand, pictures as (n, 3, height, width)."""
    if isinstance(collection, RowCollection):
        return np.asarray(collection.matrix)
    loaded = np.stack([np.asarray(item.load()) for item in collection])
    return np.ascontiguousarray(np.moveaxis(loaded, 3, 1)) if loaded.ndim == 4 else loaded
