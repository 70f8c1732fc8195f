"""From a session to an orientation file: encoder, head and names, put together."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from samekind import __version__
from samekind.errors import InputError
from samekind.exports.orientation_file import Group, OrientationFile

if TYPE_CHECKING:
    from samekind.session import Session
    from samekind.workspace.pile import Pile


def orientation_of(pile: Pile, session: Session) -> OrientationFile:
    """What the session has learnt, so that it can be applied to other items elsewhere."""
    from samekind.clusterers.live.portable import portable_head
    from samekind.encoders.cached import most_outside
    from samekind.workspace.pile import cache_folder

    encoder: Any = pile.encoded.encoder
    if not hasattr(encoder, "state"):
        raise InputError(
            f"Vectors of the encoder {encoder.name!r} cannot be made from a small file. Answer "
            "with another encoder (samekind list), or keep the pile: samekind predict PATH NEW"
        )
    if session.settings.get("polish"):
        raise InputError(
            f"The groups of {session.name!r} are polished: they rest on a whole network, which "
            "such a file does not hold. Take the groups home as a table or folders, or take the "
            "polish back on the page."
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
        outside=most_outside(pile.encoded, pile.collection, cache=cache_folder()),
        columns=tuple(getattr(pile.collection, "columns", ())),
        notes=(note,) if note else (),
        encoder_state=encoder.state(),
        head_state=head.state(),
    )


def write_orientation(pile: Pile, session: Session, target: Path) -> str:
    """Write the file; what it holds, how large it is and what to type next, in words."""
    file = orientation_of(pile, session)
    size = file.save(target)
    lines = [f"{target}: {size / 1e6:.2f} MB.", file.describe() + "."]
    lines += [f"Note: {note}" for note in file.notes]
    return "\n".join([*lines, f"Apply it to other items:  samekind predict {target} NEW"])


def _groups(session: Session, labels: Any) -> tuple[Group, ...]:
    """The groups in the order of the head's labels, with the numbers that the person knows."""
    clustering, sizes = session.clustering, session.clustering.sizes()
    found = []
    for label in labels:
        number = int(clustering.labels[np.flatnonzero(session.model.labels_ == label)[0]])
        found.append(Group(number, clustering.name(number), sizes[number]))
    return tuple(found)
