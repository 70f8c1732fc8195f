"""Ctrl-C ends every command with one line, also before it has begun."""

# ruff: noqa: F811 (fixtures are imported by their names)

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from command_line import Cli, cli, photos  # noqa: F401
from samekind.encoders.pixels import Pixels


def test_ctrl_c_while_the_command_is_still_loading_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from samekind.__main__ import main as command

    class Loading:
        def __getattr__(self, name: str) -> object:
            raise KeyboardInterrupt

    monkeypatch.setitem(sys.modules, "samekind.cli.main", Loading())
    with pytest.raises(SystemExit) as ended:
        command()
    assert ended.value.code == 130
    assert capsys.readouterr().err == "\nStopped.\n"


@pytest.mark.parametrize("command", [["ask"], ["serve", "--port", "0"]])
def test_ctrl_c_while_pictures_are_encoded_is_one_line(
    cli: Cli, photos: Path, monkeypatch: pytest.MonkeyPatch, command: list[str]
) -> None:
    def interrupted(self: Pixels, items: object) -> object:
        raise KeyboardInterrupt

    monkeypatch.setattr(Pixels, "read", interrupted)
    done = cli(command[0], photos, *command[1:], "--encoder", "pixels")
    assert done.code == 130 and "Traceback" not in done.err
    assert done.err.strip().splitlines()[-1] == "Stopped. All your answers are saved."
