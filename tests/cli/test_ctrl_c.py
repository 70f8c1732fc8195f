"""Ctrl-C ends every command with one line, also before it has begun."""

from __future__ import annotations

import sys

import pytest


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
