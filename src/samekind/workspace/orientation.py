"""Build an orientation file from a session: encoder, head and names of the groups."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from samekind import __version__
from samekind.errors import InputError
from samekind.exports.orientation_file import Group, OrientationFile

if TYPE_CHECKING:
    from samekind.session import Session
    from samekind.workspace.pile import Pile


def orientation_of(pile: Pile, session: Session) -> OrientationFile:
    """Collect what the session has learnt, so that it can sort other items elsewhere."""
    from samekind.clusterers.live.portable import portable_head

    encoder: Any = pile.encoded.encoder
    if not hasattr(encoder, "state"):
        raise InputError(
            f"The encoder {encoder.name!r} does not fit into a grouping file. Answer with "
            "another encoder (samekind list), or sort with the pile: samekind predict PATH NEW"
        )
    if session.settings.get("polish"):
        raise InputError(
            f"The groups of {session.name!r} are polished: they depend on a whole network, which "
            "does not fit into a grouping file. Export a table or folders, or undo the polish "
            "on the page."
        )
    head, note = portable_head(session.model, session.X)
    return OrientationFile(
        orientation=session.name,
        kind=pile.collection.kind,
        encoder=encoder.name,
        fingerprint=encoder.fingerprint,
        method=type(session.model).__name__,
        groups=_groups(session, head.labels),
        answers=int(session.progress()["answers"]),
        items=len(session.collection),
        seed=session.seed,
        date=datetime.now(UTC).date().isoformat(),
        samekind=__version__,
        outside=pile.outside,
        columns=tuple(getattr(pile.collection, "columns", ())),
        notes=(note,) if note else (),
        encoder_state=encoder.state(),
        head_state=head.state(),
    )


def _groups(session: Session, labels: Any) -> tuple[Group, ...]:
    """List the groups in the order of the head's labels, with the numbers that people see."""
    clustering, sizes = session.clustering, session.clustering.sizes()
    found = []
    for label in labels:
        number = int(clustering.labels[np.flatnonzero(session.model.labels_ == label)[0]])
        found.append(Group(number, clustering.name(number), sizes[number]))
    return tuple(found)
