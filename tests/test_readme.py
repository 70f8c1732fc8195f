"""The README does not lie: its commands run, its Python runs, its links lead somewhere."""

from __future__ import annotations

import io
import re
import shlex
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from PIL import Image

from places import ROOT
from samekind.cli.main import main
from samekind.sources.sets import named
from samekind.sources.sets.labelled import LabelledSet
from samekind.sources.sets.tiles import tiles

README = (ROOT / "README.md").read_text()


class Done(NamedTuple):
    code: object
    out: str
    err: str


Run = Callable[..., Done]


def commands() -> list[str]:
    blocks = re.findall(r"```console\n(.*?)```", README, flags=re.S)
    lines = [line[2:] for block in blocks for line in block.splitlines() if line.startswith("$ ")]
    return [line.split(" #")[0].strip() for line in lines]


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    """A person's home with a folder of photos."""
    rng = np.random.default_rng(0)
    folder = tmp_path / "photos"
    folder.mkdir()
    for k in range(12):
        colour = (200, 40, 40) if k % 2 else (40, 60, 200)
        pixels = np.clip(rng.normal(colour, 20, size=(24, 24, 3)), 0, 255).astype(np.uint8)
        Image.fromarray(pixels).save(folder / f"{k}.png")
    return folder


@pytest.fixture(autouse=True)
def fewer_items(monkeypatch: pytest.MonkeyPatch) -> None:
    """A few of the demo tiles, because a network reads each of them, and of the digits."""

    def first(count: int, whole_set: Callable[[int], LabelledSet]) -> Callable[..., LabelledSet]:
        @wraps(whole_set)
        def some(seed: int = 0) -> LabelledSet:
            whole = whole_set(seed)
            kept = {name: labels[:count] for name, labels in whole.orientations.items()}
            return LabelledSet(whole.name, whole.collection.take(range(count)), kept)

        return some

    monkeypatch.setitem(named.SETS, "tiles", first(24, tiles))
    monkeypatch.setitem(named.SETS, "digits", first(400, named.SETS["digits"]))


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run a command line in a person's home; typed keys are its input."""

    def run(command: str, home: Path, keys: str = "") -> Done:
        words = [word.replace("~", str(home)) for word in shlex.split(command)]
        assert words[0] == "samekind"
        monkeypatch.chdir(home)
        monkeypatch.setattr("sys.stdin", io.StringIO(keys))
        with pytest.raises(SystemExit) as done:
            main(words[1:])
        return Done(done.value.code or 0, *capsys.readouterr())

    return run


@pytest.mark.parametrize("command", [c for c in commands() if "~" not in c and "make" not in c])
def test_the_commands_for_everybody_run(command: str, tmp_path: Path, run: Run) -> None:
    done = run(command, tmp_path)
    assert done.code == 0, done.err
    assert done.out.strip()


def test_the_commands_for_ones_own_photos_run(photos: Path, run: Run) -> None:
    home = photos.parent
    ask, export = (
        next(c for c in commands() if f"samekind {verb} ~" in c) for verb in ("ask", "export")
    )
    assert run(ask, home, keys="1\n0\n1\nq\n").code == 0
    done = run(export, home)
    assert done.code == 0, done.err
    assert len(list((home / "sorted").rglob("*.png"))) == 12
    serve = next(c for c in commands() if "samekind serve ~" in c)
    assert shlex.split(serve)[:2] == ["samekind", "serve"]


def test_the_make_targets_exist() -> None:
    makefile = (ROOT / "Makefile").read_text()
    for command in commands():
        if command.startswith("make "):
            assert f"\n{command.split()[1]}:" in makefile


def test_the_python_runs() -> None:
    (code,) = re.findall(r"```python\n(.*?)```", README, flags=re.S)
    names: dict[str, object] = {}
    exec(code, names)
    assert len(names["groups"]) == 1797  # type: ignore[arg-type]


def test_every_link_leads_to_a_file() -> None:
    for target in re.findall(r"\]\((?!http)([^)#]+)\)", README):
        assert (ROOT / target).exists(), target
