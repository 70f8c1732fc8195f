"""Without the extra, a command that is given a store of vectors says what to install."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PACKAGES = ("lance", "fsspec", "faiss", "ray", "pyarrow")


@pytest.mark.parametrize(
    "command",
    [
        ("ask", "v.lance"),
        ("more", "v.lance", "--like", "a"),
        ("simulate", "v.lance", "--labels", "a"),
        ("serve", "v.lance", "--port", "0"),
    ],
)
def test_a_store_of_vectors_names_the_missing_extra(
    command: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SAMEKIND_HOME", str(tmp_path))
    code = (
        "import sys\n"
        f"sys.modules.update(dict.fromkeys({PACKAGES}))\n"
        "from samekind.cli.main import main\n"
        f"main({command!r})"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path
    )
    assert done.returncode == 12, done.stderr
    assert "pip install 'samekind[cluster]'" in done.stderr.replace("\n", " ")
