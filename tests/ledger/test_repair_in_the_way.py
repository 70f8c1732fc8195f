"""A repair that cannot read or write something: one sentence names it, and nothing is left."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from samekind.errors import InputError, StoreError
from samekind.ledger.repair import repair
from samekind.ledger.sql import SqlStore
from samekind.protocols import Event

REPAIR = """
import resource, sys
from samekind.errors import SamekindError
from samekind.ledger.repair import repair
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]),) * 2)
try:
    print(repair(sys.argv[1]).describe()[0])
except SamekindError as sentence:
    print(sentence)
"""


@pytest.fixture
def answered() -> Iterator[Path]:
    """A ledger in a folder that every user can reach, unlike pytest's own."""
    with tempfile.TemporaryDirectory() as folder:
        ledger = Path(folder) / "answers.samekind"
        with SqlStore(ledger) as store:
            events = (Event("named", {"group": n, "name": "a" * 200}) for n in range(90))
            store.extend("main", events)
        yield ledger


@pytest.fixture
def plain_user(answered: Path) -> Iterator[None]:
    """Not the administrator, whom permissions do not stop."""
    root = os.geteuid() == 0
    answered.parent.chmod(0o777)
    if root:
        os.seteuid(65534)
    yield
    if root:
        os.seteuid(0)


@pytest.mark.usefixtures("plain_user")
@pytest.mark.parametrize("suffix", ["", "-wal"])
def test_what_cannot_be_read_is_named(answered: Path, suffix: str) -> None:
    copy = answered.with_name("copy.samekind")  # the first one is still open in this process
    copy.write_bytes(answered.read_bytes())
    hidden = copy.with_name(copy.name + suffix)
    hidden.touch()
    hidden.chmod(0)
    with pytest.raises(StoreError, match=f"{re.escape(str(hidden))} cannot be read: Permission"):
        repair(copy)
    hidden.chmod(0o666)


@pytest.mark.usefixtures("plain_user")
def test_a_folder_that_cannot_be_looked_into_is_no_raw_error(answered: Path) -> None:
    folder = answered.with_name("closed")
    folder.mkdir()
    folder.chmod(0)
    try:
        for opener in (SqlStore, repair):
            with pytest.raises((StoreError, InputError), match=r"closed/a\.samekind"):
                opener(folder / "a.samekind")
    finally:
        folder.chmod(0o777)


def test_a_full_folder_for_drafts_is_not_needed(
    answered: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", "/nothing/here")
    assert repair(answered).is_complete


@pytest.mark.parametrize("size", [0, 8 << 10, 30 << 10])
def test_a_file_that_may_not_grow_is_named_and_nothing_is_left(answered: Path, size: int) -> None:
    assert answered.stat().st_size > 30 << 10
    command = [sys.executable, "-c", REPAIR, str(answered), str(size)]
    done = subprocess.run(command, capture_output=True, text=True)
    target = answered.with_name("answers.repaired.samekind")
    assert str(target) in done.stdout and ".part" not in done.stdout
    assert not done.stderr and len(done.stdout.splitlines()) == 1
    assert os.listdir(answered.parent) == [answered.name]
