"""The unit tests and types of the page's own sources, run where its tools are installed."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from places import ROOT

SOURCES = ROOT / "page"
NPM = shutil.which("npm")
pytestmark = [
    pytest.mark.skipif(NPM is None, reason="There is no npm on this machine."),
    pytest.mark.skipif(
        not (SOURCES / "node_modules").is_dir(), reason="Run first: cd page && npm ci"
    ),
]


@pytest.mark.parametrize("script", ["check", "test"])
def test_the_page_keeps_its_types_and_passes_its_unit_tests(script: str) -> None:
    assert NPM is not None
    done = subprocess.run([NPM, "run", script], cwd=SOURCES, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_lock_file_names_no_registry() -> None:
    assert '"resolved"' not in (SOURCES / "package-lock.json").read_text()
