"""Place other items into groups: by a session, or by an orientation file alone."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from samekind.clustering import Clustering
from samekind.errors import InputError, SourceError, VectorError
from samekind.exports.orientation_file import OrientationFile
from samekind.exports.placements import Placed, Placements
from samekind.questions.wording import plural
from samekind.session.refit import check_like

if TYPE_CHECKING:
    from samekind.bulk.prediction import Predicted
    from samekind.clusterers.live.portable import PortableHead
    from samekind.encoders import Encoded
    from samekind.items import Collection
    from samekind.protocols import Progress
    from samekind.session import Session
    from samekind.workspace.pile import Pile


def place_others(
    pile: Pile, session: Session, source: str, progress: Progress | None = None
) -> tuple[Collection, Clustering]:
    """Place the items at a path into the groups of a session.

    Returns the items that could be read, with those that could not among its `skipped`, and the
    groups that they belong to.
    """
    from samekind.encoders import default_cache
    from samekind.sources import open_source

    if session.settings.get("polish"):
        raise InputError(
            f"The groups of {session.name!r} are polished: they depend on a network that is not "
            "kept for other items. Undo the polish on the page, then place them."
        )
    items = open_source(source, cache=default_cache())
    if items.kind != pile.collection.kind:
        raise InputError(
            f"Expected {pile.collection.kind} items, as in {pile.collection.name!r}, got "
            f"{items.kind} items in {source!r}. Give items of the same kind."
        )
    more = pile.vectors_of(items, progress)
    if not len(more.X):
        raise SourceError(f"None of {plural(len(items), 'item')} of {source!r} could be read.")
    check_like(more.X, pile.X, pile.collection.name, f" in {source!r}")
    placed = replace(items.take(more.positions.tolist()), skipped=(*items.skipped, *more.failed))
    names = dict(session.clustering.names)
    return placed, Clustering(session.predict(more.X), more.X, names=names)


def place_items(
    file: OrientationFile,
    items: Collection,
    *,
    encoder: str | None = None,
    tolerance: float = 1.0,
    progress: Progress | None = None,
) -> Placements:
    """Place items into the groups of an orientation file.

    Parameters
    ----------
    encoder : must be given when the file needs one that is not part of samekind: a file must not
        decide which code is run.
    tolerance : items up to this strangeness fit; above 1, fewer items fit no group.
    """
    from samekind.encoders import Encoded, encode_more
    from samekind.workspace.locations import cache_folder

    if items.kind != file.kind:
        raise InputError(
            f"Expected {file.kind} items for the grouping {file.orientation!r}, got "
            f"{items.kind} items in {items.name!r}. Give items of the same kind."
        )
    head = _head(file)
    reader = fitted_encoder(file, encoder)
    check_columns(file, items)
    before = Encoded(
        np.empty((0, len(head.mean)), np.float32), reader, (), np.empty(0, dtype=np.intp)
    )
    more = encode_more(before, items, cache=cache_folder(), progress=progress, outside=True)
    skipped = (*items.skipped, *more.failed)
    if not len(more.X):
        raise SourceError(f"None of {plural(len(items), 'item')} of {items.name!r} could be read.")
    if more.X.shape[1] != len(head.mean):
        raise VectorError(
            f"Expected vectors with {len(head.mean)} numbers, got {more.X.shape[1]} in "
            f"{items.name!r}. Give vectors made in the same way."
        )
    ids = [items.id(int(i)) for i in more.positions]
    placed = _placed(file, head, ids, more, tolerance)
    return Placements(items.name, file.orientation, placed, skipped)


def place_store(
    file: OrientationFile,
    vectors: str,
    out: str,
    *,
    on: str = "local",
    workers: int | None = None,
    tolerance: float = 1.0,
    progress: Progress | None = None,
) -> Predicted:
    """Place every row of a store of vectors into the groups of an orientation file.

    Parameters: see :func:`samekind.bulk.prediction.predict_store`.
    """
    from samekind.bulk.prediction import predict_store
    from samekind.bulk.vector_store import VectorStore

    store = VectorStore.open(vectors)
    return predict_store(
        file,
        _head(file),
        store,
        out,
        on=on,
        workers=workers,
        tolerance=tolerance,
        progress=progress,
    )


def fitted_encoder(file: OrientationFile, wanted: str | None = None) -> Any:
    """Return the encoder of the file, as it was fitted then; any other is an error."""
    from samekind.encoders.restoring import restored_encoder

    where = f"the grouping {file.orientation!r}"
    return restored_encoder(file, where, wanted, remedy="export it again on this machine")


def check_columns(file: OrientationFile, items: Collection) -> None:
    """Raise when the columns of a table are not those of the orientation."""
    columns = tuple(getattr(items, "columns", ()))
    if columns == file.columns:
        return
    missing = [name for name in file.columns if name not in columns]
    extra = [name for name in columns if name not in file.columns]
    what = "; ".join(
        f"{word}: {', '.join(names[:5])}"
        for word, names in (("missing", missing), ("unknown", extra))
        if names
    )
    raise VectorError(
        f"Expected a table with the columns {', '.join(file.columns)}, got other columns in "
        f"{items.name!r} ({what or 'in another order'}). Give a table with the same columns."
    )


def _head(file: OrientationFile) -> PortableHead:
    from samekind.clusterers.live.portable import PortableHead

    try:
        head = PortableHead.from_state(file.head_state)
        if len(head.labels) != len(file.groups):
            raise ValueError(f"{len(head.labels)} groups, but {len(file.groups)} names")
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise SourceError(
            f"The grouping file of {file.orientation!r} is damaged: {error}. Export it again."
        ) from error
    return head


def _placed(
    file: OrientationFile,
    head: PortableHead,
    ids: list[str],
    encoded: Encoded,
    tolerance: float,
) -> tuple[Placed, ...]:
    placing = head.predict(encoded.X)
    strange = head.strangeness(placing)
    if encoded.outside is not None and file.outside:
        strange = np.maximum(strange, encoded.outside / file.outside)
    own = placing.strengths.argmax(axis=1)
    sure = placing.strengths.max(axis=1)
    return tuple(
        Placed(
            id,
            file.groups[group].number,
            file.groups[group].name,
            round(float(confidence), 4),
            bool(strangeness <= tolerance),
            round(float(strangeness), 4),
        )
        for id, group, confidence, strangeness in zip(ids, own, sure, strange, strict=True)
    )
