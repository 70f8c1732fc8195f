"""Several vectors per item: their blocks, their caches, and what is kept of them."""

from __future__ import annotations

from copy import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from samekind.encoders import encode, encode_more, make_encoder
from samekind.encoders.encoding import outside_limit
from samekind.encoders.frozen.wordpiece import pieces_of
from samekind.items import Collection
from samekind.sources import open_source
from samekind.sources.files.texts import TextItem

SENTENCES = [
    *(f"The {animal} sleeps in the {place}." for animal in ("dog", "cat", "puppy", "kitten")
      for place in ("garden", "house", "basket", "sun", "yard")),
    *(f"{firm} shares {moved} on the stock market." for firm in ("Bank", "Oil", "Car", "Phone")
      for moved in ("fell", "rose", "gained", "lost", "crashed")),
]  # fmt: skip


@pytest.fixture(scope="module")
def texts() -> Collection:
    return Collection("texts", [TextItem(str(i), text=t) for i, t in enumerate(SENTENCES)])


@pytest.fixture(scope="module")
def pictures(tmp_path_factory: Any) -> tuple[Collection, Path]:
    return open_source("tiles").take(range(0, 384, 12)), tmp_path_factory.mktemp("cache")


def block(encoded: Any, name: str) -> Any:
    own = next(b for b in encoded.blocks if b.name == name)
    return encoded.X[:, own.start : own.stop]


def test_one_encoder_is_one_block(texts: Collection):
    found = encode(texts, make_encoder("tfidf"))
    assert [(b.name, b.start, b.stop) for b in found.blocks] == [("words", 0, found.X.shape[1])]


def test_pictures_have_four_blocks_and_the_first_is_the_plain_network(pictures: Any):
    tiles, cache = pictures
    mixed = encode(tiles, make_encoder("mixed-images"), cache=cache)
    assert [b.name for b in mixed.blocks] == ["objects", "shapes", "colours", "layout"]
    assert mixed.blocks[-1].stop == mixed.X.shape[1]
    plain = encode(tiles, make_encoder("efficientnet-lite2"), cache=cache)
    np.testing.assert_allclose(block(mixed, "objects"), plain.X, atol=1e-4)
    lengths = [np.sqrt((block(mixed, b.name) ** 2).sum(axis=1).mean()) for b in mixed.blocks]
    assert np.divide(lengths[1:], lengths[0]) == pytest.approx(0.5, rel=1e-3)


def test_the_second_time_nothing_is_read(pictures: Any, monkeypatch: pytest.MonkeyPatch):
    tiles, cache = pictures
    first = encode(tiles, make_encoder("mixed-images"), cache=cache)
    again: Any = make_encoder("mixed-images")
    for part in again.parts:
        monkeypatch.setattr(part, "read", lambda items: pytest.fail("it was read again"))
    np.testing.assert_array_equal(encode(tiles, again, cache=cache).X, first.X)


def test_meaning_is_alike_where_no_word_is(texts: Collection):
    found = encode(texts, make_encoder("mixed-texts"))
    assert [b.name for b in found.blocks] == ["meaning", "words"]
    raw = make_encoder("sentences").read([TextItem(t, text=t) for t in ("dog", "puppy", "tax")])
    likeness = raw @ raw.T
    assert likeness[0, 1] > 0.6 > 0.4 > likeness[0, 2]


def test_a_text_has_the_same_vector_alone_and_among_others(texts: Collection):
    encoder = make_encoder("sentences")
    items = [*texts, TextItem("long", text="word " * 300), TextItem("none", text="")]
    together = encoder.read(items)
    for place in (0, 25, len(items) - 2, len(items) - 1):
        np.testing.assert_allclose(encoder.read([items[place]])[0], together[place], atol=1e-5)


def test_words_are_cut_as_the_network_was_trained():
    # The numbers of the published tokenizer of the same network.
    assert pieces_of("Hello World! it's naïve", 99) == [
        101, 7592, 2088, 999, 2009, 1005, 1055, 15743, 102,
    ]  # fmt: skip
    assert len(pieces_of("word " * 500, 256)) == 256


@pytest.mark.parametrize("name", ["mixed-texts", "mixed-images"])
def test_a_restored_encoder_gives_the_same_vectors(name: str, texts: Collection, pictures: Any):
    items, cache = (texts, None) if name == "mixed-texts" else pictures
    found = encode(items, make_encoder(name), cache=cache)
    encoder: Any = found.encoder
    outside_limit(found, items, cache=cache)  # fits copies, which must not change this one
    again: Any = make_encoder(name)
    again = again.restored(encoder.state())
    assert again.blocks == found.blocks
    more = encode_more(found, items, cache=cache)
    np.testing.assert_allclose(more.X, found.X, atol=1e-5)
    other = copy(found.encoder)
    raw = encoder.read(list(items)[:3])
    assert other.fit(raw).transform(raw).shape[1] != found.X.shape[1]
    np.testing.assert_allclose(again.transform(raw), found.X[:3], atol=2e-3)


def test_an_item_that_one_part_cannot_read_is_left_out(tmp_path: Path):
    from PIL import Image

    for number in range(4):
        Image.new("RGB", (40, 40), (60 * number, 9, 9)).save(tmp_path / f"{number}.png")
    collection = open_source(str(tmp_path))
    (tmp_path / "2.png").write_bytes(b"gone")
    found = encode(collection, make_encoder("mixed-images"))
    assert found.positions.tolist() == [0, 1, 3]
    assert len(found.X) == 3 and [skipped.id for skipped in found.failed] == ["2.png"]
