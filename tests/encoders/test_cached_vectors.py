"""encode and its cache: resumed, shared, checked, and never trusted when damaged."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from errno import ENOSPC
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lettered_words import Letters, Word, hash_of, words
from samekind.encoders import default_cache, encode, encode_more
from samekind.encoders import feature_cache as feature_cache_module
from samekind.encoders.feature_cache import FeatureCache
from samekind.encoders.simple import Ready, TfIdf
from samekind.errors import InputError, SourceError, VectorError
from samekind.items import Collection
from samekind.protocols import Encoder


def segments(cache: Path, suffix: str) -> list[Path]:
    return sorted(cache.glob(f"vectors/*/*{suffix}"))


def test_our_encoders_and_the_fake_one_keep_the_protocol():
    for encoder in (Letters(), TfIdf(), Ready()):
        assert isinstance(encoder, Encoder)


def test_vectors_come_in_the_order_of_the_items(tmp_path: Path):
    encoded = encode(words(20), Letters(), cache=tmp_path, batch=3)
    expected = np.array([[hash_of(f"w{i}0", k) for k in range(8)] for i in range(20)])
    np.testing.assert_allclose(encoded.X, expected - expected.mean(axis=0), rtol=1e-4, atol=1e-4)
    assert encoded.positions.tolist() == list(range(20))
    assert encoded.failed == ()


def test_a_second_run_reads_no_item(tmp_path: Path):
    first = encode(words(20), Letters(), cache=tmp_path)
    again = Letters()
    second = encode(words(20), again, cache=tmp_path)
    assert again.seen == []
    np.testing.assert_array_equal(first.X, second.X)


def test_only_new_and_changed_items_are_read(tmp_path: Path):
    encode(words(20), Letters(), cache=tmp_path)
    encoder = Letters()
    grown = words(22, w3=Word("w3", version=1))
    encoded = encode(grown, encoder, cache=tmp_path)
    assert sorted(encoder.seen) == ["w200", "w210", "w31"]
    np.testing.assert_array_equal(encoded.X, encode(grown, Letters()).X)


def test_part_of_a_collection_uses_the_cache_of_the_whole(tmp_path: Path):
    encode(words(20), Letters(), cache=tmp_path)
    encoder = Letters()
    encode(words(20).take([4, 9, 2]), encoder, cache=tmp_path)
    assert encoder.seen == []


def test_another_encoder_does_not_see_the_cache(tmp_path: Path):
    encode(words(5), Letters(), cache=tmp_path)
    other = Letters()
    other.fingerprint = "letters/v2"
    encode(words(5), other, cache=tmp_path)
    assert len(other.seen) == 5


def test_a_broken_item_is_reported_and_left_out(tmp_path: Path):
    pile = words(9, w4=Word("w4", broken=True))
    encoded = encode(pile, Letters(), cache=tmp_path, batch=2)
    assert [skipped.id for skipped in encoded.failed] == ["w4"]
    assert "broken" in encoded.failed[0].reason
    assert encoded.positions.tolist() == [0, 1, 2, 3, 5, 6, 7, 8]
    assert len(encoded.X) == 8
    healed = Letters()
    assert len(encode(words(9), healed, cache=tmp_path).X) == 9
    assert healed.seen == ["w40"]


def test_a_broken_item_of_an_encoder_without_cache_is_left_out_too():
    pile = words(4, w1=Word("w1", broken=True))
    encoded = encode(pile, TfIdf())
    assert encoded.positions.tolist() == [0, 2, 3]
    assert [skipped.id for skipped in encoded.failed] == ["w1"]


def test_when_no_item_can_be_read_the_first_reason_is_told():
    pile = words(2, w0=Word("w0", broken=True), w1=Word("w1", broken=True))
    with pytest.raises(SourceError, match=r"None of 2 items.*w0 is broken"):
        encode(pile, Letters())


def test_an_empty_collection_is_refused():
    with pytest.raises(SourceError, match="at least 1 item"):
        encode(Collection("empty", []), Letters())


def test_an_encoder_for_another_kind_is_refused():
    with pytest.raises(InputError, match="row items for the encoder 'vectors', got text items"):
        encode(words(3), Ready())


def test_an_encoder_that_gives_another_width_than_announced_is_refused():
    encoder = Letters()
    encoder.width = 9
    with pytest.raises(VectorError, match="by its width"):
        encode(words(3), encoder)


def test_more_items_are_encoded_without_learning_again(tmp_path: Path):
    encoder = Letters()
    whole = words(12)
    encoded = encode(whole.take(range(10)), encoder, cache=tmp_path)
    more = encode_more(encoded, whole.take([10, 11]), cache=tmp_path)
    assert encoder.fits == 1
    expected = np.array([[hash_of(f"w{i}0", k) for k in range(8)] for i in (10, 11)])
    np.testing.assert_allclose(more.X, expected - encoder.mean, rtol=1e-5)
    nothing = encode_more(encoded, whole.take([]), cache=tmp_path)
    assert nothing.X.shape == (0, encoded.X.shape[1])


def test_items_that_can_decode_a_smaller_copy_are_asked_for_it():
    asked: list[int | None] = []

    class Photo(Word):
        def load(self, size: int | None = None) -> str:
            asked.append(size)
            return self.id

    class Shrinking(Letters):
        size = 260

        def prepare(self, content: str) -> str:
            return content.upper()

    encoder = Shrinking()
    encode(Collection("photos", [Photo("a"), Photo("b")]), encoder)
    assert asked == [260, 260]
    assert encoder.seen == ["A", "B"]


def test_progress_counts_up_to_all_items_and_may_cancel(tmp_path: Path):
    calls: list[tuple[int, int]] = []
    encode(words(10), Letters(), batch=4, progress=lambda *call: calls.append(call))
    assert calls == [(0, 10), (4, 10), (8, 10), (10, 10)]

    def cancel(done: int, total: int) -> None:
        if done >= 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        encode(words(10), Letters(), cache=tmp_path, batch=4, progress=cancel)
    rest = Letters()
    encode(words(10), rest, cache=tmp_path)
    assert len(rest.seen) == 6


KILLED = """
import sys, time
from pathlib import Path
sys.path[:0] = [{tests!r}, *{path!r}]
import test_cached_vectors as t
from samekind.encoders import encode

