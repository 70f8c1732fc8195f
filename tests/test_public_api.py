"""The public API changes only on purpose, and people who type their programs can rely on it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from places import ROOT
from public_api import FILE, public_api

CLIENT = """
import numpy as np
from samekind import Grouping, KMeans, Session, group

X = np.zeros((10, 2))
found: Grouping = group(X, same=[(0, 1)], answer=lambda i, j: i == j, questions=3)
labels: list[int] = found.labels.tolist()
session = Session(X, clusterer=KMeans(n_clusters=2))
asked = session.ask()
if asked is not None:
    session.tell(asked.number, asked.question.choices()[0])
words: str = session.report().words
session.save("mine.session")
again: Session = Session.load("mine.session")
again.tell("one", 1)  # wrong
"""


def test_the_public_api_is_as_listed() -> None:
    listed = json.loads(FILE.read_text())
    found = json.loads(json.dumps(public_api()))
    changed = {name for name in listed.keys() | found.keys() if listed.get(name) != found.get(name)}
    assert not changed, "see docs/versions.md, then run: python tests/public_api.py"


@pytest.mark.slow
def test_a_strictly_typed_program_uses_the_public_api(tmp_path: Path) -> None:
    program = tmp_path / "client.py"
    program.write_text(CLIENT)
    options = ["--strict", "--no-error-summary", "--cache-dir", str(ROOT / ".mypy_cache")]
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *options, "--config-file", str(ROOT / "pyproject.toml"), str(program)],
        cwd=tmp_path, capture_output=True, text=True,
    )  # fmt: skip
    lines = [line for line in done.stdout.splitlines() if "client.py" in line]
    assert len(lines) == 2, done.stdout + done.stderr
    assert all(":15: error" in line and "incompatible type" in line for line in lines)


def test_the_wheel_says_that_it_is_typed() -> None:
    assert (ROOT / "src" / "samekind" / "py.typed").is_file()
    wheel = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]
    assert wheel["targets"]["wheel"]["packages"] == ["src/samekind"], "all files of the package"


def test_the_documents_list_every_exit_code() -> None:
    from samekind import errors

    text = (ROOT / "docs" / "command-line.md").read_text()
    listed = {name: int(code) for code, name in re.findall(r"^\| (\d+) .*`(\w+)` \|$", text, re.M)}
    classes = (value for value in vars(errors).values() if isinstance(value, type))
    codes = {each.__name__: each.exit_code for each in classes if "exit_code" in vars(each)}
    assert listed == codes
