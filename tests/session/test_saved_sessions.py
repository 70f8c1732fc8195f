"""Saving a session never replaces anything but an earlier saved session."""

from __future__ import annotations

import os
import zipfile
from pathlib import Path

import numpy as np
import pytest

from exported import tree
from samekind import Session
from samekind.errors import InputError
from samekind.ledger.store import open_store
from samekind.workspace import saved_session

X = np.random.default_rng(0).normal(size=(12, 3)).astype(np.float32)


def answered(session: Session) -> Session:
    asked = session.ask()
    assert asked is not None
    session.tell(asked.number, asked.question.choices()[0])
    return session


@pytest.mark.parametrize("kind", ["text", "archive", "ledger", "link", "dangling", "folder"])
def test_whatever_else_has_that_name_stays_as_it_is(kind: str, tmp_path: Path) -> None:
    session, path = Session(X), tmp_path / "mine.session"
    if kind == "text":
        path.write_text("my novel")
    elif kind == "archive":
        with zipfile.ZipFile(path, "w") as file:
            file.writestr("session.json", '{"format": "of another program"}')
    elif kind == "ledger":
        session = answered(Session(X, store=open_store(path)))
    elif kind == "folder":
        path.mkdir()
    else:
        if kind == "link":
            session.save(tmp_path / "other.session")
        path.symlink_to(tmp_path / "other.session")
    before = tree(tmp_path)
    with pytest.raises(InputError, match=r"exists already and is (a link|no saved session)"):
        session.save(path)
    assert tree(tmp_path) == before
    if kind == "ledger":
        assert len(answered(session).answers) == 2


def test_an_open_ledger_is_not_looked_into(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Closing it would give up the locks on it, and another process would remove its log."""
    session = answered(Session(X, store=open_store(tmp_path / "mine.samekind")))
    looked: list[object] = []
    monkeypatch.setattr(saved_session, "ZipFile", lambda *given: looked.append(given))
    with pytest.raises(InputError, match="is no saved session"):
        session.save(tmp_path / "mine.samekind")
    assert looked == []


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes that have a name")
def test_a_pipe_of_that_name_is_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "mine.session")
    with pytest.raises(InputError, match="exists already"):
        Session(X).save(tmp_path / "mine.session")


def test_an_earlier_saved_session_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "mine.session"
    Session(X).save(path)
    answered(Session(X)).save(path)
    assert len(Session.load(path).answers) == 1
    assert os.listdir(tmp_path) == ["mine.session"]


def test_a_file_that_appears_while_the_session_is_written_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, plain = tmp_path / "mine.session", saved_session._write_encoder

    def slowly(*parts: object) -> object:
        path.write_text("mine")
        return plain(*parts)  # type: ignore[arg-type]

    monkeypatch.setattr(saved_session, "_write_encoder", slowly)
    with pytest.raises(InputError, match="exists already and is no saved session"):
        Session(X).save(path)
    assert tree(tmp_path) == {"mine.session": b"mine"}
