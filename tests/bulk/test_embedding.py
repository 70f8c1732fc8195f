"""Embedding in this process: equal to a session's vectors, each item once, and resumable."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from uuid import uuid4

import numpy as np
import pytest

from bulk.slow_encoder import Slow
from drawn_sources import picture_bytes, write_parquet, write_pictures, write_tar
from samekind.bulk import embedding
from samekind.bulk.embedding import Work, embed
from samekind.bulk.vector_store import VectorStore
from samekind.encoders import encode
from samekind.errors import InputError, SourceError
from samekind.sources import open_source
from samekind.workspace.pile import open_pile

fsspec = pytest.importorskip("fsspec", reason="needs the extra cluster")
pytest.importorskip("lance", reason="needs the extra cluster: pip install 'samekind[cluster]'")
SLOW = "bulk.slow_encoder:Slow"


def stored(path: str | Path) -> dict[str, np.ndarray]:
    """The vectors of a store by id; no id may occur twice."""
    store = VectorStore.open(path)
    rows = np.arange(len(store))
    ids = store.texts(rows)
    assert len(set(ids)) == len(ids)
    return dict(zip(ids, store.vectors(rows), strict=True))


def assert_equal(path: str | Path, expected: dict[str, np.ndarray]) -> None:
    """The same items, and the same vectors up to the rounding of 32 bits."""
    found = stored(path)
    assert found.keys() == expected.keys()
    scale = max(np.abs(x).max() for x in expected.values())
    for id, vector in expected.items():
        np.testing.assert_allclose(found[id], vector, atol=1e-6 * scale)


def in_a_session(source: str | Path, encoder: str | None = None) -> dict[str, np.ndarray]:
    pile = open_pile(str(source), encoder=encoder)
    return dict(zip(pile.collection.ids(), pile.X, strict=True))


def test_a_small_folder_gives_the_vectors_of_a_session(tmp_path: Path) -> None:
    folder = write_pictures(tmp_path / "photos", 90)
    outcome = embed(str(folder), tmp_path / "v.lance", Work("pixels"))
    assert (outcome.n_listed, outcome.n_added, outcome.broken) == (90, 90, ())
    assert_equal(tmp_path / "v.lance", in_a_session(folder, "pixels"))
    made = VectorStore.open(tmp_path / "v.lance").manifest
    assert (made.source, made.kind, made.encoder, made.fitted_on) == (
        str(folder), "image", "pixels", 90,
    )  # fmt: skip
    assert made.outside and made.samekind and made.date


def test_a_sample_is_enough_to_fit_and_the_rest_is_streamed(tmp_path: Path) -> None:
    folder = write_pictures(tmp_path / "photos", 260)
    outcome = embed(str(folder), tmp_path / "v.lance", Work(SLOW, sample=200))
    assert outcome.n_added == 260
    store = VectorStore.open(tmp_path / "v.lance")
    assert store.manifest.fitted_on == 200
    raw = encode(open_source(folder), Slow()).encoder.read(list(open_source(folder)))
    again = Slow().restored(store.manifest.encoder_state).transform(raw)
    assert_equal(store.path, dict(zip(open_source(folder).ids(), again, strict=True)))
    other = embed(str(folder), tmp_path / "w.lance", Work(SLOW, sample=200, seed=1))
    one, two = (VectorStore.open(o.path).manifest.encoder_state["mean"] for o in (outcome, other))
    assert not np.array_equal(one, two)


def test_the_default_encoder_fits_the_items(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("size,colour\n" + "".join(f"{i},c{i % 3}\n" for i in range(40)))
    outcome = embed(str(tmp_path / "t.csv"), tmp_path / "t.lance")
    assert outcome.encoder == "rows" and "standardised" in outcome.reason
    assert_equal(tmp_path / "t.lance", in_a_session(tmp_path / "t.csv"))
    X = np.random.default_rng(0).normal(size=(70, 5)).astype(np.float32)
    np.save(tmp_path / "x.npy", X)
    embed(str(tmp_path / "x.npy"), tmp_path / "x.lance", Work(sample=20))
    np.testing.assert_array_equal(stored(tmp_path / "x.lance")["row-69"], X[69])
    texts = "\n".join(f"apple {i} of tree {i % 7}" for i in range(50))
    (tmp_path / "l.txt").write_text(texts)
    outcome = embed(str(tmp_path / "l.txt"), tmp_path / "l.lance")
    assert outcome.encoder == "sentences"  # a store holds one vector per item unless told otherwise
    embed(str(tmp_path / "l.txt"), tmp_path / "m.lance", Work("mixed-texts"))
    assert_equal(tmp_path / "m.lance", in_a_session(tmp_path / "l.txt"))
    assert [b.name for b in open_pile(tmp_path / "m.lance").encoded.blocks] == ["meaning", "words"]


def test_parquet_and_tar_shards_give_the_vectors_of_the_folder(tmp_path: Path) -> None:
    data = {f"{i:03d}.png": picture_bytes(i) for i in range(80)}
    (tmp_path / "photos").mkdir()
    for name, content in data.items():
        (tmp_path / "photos" / name).write_bytes(content)
    expected = in_a_session(tmp_path / "photos", "pixels")
    names = list(data)
    for k in range(2):
        part = names[40 * k : 40 * k + 40]
        cells = {"image": [data[name] for name in part], "id": part}
        write_parquet(tmp_path / "parquet" / f"{k}.parquet", cells)
        write_tar(tmp_path / "tar" / f"{k}.tar", {name: data[name] for name in part})
    for kind in ("parquet", "tar"):
        embed(str(tmp_path / kind), tmp_path / f"{kind}.lance", Work("pixels"))
        shard = {name: f"{i // 40}.{kind}/{name}" for i, name in enumerate(names)}
        renamed = {shard[id]: vector for id, vector in expected.items()}
        assert_equal(tmp_path / f"{kind}.lance", renamed)


def test_a_bucket_behind_a_url_is_embedded(tmp_path: Path) -> None:
    folder = write_pictures(tmp_path / "photos", 30)
    url = f"memory://{uuid4().hex}/photos"
    fsspec.filesystem("memory").put(str(folder), url, recursive=True)
    embed(url, tmp_path / "v.lance", Work("pixels"))
    assert_equal(tmp_path / "v.lance", in_a_session(folder, "pixels"))


def test_a_second_call_embeds_only_what_is_new(tmp_path: Path) -> None:
    folder, out = write_pictures(tmp_path / "photos", 70), tmp_path / "v.lance"
    embed(str(folder), out, Work("pixels"))
    before, manifest = stored(out), VectorStore.open(out).manifest.to_bytes()
    write_pictures(folder, 5, first=70)
    outcome = embed(str(folder), out)
    assert (outcome.n_before, outcome.n_added, outcome.n_outdated) == (70, 5, 0)
    after = stored(out)
    assert len(after) == 75 and VectorStore.open(out).manifest.to_bytes() == manifest
    for id, vector in before.items():
        np.testing.assert_array_equal(after[id], vector)
    assert VectorStore.open(out).texts(range(70)) == list(before)
    assert embed(str(folder), out).n_added == 0
    (folder / "photo 3.png").unlink()
    assert embed(str(folder), out).n_outdated == 1


def test_broken_items_are_recorded_and_not_tried_again(tmp_path: Path) -> None:
    folder, out = write_pictures(tmp_path / "photos", 150), tmp_path / "v.lance"
    for number in (0, 1, 60, 149):
        (folder / f"bad {number}.png").write_bytes(picture_bytes(number)[:200])
    outcome = embed(str(folder), out, Work("pixels", sample=100))
    bad = {f"bad {number}.png" for number in (0, 1, 60, 149)}
    assert {item.id for item in outcome.broken} == bad and outcome.n_added == 150
    assert all("truncated" in item.reason for item in outcome.broken)
    again = embed(str(folder), out)
    assert {item.id for item in again.broken} == bad and again.n_added == 0
    (folder / "bad 1.png").write_bytes(picture_bytes(1))
    assert embed(str(folder), out).n_added == 1, "its stamp has changed"
    assert len(embed(str(folder), out, Work(retry_broken=True)).broken) == 3
    assert len(stored(out)) == 151


def test_what_cannot_be_an_item_is_named(tmp_path: Path) -> None:
    folder = write_pictures(tmp_path / "photos", 4)
    (folder / "gone.png").symlink_to(folder / "nowhere.png")
    (folder / "notes.txt").write_text("another kind")
    outcome = embed(str(folder), tmp_path / "v.lance", Work("pixels"))
    assert [item.id for item in outcome.left_out] == ["gone.png"] and not outcome.broken
    (tmp_path / "t.csv").write_text("a,b\n1,2\n3\n4,5\n")
    outcome = embed(str(tmp_path / "t.csv"), tmp_path / "t.lance")
    assert [(item.id, outcome.n_added) for item in outcome.left_out] == [("line 3", 2)]


def test_a_store_may_be_behind_a_url(tmp_path: Path) -> None:
    folder, out = write_pictures(tmp_path / "photos", 90), f"file://{tmp_path}/v.lance"
    assert embed(str(folder), out, Work(SLOW, sample=64)).n_added == 90
    write_pictures(folder, 3, first=90)
    assert embed(str(folder), out, Work(SLOW)).n_added == 3
    assert len(stored(out)) == len(stored(tmp_path / "v.lance")) == 93


def test_one_item_on_which_the_encoder_fails_costs_only_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write_pictures(tmp_path / "photos", 40)
    write_pictures(tmp_path / "photos", 1, first=60)
    plain = Slow.read

    def fails(self: Slow, items: list) -> np.ndarray:
        if any(item.id == "photo 60.png" for item in items):
            raise ValueError("a picture that this network cannot take")
        return plain(self, items)

    monkeypatch.setattr(Slow, "read", fails)
    outcome = embed(str(folder), tmp_path / "v.lance", Work(SLOW))
    assert [(b.id, b.reason) for b in outcome.broken] == [
        ("photo 60.png", "a picture that this network cannot take")
    ]
    assert len(stored(tmp_path / "v.lance")) == 40


def test_what_was_done_before_an_interruption_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, out = write_pictures(tmp_path / "photos", 300), tmp_path / "v.lance"

    def stop(doing: str, done: int, total: int | None) -> None:
        if doing == "Embedding" and done > 200:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        embed(str(folder), out, Work(SLOW, sample=64), progress=stop)
    n_kept = len(stored(out))
    assert 150 < n_kept < 300
    assert embed(str(folder), out, Work(SLOW)).n_added == 300 - n_kept
    assert len(stored(out)) == 300
    assert not (out / "_samekind" / "work").exists()


def test_a_killed_process_goes_on_where_it_was(tmp_path: Path) -> None:
    folder, out = write_pictures(tmp_path / "photos", 400), tmp_path / "v.lance"
    code = (
        "from samekind.bulk import embedding\n"
        "embedding.SECONDS_BETWEEN_COMMITS = 0.0\n"
        f"embedding.embed({str(folder)!r}, {str(out)!r}, embedding.Work({SLOW!r}, sample=64))"
    )
    places = os.pathsep.join(path for path in sys.path if path)
    environment = {**os.environ, "PYTHONPATH": places, "SLOW_ENCODER_SECONDS": "0.2"}
    running = subprocess.Popen([sys.executable, "-c", code], env=environment)
    limit = time.monotonic() + 300
    while not (VectorStore.exists(out) and len(VectorStore.open(out)) > 128):
        assert running.poll() is None and time.monotonic() < limit
        time.sleep(0.05)
    running.send_signal(signal.SIGKILL)
    running.wait()
    before = stored(out)
    assert 128 < len(before) < 400
    outcome = embed(str(folder), out, Work(SLOW))
    assert (outcome.n_before, outcome.n_added) == (len(before), 400 - len(before))
    after = stored(out)
    assert len(after) == 400
    for id, vector in before.items():
        np.testing.assert_array_equal(after[id], vector)


def test_two_calls_never_write_at_the_same_time(tmp_path: Path) -> None:
    folder, out = write_pictures(tmp_path / "photos", 5), tmp_path / "v.lance"

    def meanwhile(doing: str, done: int, total: int | None) -> None:
        with pytest.raises(InputError, match="Another process is writing"):
            embed(str(folder), out)

    embed(str(folder), out, Work("pixels"), progress=meanwhile)
    assert len(stored(out)) == 5


def test_clear_errors_before_any_work(tmp_path: Path) -> None:
    folder, out = write_pictures(tmp_path / "photos", 20), tmp_path / "v.lance"
    embed(str(folder), out, Work("pixels"))
    with pytest.raises(InputError, match="Expected the encoder 'pixels'"):
        embed(str(folder), out, Work("efficientnet-lite0"))
    other = write_pictures(tmp_path / "other", 3)
    with pytest.raises(InputError, match="Give that source, or another --out"):
        embed(str(other), out)
    for source, work, words in (
        (str(tmp_path / "nothing"), Work(), "no file or folder"),
        (str(folder), Work("tfidf"), "Expected text items"),
        (str(folder), Work("images"), "no methods `state`"),
        (str(folder), Work("simclr"), "has learnt nothing from"),
    ):
        with pytest.raises(InputError, match=words):
            embed(source, tmp_path / "new.lance", work)
        assert not (tmp_path / "new.lance").exists()
    with pytest.raises(InputError, match=r"ends in \.lance"):
        embed(str(folder), tmp_path / "v.npy")
    with pytest.raises(InputError, match="`batch` to be at least 1, got 0"):
        Work(batch=0)
    for path in other.rglob("*.png"):
        path.write_bytes(b"nothing")
    with pytest.raises(SourceError, match="None of 3 items"):
        embed(str(other), tmp_path / "new.lance", Work("pixels"))
    assert not (tmp_path / "new.lance").exists()
    assert embedding.chunk_size(1) == 64
