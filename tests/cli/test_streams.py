"""Output that is closed or full, and what only the operating system says."""

# ruff: noqa: F811 (fixtures are imported by their names)

from __future__ import annotations

import errno
import os
import sys
from pathlib import Path
from subprocess import PIPE
from subprocess import run as start

import pytest

import samekind
from command_line import Cli, cli  # noqa: F401


def samekind_in_a_shell(words: str) -> tuple[int, str]:
    """Run a command with redirections; returns its exit code, and what it said on stderr."""
    command = f"{sys.executable} -m samekind {words}"
    paths = os.pathsep.join([str(Path(samekind.__file__).parents[1]), *sys.path])
    done = start(
        ["bash", "-c", command],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": paths},
    )
    return done.returncode, done.stderr


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="only Linux has a disk that is full")
@pytest.mark.parametrize("words", ["list", "list --json", "--version", "list live"])
def test_results_that_do_not_fit_on_the_disk_are_said(words: str) -> None:
    code, err = samekind_in_a_shell(f"{words} > /dev/full")
    assert code == 10 and len(err.splitlines()) == 1 and "is full" in err


@pytest.mark.skipif(sys.platform == "win32", reason="the shell of another system")
@pytest.mark.parametrize("words", ["list --json", "--version"])
def test_a_closed_output_is_no_error(words: str) -> None:
    assert samekind_in_a_shell(f"{words} >&-") == (0, "")
    assert samekind_in_a_shell(f"{words} 2>&-")[0] == 0


def test_what_the_system_says_is_a_sentence(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError(errno.EIO, "Input/output error", "/some/where")

    monkeypatch.setattr("samekind.parameters.describe", fail)
    done = cli("list", "live")
    assert done.code == 1
    assert "'/some/where' cannot be read or written: Input/output error." in done.err
    assert "Traceback" not in done.err


def test_a_reader_who_has_left_is_no_error() -> None:
    read, written = os.pipe()
    os.close(read)
    paths = os.pathsep.join([str(Path(samekind.__file__).parents[1]), *sys.path])
    done = start(
        [sys.executable, "-m", "samekind", "--version"],
        stdout=written,
        stderr=PIPE,
        check=False,
        env={**os.environ, "PYTHONPATH": paths},
    )
    os.close(written)
    assert (done.returncode, done.stderr) == (1, b"")