class Slow(t.Letters):
    def read(self, items):
        # However busy the machine is, most items are left when the process is killed.
        time.sleep(0.02 if len(self.seen) < 200 else 3600)
        return super().read(items)

def show(done, total):
    print(done, flush=True)

encode(t.words(400), Slow(), cache=Path({cache!r}), batch=4, progress=show)
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no SIGKILL here")
def test_a_killed_run_goes_on_at_the_last_finished_batch(tmp_path: Path):
    cache = tmp_path / "cache"
    program = KILLED.format(tests=str(Path(__file__).parent), path=sys.path, cache=str(cache))
    with subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(program)], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if int(line) >= 20:
                break
        process.send_signal(signal.SIGKILL)
        told = [int(line) for line in process.stdout]
    finished = max([20, *told])
    assert finished < 400
    encoder = Letters()
    encoded = encode(words(400), encoder, cache=cache)
    assert len(encoder.seen) <= 400 - finished
    np.testing.assert_array_equal(encoded.X, encode(words(400), Letters()).X)


def damage(path: Path, how: str) -> None:
    data = bytearray(path.read_bytes())
    if how == "flipped":
        data[len(data) // 2] ^= 0x40
    elif how == "truncated":
        del data[len(data) * 2 // 3 :]
    elif how == "emptied":
        data.clear()
    else:
        data[:] = os.urandom(len(data))
    path.write_bytes(data)


@pytest.mark.parametrize("suffix", [".rows", ".index"])
@pytest.mark.parametrize("how", ["flipped", "truncated", "emptied", "overwritten"])
def test_a_damaged_cache_is_never_trusted_and_mends_itself(tmp_path: Path, suffix: str, how: str):
    pile = words(30)
    right = encode(pile, Letters(), cache=tmp_path).X
    (path,) = segments(tmp_path, suffix)
    damage(path, how)
    encoder = Letters()
    np.testing.assert_array_equal(encode(pile, encoder, cache=tmp_path).X, right)
    assert encoder.seen  # what was damaged was read again
    mended = Letters()
    np.testing.assert_array_equal(encode(pile, mended, cache=tmp_path).X, right)
    assert mended.seen == []


def test_a_lost_half_of_the_cache_is_computed_again(tmp_path: Path):
    pile = words(6)
    right = encode(pile, Letters(), cache=tmp_path).X
    segments(tmp_path, ".rows")[0].unlink()
    np.testing.assert_array_equal(encode(pile, Letters(), cache=tmp_path).X, right)


def test_a_full_disk_costs_the_cache_and_one_warning_only(tmp_path, monkeypatch):
    class Full(feature_cache_module._Segment):
        def append(self, keys: Any, rows: Any) -> None:
            if self._n_rows >= 8:
                raise OSError(ENOSPC, "No space left on device")
            super().append(keys, rows)

    monkeypatch.setattr(feature_cache_module, "_Segment", Full)
    with pytest.warns(RuntimeWarning, match="No space left on device") as caught:
        encoded = encode(words(20), Letters(), cache=tmp_path, batch=4)
    assert len(caught) == 1
    np.testing.assert_array_equal(encoded.X, encode(words(20), Letters()).X)
    monkeypatch.undo()
    encoder = Letters()
    encode(words(20), encoder, cache=tmp_path)
    assert len(encoder.seen) == 12  # the two batches from before the disk was full are kept


def test_a_cache_folder_that_cannot_be_made_is_no_obstacle(tmp_path: Path):
    in_the_way = tmp_path / "file"
    in_the_way.write_text("not a folder")
    with pytest.warns(RuntimeWarning, match="cannot be stored"):
        encoded = encode(words(5), Letters(), cache=in_the_way)
    assert len(encoded.X) == 5


def test_many_quiet_segments_are_merged_without_losing_a_row(tmp_path: Path):
    for n in range(1, 12):
        encode(words(n), Letters(), cache=tmp_path)
    paths = segments(tmp_path, ".index")
    assert len(paths) == 11
    long_ago = time.time() - 2 * feature_cache_module.QUIET_SECONDS
    for path in paths:
        os.utime(path, (long_ago, long_ago))
    encode(words(11), Letters(), cache=tmp_path)
    assert len(segments(tmp_path, ".index")) == len(segments(tmp_path, ".rows")) == 1
    encoder = Letters()
    encode(words(11), encoder, cache=tmp_path)
    assert encoder.seen == []


def test_segments_that_may_have_a_writer_are_left_alone(tmp_path: Path):
    for n in range(1, 12):
        encode(words(n), Letters(), cache=tmp_path)
    encode(words(11), Letters(), cache=tmp_path)
    assert len(segments(tmp_path, ".index")) == 11


def test_two_writers_at_once_do_not_disturb_each_other(tmp_path: Path):
    one = FeatureCache.at(tmp_path, "set", fingerprint="f", width=2)
    two = FeatureCache.at(tmp_path, "set", fingerprint="f", width=2)
    for k in range(5):
        one.add([f"a{k}"], ["s"], np.full((1, 2), k, dtype=np.float32))
        two.add([f"b{k}"], ["s"], np.full((1, 2), -k, dtype=np.float32))
    one.close()
    two.close()
    found = FeatureCache.at(tmp_path, "set", fingerprint="f", width=2)
    for k in range(5):
        a, b = found.get(f"a{k}", "s"), found.get(f"b{k}", "s")
        assert a is not None
        assert b is not None
        assert (a.tolist(), b.tolist()) == ([k, k], [-k, -k])


class Matrix(Collection):
    """As a table of ready vectors gives it: rows on demand and the whole as one array."""

    matrix: np.ndarray


def test_a_collection_with_a_matrix_is_neither_copied_nor_loaded():
    class Number(Word):
        kind = "row"

        def load(self) -> Any:
            raise AssertionError("no item is loaded one by one")

    pile = Matrix("numbers", [Number(str(i)) for i in range(50)])
    vectors = np.random.default_rng(0).normal(size=(50, 3)).astype(np.float32)
    object.__setattr__(pile, "matrix", vectors)
    encoded = encode(pile, Ready())
    assert np.shares_memory(encoded.X, vectors)
    assert encoded.positions.tolist() == list(range(50))


def test_the_cache_folder_can_be_chosen_by_the_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("SAMEKIND_HOME", str(tmp_path))
    assert default_cache() == tmp_path / "cache"
    monkeypatch.delenv("SAMEKIND_HOME")
    assert default_cache().name == "samekind"
