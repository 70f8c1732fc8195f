"""An orientation file applied to other items: the same encoder, the head, and what fits nowhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from samekind.errors import InputError, SamekindError, SourceError, VectorError
from samekind.exports.orientation_file import OrientationFile
from samekind.exports.placements import Placed, Placements

if TYPE_CHECKING:
    from samekind.clusterers.live.portable import PortableHead
    from samekind.encoders import Encoded
    from samekind.items import Collection
    from samekind.protocols import Progress


def place_items(
    file: OrientationFile,
    items: Collection,
    *,
    encoder: str | None = None,
    tolerance: float = 1.0,
    progress: Progress | None = None,
) -> Placements:
    """Place items into the groups of an orientation; the same items come to the same groups.

    Parameters
    ----------
    encoder : must be named when the file asks for one that is not part of samekind: a file does not
        decide which program is run.
    tolerance : items up to this strangeness fit; more than 1 lists fewer that fit no group.
    """
    from samekind.encoders import Encoded, encode_more
    from samekind.workspace.pile import cache_folder

    if items.kind != file.kind:
        raise InputError(
            f"{items.name!r} holds {items.kind} items, but the orientation {file.orientation!r} "
            f"sorts {file.kind} items. Give items of the same sort."
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
        raise SourceError(f"None of the {len(items)} items of {items.name!r} could be read.")
    if more.X.shape[1] != len(head.mean):
        raise VectorError(
            f"The vectors of {items.name!r} have {more.X.shape[1]} numbers, those of the "
            f"orientation {len(head.mean)}. Give vectors made in the same way."
        )
    ids = [items.id(int(i)) for i in more.positions]
    placed = _placed(file, head, ids, more, tolerance)
    return Placements(items.name, file.orientation, placed, skipped)


def fitted_encoder(file: OrientationFile, wanted: str | None = None) -> Any:
    """The encoder that the file asks for, as it was fitted then; any other is an error."""
    from samekind.encoders import ENCODERS, make_encoder

    if wanted is not None and wanted != file.encoder:
        raise InputError(
            f"The orientation {file.orientation!r} needs the encoder {file.encoder!r}; "
            f"{wanted!r} came. Leave --encoder away, or name that one."
        )
    if wanted is None and file.encoder not in ENCODERS:
        raise InputError(
            f"The orientation {file.orientation!r} needs the encoder {file.encoder!r}, which is "
            f"not part of samekind. If you trust it, say so: --encoder {file.encoder}"
        )
    encoder: Any = make_encoder(file.encoder)
    problem: Exception | None = None
    try:
        encoder = encoder.restored(file.encoder_state)
    except SamekindError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        problem = error
    if encoder.fingerprint != file.fingerprint:
        raise InputError(
            f"The orientation {file.orientation!r} needs the encoder {file.fingerprint!r}; here is "
            f"{encoder.fingerprint!r}, whose vectors differ. Install the version that it was made "
            f"with (samekind {file.samekind}), or export it again on this machine."
        )
    if problem is not None:
        raise SourceError(
            f"The orientation file of {file.orientation!r} is damaged: the encoder cannot be "
            f"built from it ({problem}). Export it again."
        ) from problem
    return encoder


def check_columns(file: OrientationFile, items: Collection) -> None:
    """Refuse a table whose columns are not those that were sorted by."""
    columns = tuple(getattr(items, "columns", ()))
    if columns == file.columns:
        return
    missing = [name for name in file.columns if name not in columns]
    extra = [name for name in columns if name not in file.columns]
    what = "; ".join(
        f"{word}: {', '.join(names[:5])}"
        for word, names in (("missing", missing), ("not known", extra))
        if names
    )
    raise VectorError(
        f"The columns of {items.name!r} are not those that {file.orientation!r} was sorted by "
        f"({what or 'another order'}). Give a table with the columns {', '.join(file.columns)}."
    )


def _head(file: OrientationFile) -> PortableHead:
    from samekind.clusterers.live.portable import PortableHead

    try:
        head = PortableHead.from_state(file.head_state)
        if len(head.labels) != len(file.groups):
            raise ValueError(f"{len(head.labels)} groups, but {len(file.groups)} names")
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise SourceError(
            f"The orientation file of {file.orientation!r} is damaged: {error}. Export it again."
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
