"""Saved sessions that a stranger has prepared, or that were damaged: one sentence each."""

from __future__ import annotations

import io
import json
import os
import random
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from benchmarks.faults import bombs, hostile_files
from benchmarks.faults.damage import spoiled
from benchmarks.faults.hostile_files import changed, facts_of, with_facts
from samekind.errors import SamekindError, SourceError
from samekind.session import Session
from samekind.sources.files import archives
from samekind.workspace import saved_session

Facts = dict[str, Any]
DEEP = b"[" * 200_000


def saved(folder: Path, data: Any) -> bytes:
    """A saved session with two answers."""
    session = Session(data, seed=1)
    for _ in range(2):
        asked = session.ask()
        assert asked is not None
        session.tell(asked.number, asked.question.choices()[0])
    session.save(folder / "good.session")
    return (folder / "good.session").read_bytes()


@pytest.fixture(scope="module")
def vectors(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return saved(tmp_path_factory.mktemp("vectors"), np.random.default_rng(0).normal(size=(20, 3)))


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    numbers = np.random.default_rng(0).normal(size=(20, 2))
    frame = pd.DataFrame(numbers, columns=["a", "b"]).assign(word=["p", "q"] * 10)
    return saved(tmp_path_factory.mktemp("table"), frame)


@pytest.fixture(scope="module")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Two pictures that are files, and none in memory."""
    folder = tmp_path_factory.mktemp("pictures")
    for name in ("red", "blue", "green"):
        Image.new("RGB", (24, 24), name).save(folder / f"{name}.png")
    return saved(folder, sorted(folder.glob("*.png")))


@pytest.fixture(scope="module")
def previews(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Pictures in memory."""
    given = [Image.new("RGB", (24, 24), name) for name in ("red", "blue", "green")]
    return saved(tmp_path_factory.mktemp("previews"), given)


@pytest.fixture
def load(tmp_path: Path) -> Callable[[bytes], Session]:
    def load(content: bytes) -> Session:
        (tmp_path / "a.session").write_bytes(content)
        return Session.load(tmp_path / "a.session")

    return load


def refusal(load: Callable[[bytes], Session], content: bytes) -> str:
    with pytest.raises(SamekindError) as refused:
        load(content)
    sentence = str(refused.value)
    assert len(sentence) < 500 and "Traceback" not in sentence
    return sentence


FACTS: dict[str, Callable[[Facts], object]] = {
    "a list": lambda facts: [facts],
    "a number": lambda facts: 7,
    "nothing": lambda facts: None,
    "no version": lambda facts: {**facts, "version": None},
    "no name": lambda facts: {**facts, "name": None},
    "a list as name": lambda facts: {**facts, "name": ["main"] * 9999},
    "a text as pace": lambda facts: {**facts, "refit_every": "soon"},
    "no collection": lambda facts: {**facts, "collection": []},
    "a text as collection": lambda facts: {**facts, "collection": "cells"},
    "an encoder that is a list": lambda facts: {**facts, "encoder": [1, 2]},
    "an encoder that is unknown": lambda facts: {**facts, "encoder": {"name": ["rows"]}},
}
ROWS: dict[str, Facts] = {
    "empty cells": {"cells": {"a": []}},
    "cells that are a list": {"cells": [["a"]]},
    "cells within cells": {"cells": {"a": [[1.0]] * 20}},
    "cells that are too few": {"cells": {"a": [1.0] * 19}},
    "cells of two kinds": {"cells": {"a": ["x", None] * 10}},
    "keys that are too few": {"keys": ["a"]},
    "no keys at all": {"keys": []},
    "keys that are not texts": {"keys": [1] * 20},
    "keys that are one text": {"keys": 7},
    "the same keys": {"keys": ["a"] * 20},
    "columns that are numbers": {"columns": [1, 2]},
    "no name": {"name": None},
}
ITEMS: dict[str, Facts] = {
    "no items": {"items": []},
    "items that are numbers": {"items": [1, 2, 3]},
    "items without a path": {"items": [["a", "b"]]},
    "a number as id": {"items": [[1, "b", None]] * 3},
    "a list as path": {"items": [["a", "b", ["x.png"]]] * 3},
    "the same ids": {"items": [["a", "b", "/x.png"]] * 3},
    "items that are not there": {"items": [[f"{k}", "b", None] for k in range(9)]},
    "another kind": {"kind": "row"},
    "a kind that is a list": {"kind": ["image"]},
}
EVENTS: dict[str, bytes] = {
    "deep": DEEP,
    "deep data": b'["told", {"a": ' + DEEP,
    "an object": b"{}",
    "no time": b'["told", {}]',
    "a list as data": b'["told", [], 1.0]',
    "a number as kind": b"[7, {}, 1.0]",
    "not a number as time": b'["told", {}, NaN]',
    "an unknown kind": b'["exploded", {}, 1.0]',
    "a kind that is part of the class": b'["_init__", {}, 1.0]',
    "questions that are numbers": b'["proposed", {"questions": [1], "snapshot": 0}, 1.0]',
    "an answer to nothing": b'["told", {"number": 99, "choice": "same", "by": "me"}, 1.0]',
    "a huge seed": b'["opened", {"seed": -1, "settings": {}}, 1.0]',
    "settings that are a list": b'["opened", {"settings": [1]}, 1.0]',
    "a method that is a list": b'["opened", {"settings": {"method": ["live"]}}, 1.0]',
    "a method with strange settings": b'["opened", {"settings": {"method": "kmeans", "groups": "x"}}, 1.0]',
    "a refit without marks": b'["refitted", {"snapshot": 1, "after": 0, "last": 2, "marks": 7}, 1.0]',
    "bytes": bytes(range(256)),
}


@pytest.mark.parametrize("what", list(FACTS))
def test_malformed_facts_are_refused(
    load: Callable[[bytes], Session], vectors: bytes, what: str
) -> None:
    sentence = refusal(load, with_facts(vectors, FACTS[what](facts_of(vectors))))
    assert "a.session" in sentence


@pytest.mark.parametrize("what", list(ROWS))
def test_malformed_rows_are_refused(
    load: Callable[[bytes], Session], table: bytes, what: str
) -> None:
    facts = facts_of(table)
    refusal(load, with_facts(table, {**facts, "collection": {**facts["collection"], **ROWS[what]}}))


@pytest.mark.parametrize("what", list(ITEMS))
def test_malformed_items_are_refused(
    load: Callable[[bytes], Session], previews: bytes, what: str
) -> None:
    facts = facts_of(previews)
    content = {**facts, "collection": {**facts["collection"], **ITEMS[what]}}
    refusal(load, with_facts(previews, content))


@pytest.mark.parametrize("what", list(EVENTS))
def test_malformed_events_are_refused(
    load: Callable[[bytes], Session], vectors: bytes, what: str
) -> None:
    refusal(load, changed(vectors, {"events.jsonl": EVENTS[what]}))


@pytest.mark.parametrize(
    "array",
    [
        np.zeros((19, 3), dtype=np.float32),
        np.zeros(20, dtype=np.float32),
        np.zeros((20, 3), dtype=np.complex64),
        np.full((20, 3), np.nan, dtype=np.float32),
        np.zeros((20, 0), dtype=np.float32),
        np.zeros((20, 3), dtype="U4"),
        np.zeros(20, dtype=[("a", "f4")]),
    ],
    ids=["too few", "one axis", "complex", "not finite", "no columns", "texts", "records"],
)
def test_other_arrays_in_the_place_of_vectors_are_refused(
    load: Callable[[bytes], Session], vectors: bytes, array: Any
) -> None:
    content = io.BytesIO()
    np.save(content, array)
    refusal(load, changed(vectors, {"vectors.npy": content.getvalue()}))


@pytest.mark.parametrize("name", ["session.json", "events.jsonl", "vectors.npy", "rows.npy"])
def test_noise_in_any_file_of_a_session_is_refused(
    load: Callable[[bytes], Session], vectors: bytes, name: str
) -> None:
    for noise in (b"", b"\0" * 99, DEEP, b"{}", b"[]", b"null"):
        if (name, noise) != ("events.jsonl", b""):  # a session without answers
            refusal(load, changed(vectors, {name: noise}))


def test_a_preview_that_is_not_a_picture_is_refused(
    load: Callable[[bytes], Session], previews: bytes
) -> None:
    for noise in (b"", b"hello", bombs.png(50_000)):
        assert "preview of 'image-1'" in refusal(load, changed(previews, {"items/1": noise}))


@pytest.mark.parametrize("which", ["vectors", "table", "pictures", "previews"])
def test_changed_bytes_are_refused_or_harmless(
    load: Callable[[bytes], Session], which: str, request: pytest.FixtureRequest
) -> None:
    good, rng = request.getfixturevalue(which), random.Random(which)
    wanted = state_of(load(good))
    ends = {"harmless": 0, "refused": 0}
    for _ in range(60):
        try:
            found = load(spoiled(good, rng))
        except SamekindError as sentence:
            assert len(str(sentence)) < 500
            ends["refused"] += 1
        else:
            assert state_of(found) == wanted
            ends["harmless"] += 1
    assert ends["refused"] > 20


def state_of(session: Session) -> tuple[object, ...]:
    return (
        session.X.tobytes(),
        session.labels.tolist(),
        [(answer.number, answer.question, answer.choice) for answer in session.answers],
        list(session.collection.ids()),
        [item.preview() for item in session.collection],
    )


def test_events_changed_within_their_text_are_refused_or_read_as_events(
    load: Callable[[bytes], Session], vectors: bytes
) -> None:
    """The archive's checksums do not help against someone who writes new ones."""
    from zipfile import ZipFile

    rng = random.Random(3)
    with ZipFile(io.BytesIO(vectors)) as file:
        texts = {name: file.read(name) for name in ("events.jsonl", "session.json", "vectors.npy")}
    for k in range(90):
        name = list(texts)[k % 3]
        try:
            load(changed(vectors, {name: spoiled(texts[name], rng)}))
        except SamekindError as sentence:
            assert "Traceback" not in str(sentence)


def test_nothing_in_a_saved_session_is_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mark = tmp_path / "code was run"
    hostile_files.write_module(tmp_path, mark)
    monkeypatch.syspath_prepend(tmp_path)
    exec((tmp_path / f"{hostile_files.MODULE}.py").read_text())
    assert mark.exists(), "the module would leave the mark"
    mark.unlink()
    attempts = list(hostile_files.sessions(tmp_path, mark))
    assert len(attempts) == 9
    for path, opener in attempts:
        with pytest.raises(SamekindError):
            opener(path)
        assert not mark.exists(), path.name
    assert hostile_files.MODULE not in sys.modules


@pytest.mark.parametrize("name", list(bombs.SESSIONS))
def test_a_bomb_takes_no_memory(
    load: Callable[[bytes], Session],
    vectors: bytes,
    name: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(bombs, "HUGE", 100)
    (tmp_path / "a.session").write_bytes(bombs.SESSIONS[name](vectors))
    tracemalloc.start()
    try:
        with pytest.raises(SourceError, match=r"a\.session.*Give another file"):
            Session.load(tmp_path / "a.session")
        assert tracemalloc.get_traced_memory()[1] < 4_000_000
    finally:
        tracemalloc.stop()


def test_a_table_of_few_words_is_no_bomb(
    load: Callable[[bytes], Session], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(0)
    words = ["a value that is not known", "another"]
    columns = {f"c{k}": rng.choice(words, 2000, p=[0.97, 0.03]) for k in range(9)}
    content = saved(tmp_path, pd.DataFrame(columns))
    monkeypatch.setattr(archives, "MAX_SMALL", 1)
    assert len(load(content).collection) == 2000
    limit = archives.MAX_RATIO * len(content)
    assert saved_session.BYTES_PER_JSON_BYTE * len(json.dumps(facts_of(content))) > limit


def test_a_session_larger_than_half_of_the_memory_is_refused(
    load: Callable[[bytes], Session], vectors: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archives, "physical_memory", lambda: 2 * 50_000_000)
    load(vectors)
    monkeypatch.setattr(archives, "physical_memory", lambda: 2 * 5_000)
    assert "half of the memory" in refusal(load, vectors)
    monkeypatch.setattr(archives, "physical_memory", lambda: 2 * 500_000)
    monkeypatch.setattr(saved_session, "BYTES_PER_ITEM", 100_000)
    assert "half of the memory" in refusal(load, vectors)


def with_path(pictures: bytes, path: Path | str) -> bytes:
    facts = facts_of(pictures)
    facts["collection"]["items"][1][2] = str(path)
    return with_facts(pictures, facts)


def test_only_regular_picture_files_are_read(
    load: Callable[[bytes], Session], pictures: bytes, tmp_path: Path
) -> None:
    assert len(load(pictures).collection) == 3
    pipe, device, folder = tmp_path / "a.png", tmp_path / "b.png", tmp_path / "c.png"
    os.mkfifo(pipe)
    device.symlink_to("/dev/zero")
    folder.mkdir()
    for path in (pipe, device, folder):
        assert "not a regular file" in refusal(load, with_path(pictures, path))
    for path in ("/etc/passwd", "/dev/zero", "", "~/.ssh/id_rsa"):
        assert "not the path of a picture" in refusal(load, with_path(pictures, path))


def test_a_picture_that_is_gone_does_not_hinder_a_session(
    load: Callable[[bytes], Session], pictures: bytes, tmp_path: Path
) -> None:
    session = load(with_path(pictures, tmp_path / "gone.png"))
    assert len(session.labels) == 3
    with pytest.raises(SourceError, match="cannot be decoded"):
        session.collection[1].load()


def test_a_session_of_a_newer_samekind_is_refused(
    load: Callable[[bytes], Session], vectors: bytes
) -> None:
    newer = {**facts_of(vectors), "version": 2, "samekind": "9.1", "collection": "of another form"}
    sentence = refusal(load, with_facts(vectors, newer))
    assert "'9.1'" in sentence and "expected version 1" in sentence
    assert sentence.endswith("pip install --upgrade samekind")


def test_texts_are_kept_whatever_is_in_them(tmp_path: Path) -> None:
    texts = ["a red\0 car", " ", "\ufeffblue boat", "plain"]
    Session(texts).save(tmp_path / "texts.session")
    again = Session.load(tmp_path / "texts.session")
    assert [item.load() for item in again.collection] == texts
