"""Encoders of a store: fitted on a sample, and restored only as they were."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from drawn_sources import write_pictures
from samekind.bulk.encoders import Fitted, as_fitted, encoder_of, fit_on_sample, vectors_of
from samekind.bulk.manifest import Manifest
from samekind.bulk.readers import Reader, open_reader
from samekind.encoders import encode, make_encoder
from samekind.errors import InputError, SourceError
from samekind.sources import open_source


def manifest_of(fitted: Fitted, reader: Reader) -> Manifest:
    encoder = fitted.encoder
    width = fitted.X.shape[1]
    return Manifest(
        reader.source, reader.kind, encoder.name, encoder.fingerprint, width, len(fitted.entries),
        encoder_state=fitted.state,
    )  # fmt: skip


def test_a_sample_of_everything_gives_the_vectors_of_a_session(tmp_path: Path) -> None:
    folder = write_pictures(tmp_path / "photos", 300)
    (folder / "cut.png").write_bytes(b"nothing")
    reader = open_reader(str(folder))
    fitted = fit_on_sample(reader, make_encoder("pixels"), list(reader.listing()))
    plain = encode(open_source(folder), make_encoder("pixels"))
    np.testing.assert_array_equal(fitted.X, plain.X)
    assert [item.id for item in fitted.broken] == ["cut.png"]
    manifest = Manifest.from_bytes(manifest_of(fitted, reader).to_bytes(), "x")
    again = as_fitted(encoder_of(manifest), manifest.width)
    some = vectors_of(reader, again, fitted.entries[7:9])
    assert some.entries == fitted.entries[7:9]
    np.testing.assert_allclose(some.X, plain.X[7:9], atol=1e-5 * np.abs(plain.X).max())  # 32 bits


def test_texts_are_fitted_together(tmp_path: Path) -> None:
    lines = [f"apple number {i} of tree {i % 7}" for i in range(600)]
    (tmp_path / "t.txt").write_text("\n".join(lines))
    reader = open_reader(str(tmp_path / "t.txt"))
    fitted = fit_on_sample(reader, make_encoder("tfidf"), list(reader.listing()))
    plain = encode(open_source(tmp_path / "t.txt"), make_encoder("tfidf"))
    np.testing.assert_array_equal(fitted.X, plain.X)


def test_another_encoder_is_refused(tmp_path: Path) -> None:
    reader = open_reader(str(write_pictures(tmp_path, 5)))
    fitted = fit_on_sample(reader, make_encoder("pixels"), list(reader.listing()))
    manifest = manifest_of(fitted, reader)
    with pytest.raises(InputError, match="Expected the encoder 'pixels'"):
        encoder_of(manifest, "efficientnet-lite0")
    with pytest.raises(InputError, match="whose vectors differ"):
        encoder_of(replace(manifest, fingerprint="pixels/v0"))
    with pytest.raises(InputError, match=r"If you trust it, add --encoder my\.own:Pixels"):
        encoder_of(replace(manifest, encoder="my.own:Pixels"))
    with pytest.raises(SourceError, match="cannot be restored"):
        encoder_of(replace(manifest, encoder_state={}))
    with pytest.raises(InputError, match="no methods `state` and `restored`"):
        fit_on_sample(reader, make_encoder("images"), list(reader.listing()))


def test_nothing_readable_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(b"nothing")
    reader = open_reader(str(tmp_path))
    with pytest.raises(SourceError, match=r"None of 1 item .* could be read\. .*[^.]\.$"):
        fit_on_sample(reader, make_encoder("pixels"), list(reader.listing()))
