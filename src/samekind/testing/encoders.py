"""The contract of an encoder: it reads item by item and gives the same finite vectors."""

from __future__ import annotations

from typing import Any

import numpy as np

from samekind.items import Collection
from samekind.protocols import Encoder


def check_encoder(encoder: Encoder, collection: Collection) -> None:
    """Check that reading is stateless, and vectors are finite, one row per item."""
    assert isinstance(encoder, Encoder)
    assert collection.kind in encoder.kinds, "the example must be of a kind that it reads"
    items = list(collection[:8])
    raw = encoder.read(items)
    if encoder.width is not None:
        assert np.shape(raw) == (len(items), encoder.width)
        assert _close(encoder.read(items[3:4]), raw[3:4]), "an item is read by itself"
    assert encoder.fingerprint == encoder.fingerprint
    X = encoder.fit(raw).transform(raw)
    assert X.dtype in (np.float32, np.uint8), "numbers, or the bytes of pictures"
    assert X.ndim == 2 and len(X) == len(items)
    assert np.isfinite(X).all()
    again = encoder.fit(raw).transform(raw)
    assert _close(again, X), "fitting twice gives the same vectors"
    if encoder.width is not None:
        assert _close(encoder.transform(raw[2:3]), X[2:3]), "a vector does not depend on the others"


def _close(a: Any, b: Any) -> bool:
    return bool(np.allclose(a, b, rtol=1e-3, atol=1e-4))
