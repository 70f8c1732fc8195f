"""Without the extra, a command that is given a store of vectors says what to install."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PACKAGES = ("lance", "fsspec", "faiss", "ray", "pyarrow")


COMMANDS = (
    ("ask", "v.lance"),
    ("more", "v.lance", "--like", "a"),
    ("simulate", "v.lance", "--labels", "a"),
    ("serve", "v.lance", "--port", "0"),
)
EACH = """
import sys
sys.modules.update(dict.fromkeys({packages}))
from samekind.cli.main import main
for command in {commands}:
    try:
        main(command)
    except SystemExit as done:
        print("ended with", done.code, command[0], flush=True, file=sys.stderr)
"""


def test_a_store_of_vectors_names_the_missing_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SAMEKIND_HOME", str(tmp_path))
    code = EACH.format(packages=PACKAGES, commands=COMMANDS)
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    said = done.stderr.replace("\n", " ")
    for name, *_ in COMMANDS:
        words, found, said = said.partition(f"ended with 12 {name}")
        assert found and "pip install 'samekind[cluster]'" in words, (name, done.stderr)
