"""Restore a fitted encoder from what a file keeps of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from samekind.encoders import ENCODERS, make_encoder
from samekind.errors import InputError, SamekindError, SourceError


class SavedEncoder(Protocol):
    """What an orientation file and the manifest of a store keep of their encoder."""

    @property
    def encoder(self) -> str:
        """Its name."""

    @property
    def fingerprint(self) -> str:
        """Its exact version."""

    @property
    def encoder_state(self) -> Mapping[str, Any]:
        """Its learnt parameters."""

    @property
    def samekind(self) -> str:
        """The version of samekind that has saved it."""


def restored_encoder(
    saved: SavedEncoder, where: str, wanted: str | None = None, *, remedy: str
) -> Any:
    """Return an encoder as it was fitted; any other is an error.

    Code that is not part of samekind is only run if the person names it: a file must not decide
    which code is run.

    Parameters
    ----------
    where : what the encoder belongs to, for errors.
    wanted : the name that the person gave. remedy : what helps if it cannot be restored.
    """
    if wanted is not None and wanted != saved.encoder:
        raise InputError(
            f"Expected the encoder {saved.encoder!r} for {where}, got {wanted!r}. Omit --encoder, "
            "or name that one."
        )
    if wanted is None and saved.encoder not in ENCODERS:
        raise InputError(
            f"The encoder {saved.encoder!r} of {where} is not part of samekind. If you trust it, "
            f"add --encoder {saved.encoder}"
        )
    encoder: Any = make_encoder(saved.encoder)
    problem: Exception | None = None
    try:
        encoder = encoder.restored(saved.encoder_state)
    except SamekindError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        problem = error
    if encoder.fingerprint != saved.fingerprint:
        raise InputError(
            f"Expected the encoder {saved.fingerprint!r} for {where}, got "
            f"{encoder.fingerprint!r}, whose vectors differ. Install samekind {saved.samekind}, "
            f"which has saved it, or {remedy}."
        )
    if problem is not None:
        raise SourceError(
            f"The encoder of {where} cannot be restored ({problem}). To mend it, {remedy}."
        ) from problem
    return encoder
