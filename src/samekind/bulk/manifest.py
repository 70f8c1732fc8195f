"""Manifest: how the vectors of a store were made, kept beside them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from samekind.errors import SourceError

FORMAT, VERSION = "samekind-vectors", 1
FOLDER = "_samekind"
"""Folder within a store for what is not vectors."""


@dataclass(frozen=True, eq=False)
class Manifest:
    """The source of a store and its encoder as it was fitted.

    Parameters
    ----------
    source : where the items are read from, as the person gave it.
    kind : of the items: "image", "text" or "row".
    encoder, fingerprint : name and exact version of the encoder.
    width : numbers per vector.
    fitted_on : items that the encoder was fitted on, a random sample.
    columns : of a table, in order; empty for other items.
    encoder_state : learnt parameters of the encoder: arrays, and plain JSON values.
    outside : how much of an item its vector may miss; None if unknown.
    """

    source: str
    kind: str
    encoder: str
    fingerprint: str
    width: int
    fitted_on: int = 0
    columns: tuple[str, ...] = ()
    samekind: str = ""
    date: str = ""
    outside: float | None = None
    encoder_state: Mapping[str, Any] = field(default_factory=dict, repr=False)

    def to_bytes(self) -> bytes:
        """Return a safetensors file with the arrays of the encoder and all else as JSON."""
        from safetensors.numpy import save

        state = self.encoder_state
        arrays = {k: np.ascontiguousarray(v) for k, v in state.items() if hasattr(v, "dtype")}
        plain = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "encoder_state"}
        plain["encoder_facts"] = {k: v for k, v in state.items() if k not in arrays}
        text = json.dumps(plain | {"version": VERSION}, allow_nan=False, sort_keys=True)
        return save(arrays, {FORMAT: text})

    @classmethod
    def from_bytes(cls, data: bytes, where: str) -> Manifest:
        """Read it again; `where` is named in errors."""
        from safetensors import SafetensorError
        from safetensors.numpy import load

        try:
            head = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])
            plain = json.loads(head["__metadata__"][FORMAT])
            if int(plain.pop("version")) > VERSION:
                raise SourceError(
                    f"The vectors {where!r} were written by samekind {plain['samekind']}. "
                    "Run: pip install --upgrade samekind"
                )
            state = {**plain.pop("encoder_facts"), **load(data)}
            columns = tuple(map(str, plain.pop("columns")))
            return cls(**plain, columns=columns, encoder_state=state)
        except (SafetensorError, ValueError, KeyError, TypeError) as error:
            if isinstance(error, SourceError):
                raise
            raise SourceError(
                f"The manifest of the vectors {where!r} is damaged ({error}). Embed them again."
            ) from error
