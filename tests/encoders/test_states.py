"""What an encoder has learnt, taken out as plain arrays and put into a fresh one."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from samekind.encoders import encode_more, make_encoder
from samekind.encoders.encoding import encode, outside_limit
from samekind.encoders.reduction import Reduction
from samekind.items import Collection
from samekind.sources import open_source
from samekind.sources.files.texts import TextItem

WORDS = ["apple", "pear", "plum", "sea", "wave", "fish", "car", "road", "wheel", "night", "moon"]


def texts(n: int, seed: int = 0) -> list[str]:
    rng = np.random.default_rng(seed)
    return [" ".join(rng.choice(WORDS, size=6)) + f" word{rng.integers(2000)}" for _ in range(n)]


def raw_of(name: str, seed: int) -> Any:
    rng = np.random.default_rng(seed)
    if name == "tfidf":
        return texts(150, seed)
    if name == "pixels":
        return rng.integers(0, 256, (150, 3072), dtype=np.uint8)
    if name.startswith("efficientnet"):
        return rng.normal(size=(300, 1405)).astype(np.float32)
    return rng.normal(size=(60, 5))


@pytest.mark.parametrize(
    ("name", "exact"),
    [("pixels", True), ("tfidf", False), ("rows", True), ("vectors", True),
     ("efficientnet-lite0", True)],
)  # fmt: skip
def test_a_restored_encoder_gives_the_same_vectors(name: str, exact: bool) -> None:
    encoder: Any = make_encoder(name).fit(raw_of(name, 0))
    state = encoder.state()
    json.dumps({key: value for key, value in state.items() if not hasattr(value, "dtype")})
    assert all(v.dtype.kind in "fiu" for v in state.values() if hasattr(v, "dtype"))
    again: Any = make_encoder(name)
    again = again.restored(state)
    new = raw_of(name, 1)
    here, there = encoder.transform(new), again.transform(new)
    np.testing.assert_allclose(there, here, atol=0 if exact else 2e-3)
    if hasattr(encoder, "outside"):
        np.testing.assert_allclose(again.outside(new), encoder.outside(new), atol=2e-3)


@pytest.mark.parametrize(
    ("name", "key"),
    [("pixels", "mean"), ("pixels", "axes"), ("tfidf", "rarity"), ("rows", "columns")],
)
def test_parts_that_do_not_fit_are_refused(name: str, key: str) -> None:
    encoder: Any = make_encoder(name).fit(raw_of(name, 0))
    state = encoder.state()
    again: Any = make_encoder(name)
    with pytest.raises(ValueError, match="fit"):
        again.restored({**state, key: state[key][:-1]})
    with pytest.raises(KeyError):
        again.restored({})


def test_outside_is_the_distance_to_the_space_of_the_axes() -> None:
    rng = np.random.default_rng(0)
    raw = rng.normal(size=(40, 3)) @ rng.normal(size=(3, 12)) + 5
    reduction = Reduction(components=3, normalise=False).fit(raw)
    away = np.linalg.svd(raw - raw.mean(axis=0))[2][-1]  # across all that the pile spans
    np.testing.assert_allclose(reduction.outside(raw + 7 * away), 7, atol=1e-3)
    np.testing.assert_allclose(reduction.outside(raw), 0, atol=1e-2)


def test_items_like_the_pile_lie_within_the_limit_and_others_do_not() -> None:
    old, new = texts(200), texts(60, seed=5)
    pile = Collection("texts", [TextItem(f"t{k}", text=text) for k, text in enumerate(old)])
    encoded = encode(pile, make_encoder("tfidf"))
    limit = outside_limit(encoded, pile)
    assert limit is not None
    strange = ["completely other things", "nothing of this is known here"]
    more = Collection(
        "more", [TextItem(f"n{k}", text=text) for k, text in enumerate(new + strange)]
    )
    outside = encode_more(encoded, more, outside=True).outside
    assert outside is not None
    assert np.mean(outside[:60] > limit) <= 0.1
    assert (outside[60:] >= limit).all()
    assert encode_more(encoded, more).outside is None


def test_an_encoder_that_tells_everything_has_no_limit() -> None:
    digits = open_source("digits")
    assert outside_limit(encode(digits, make_encoder("vectors")), digits) is None
