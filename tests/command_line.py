"""The command line in tests: run it with typed input, on small piles, in a home of its own."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from PIL import Image

from piles import clouds
from samekind.cli.main import main


class Done(NamedTuple):
    code: int
    out: str
    err: str


Cli = Callable[..., Done]


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Cli:
    monkeypatch.setenv("SAMEKIND_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("COLUMNS", "100")

    def run(*arguments: object, typed: str = "") -> Done:
        monkeypatch.setattr("sys.stdin", io.StringIO(typed))
        with pytest.raises(SystemExit) as done:
            main([str(argument) for argument in arguments])
        code = done.value.code
        return Done(code if isinstance(code, int) else 0, *capsys.readouterr())

    return run


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    """Twelve small pictures, each of another shade of red or blue."""
    folder = tmp_path / "photos"
    folder.mkdir()
    for k in range(12):
        shade = (250 - 10 * k, 5, 9 * k) if k % 2 else (9 * k, 5, 250 - 10 * k)
        Image.new("RGB", (24, 16), shade).save(folder / f"photo-{k:02}.png")
    return folder


@pytest.fixture
def table(tmp_path: Path) -> Path:
    np.save(tmp_path / "clouds.npy", clouds(40)[0])
    return tmp_path / "clouds.npy"
