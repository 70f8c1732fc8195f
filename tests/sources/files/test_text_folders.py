"""Texts: files of a folder, and lines of a file."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from samekind.errors import SourceError
from samekind.sources import open_source


def test_texts_are_found_at_any_depth(tmp_path: Path) -> None:
    (tmp_path / "deep" / "er").mkdir(parents=True)
    (tmp_path / "deep" / "er" / "10.md").write_text("# ten")
    (tmp_path / "deep" / "er" / "9.TXT").write_text("nine")
    pile = open_source(tmp_path)
    assert list(pile.ids()) == ["deep/er/9.TXT", "deep/er/10.md"]
    assert pile.kind == "text"
    assert [item.load() for item in pile] == ["nine", "# ten"]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "latin-1", "utf-16"])
def test_usual_encodings_are_read(tmp_path: Path, encoding: str) -> None:
    (tmp_path / "a.txt").write_bytes("Käse, où, naïve".encode(encoding))
    assert open_source(tmp_path)[0].load() == "Käse, où, naïve"


def test_empty_blank_and_binary_files_are_reported_and_skipped(tmp_path: Path) -> None:
    (tmp_path / "good.txt").write_text("good")
    (tmp_path / "empty.txt").touch()
    (tmp_path / "blank.md").write_text(" \n\t\n")
    (tmp_path / "binary.txt").write_bytes(bytes(range(256)) * 4)
    (tmp_path / "data.bin").write_bytes(b"x")
    pile = open_source(tmp_path)
    assert list(pile.ids()) == ["good.txt"]
    told = {skipped.id: skipped.reason for skipped in pile.skipped}
    assert set(told) == {"empty.txt", "blank.md", "binary.txt", "data.bin"}
    assert "binary" in told["binary.txt"] and "zero bytes" in told["empty.txt"]


def test_a_preview_shows_the_beginning_as_plain_text(tmp_path: Path) -> None:
    (tmp_path / "long.txt").write_text("word " * 10_000)
    (tmp_path / "markup.txt").write_text("<b>&amp;</b>")
    long, markup = (item.preview() for item in open_source(tmp_path))
    assert long.mime == "text/plain" and len(long.data) < 5_000
    assert markup.data == b"<b>&amp;</b>"


def test_a_text_that_vanished_raises_an_error_that_names_it(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a")
    item = open_source(tmp_path)[0]
    (tmp_path / "a.txt").unlink()
    with pytest.raises(SourceError, match=r"a\.txt"):
        item.load()


def test_a_text_changes_its_stamp_when_it_changes(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a")
    before = open_source(tmp_path).fingerprint
    (tmp_path / "a.txt").write_text("ab")
    assert open_source(tmp_path).fingerprint != before


def test_a_file_of_lines_is_one_text_per_line(tmp_path: Path) -> None:
    path = tmp_path / "lines.txt"
    path.write_text("first\n\nsecond\nfirst\n")
    pile = open_source(path)
    assert [item.load() for item in pile] == ["first", "second", "first"]
    assert len(set(pile.ids())) == 3


def test_the_id_of_a_line_stays_when_lines_are_added_before_it(tmp_path: Path) -> None:
    path = tmp_path / "lines.txt"
    path.write_text("first\nsecond\n")
    before = {item.load(): item.id for item in open_source(path)}
    path.write_text("new\nfirst\nanother\nsecond\n")
    after = {item.load(): item.id for item in open_source(path)}
    assert before.items() <= after.items()


def test_a_binary_file_of_lines_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.txt").write_bytes(b"\0\1\2" * 100)
    with pytest.raises(SourceError, match="is binary"):
        open_source(tmp_path / "x.txt")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_text_replaced_by_a_link_or_a_pipe_is_not_read(tmp_path: Path) -> None:
    folder = tmp_path / "texts"
    folder.mkdir()
    for name in ("a.txt", "b.txt", "c.txt"):
        (folder / name).write_text("some words")
    linked, piped, whole = open_source(folder)
    (tmp_path / "secret.txt").write_text("a secret")
    (folder / "a.txt").unlink()
    (folder / "a.txt").symlink_to(tmp_path / "secret.txt")
    (folder / "b.txt").unlink()
    os.mkfifo(folder / "b.txt")
    with pytest.raises(SourceError, match="leads out of the folder"):
        linked.load()
    keeper = os.open(folder / "b.txt", os.O_RDWR | os.O_NONBLOCK)  # nobody waits for a writer
    os.write(keeper, b"from a pipe\n")
    with pytest.raises(SourceError, match="not a regular file"):
        piped.load()
    os.close(keeper)
    assert whole.load() == "some words"
