"""The sets of a suite as arrays, with the labels kept apart for people and scores."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from samekind.encoders.blocks import Block
from samekind.errors import SourceError
from samekind.items import Collection
from samekind.protocols import Progress
from samekind.questions.wording import plural
from samekind.registry import with_blocks
from samekind.simulation.settings import Settings
from samekind.sources import CIFAR_SETS, LabelledSet, RowCollection, Rows, open_cifar, open_set

HELD_OUT_EVERY = 5
"""Where a held-out part is wanted and the set has none, every fifth item is held out."""


@dataclass(frozen=True, eq=False)
class Dataset:
    """The arrays that a run learns from (X) and is scored on in addition (heldout).

    Labels go to the person and to the scores only.

    Parameters
    ----------
    encoder : what made the vectors; reason : why that one was chosen, in words.
    blocks : which columns of X belong together; empty: all of them.
    """

    labelled: LabelledSet
    X: NDArray[Any]
    heldout: NDArray[Any] | None
    encoder: str = "none"
    reason: str = "arrays are taken as they are"
    blocks: tuple[Block, ...] = ()

    def for_model(self, model: Any) -> Dataset:
        """The vectors that a method can use, which is told their blocks.

        One that does not weigh several vectors per item gets the first, as it would by default.
        """
        if len(self.blocks) < 2 or "blocks" in with_blocks(model, self.blocks).get_params():
            return self
        first = slice(self.blocks[0].start, self.blocks[0].stop)
        heldout = None if self.heldout is None else self.heldout[:, first]
        return replace(self, X=np.ascontiguousarray(self.X[:, first]), heldout=heldout)

    def truth(self, orientation: str) -> tuple[NDArray[np.intp], NDArray[np.intp] | None]:
        """The kinds of the items, and of those held out."""
        return self.labelled.truth(orientation)


def dataset_for(name: str, data: str | None, settings: Settings) -> Dataset:
    """A set as these settings want it, cached because one process does many runs."""
    return open_dataset(name, data, settings.held_out, settings.encoder, settings.items)


@lru_cache(maxsize=4)
def open_dataset(
    name: str,
    data: str | None = None,
    held_out: bool | str = True,
    encoder: str = "none",
    items: int = 0,
) -> Dataset:
    """Open a set and make its vectors.

    Parameters
    ----------
    data : folder with the files of sets that do not come with the package.
    held_out, encoder, items : as in :class:`~samekind.simulation.settings.Settings`.
    """
    labelled, images = _read(name, data)
    if held_out is False:
        labelled = _merge_parts(labelled)
        images = None if images is None else (np.concatenate(images),)
    elif held_out is True and labelled.held_out is None:
        labelled = _split(labelled)
    labelled = _first(labelled, items)
    if encoder != "none":
        return encoded_dataset(labelled, None if encoder == "default" else encoder, strict=True)
    if images is not None:
        heldout = images[1] if len(images) > 1 else None
        return Dataset(labelled, images[0][: items or None], heldout, "pixels of the pictures")
    X = _array(labelled.collection)
    heldout = None if labelled.held_out is None else _array(labelled.held_out)
    return Dataset(labelled, X, heldout, "vectors" if X.ndim == 2 else "pixels")


def encoded_dataset(
    labelled: LabelledSet,
    encoder: str | None = None,
    progress: Progress | None = None,
    *,
    strict: bool = False,
) -> Dataset:
    """A set with vectors made by an encoder, from the cache where possible.

    Parameters
    ----------
    encoder : its name; None takes the default of the collection.
    strict : raise an error if an item cannot be read; otherwise such items are left out.
    """
    from samekind.workspace.pile import encoded_pile

    pile = encoded_pile(labelled.collection, encoder=encoder, progress=progress)
    failed, heldout = pile.encoded.failed, None
    inside, outside = labelled.orientations, labelled.held_out_orientations
    if failed:
        kept = [labelled.collection.position(id) for id in pile.collection.ids()]
        inside = {column: values[kept] for column, values in inside.items()}
    if labelled.held_out is not None:
        more = pile.vectors_of(labelled.held_out, progress)
        heldout, failed = more.X, (*failed, *more.failed)
        outside = {column: values[more.positions] for column, values in outside.items()}
    if failed and strict:
        raise SourceError(
            f"{plural(len(failed), 'item')} of {labelled.name!r} cannot be read, the first is "
            f"{failed[0].id!r}: {failed[0].reason}. Get the files again."
        )
    readable = replace(
        labelled,
        collection=pile.collection,
        orientations=inside,
        held_out_orientations=outside,
    )
    blocks = pile.encoded.blocks
    return Dataset(readable, pile.X, heldout, pile.encoded.encoder.name, pile.reason, blocks)


def with_mapping(
    labelled: LabelledSet, column: str, mapping: Mapping[str, Any] | None
) -> LabelledSet:
    """The same set with one label column replaced by the groups of a mapping."""
    if mapping is None:
        return labelled
    inside, outside = labelled.truth(column, mapping)
    held_out = labelled.held_out_orientations
    if outside is not None:
        held_out = {**held_out, column: _as_texts(outside)}
    return replace(
        labelled,
        orientations={**labelled.orientations, column: _as_texts(inside)},
        held_out_orientations=held_out,
    )


def _as_texts(codes: NDArray[np.intp]) -> NDArray[Any]:
    return np.where(codes < 0, "", codes.astype(str))


def _merge_parts(labelled: LabelledSet) -> LabelledSet:
    """Training and test part as one set, as OCC uses them."""
    if labelled.held_out is None:
        return labelled
    columns = {
        column: np.concatenate([values, labelled.held_out_orientations[column]])
        for column, values in labelled.orientations.items()
    }
    parts = (labelled.collection, labelled.held_out)
    return LabelledSet(labelled.name, _concatenate(labelled.name, *parts), columns)


def _split(labelled: LabelledSet) -> LabelledSet:
    """A set without a test part, with every fifth item held out."""
    last = np.arange(len(labelled.collection)) % HELD_OUT_EVERY == HELD_OUT_EVERY - 1
    inside, outside = np.flatnonzero(~last), np.flatnonzero(last)
    columns = labelled.orientations
    return LabelledSet(
        labelled.name,
        labelled.collection.take(inside.tolist()),
        {name: values[inside] for name, values in columns.items()},
        labelled.collection.take(outside.tolist()),
        {name: values[outside] for name, values in columns.items()},
    )


def _read(name: str, data: str | None) -> tuple[LabelledSet, tuple[NDArray[Any], ...] | None]:
    """A set by its name, and its pictures where they are arrays already."""
    if name in CIFAR_SETS:
        pictures = open_cifar(name, data)
        return pictures.labelled, (pictures.images, pictures.held_out_images)
    return open_set(name, data=data), None


def _concatenate(name: str, one: Collection, other: Collection) -> Collection:
    """Two collections as one; rows stay rows, so that their encoder stays the same."""
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


def _array(collection: Collection) -> NDArray[Any]:
    """Rows as they stand; pictures as (n, 3, height, width)."""
    if isinstance(collection, RowCollection):
        return np.asarray(collection.matrix)
    loaded = np.stack([np.asarray(item.load()) for item in collection])
    return np.ascontiguousarray(np.moveaxis(loaded, 3, 1)) if loaded.ndim == 4 else loaded
