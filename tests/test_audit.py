"""The audit of the installed packages, without the network: continuous integration runs it here."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
NAMES = ("constraints.txt", ".ci/audit.py", ".ci/audited.json")


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The audit with lists of its own."""
    (tmp_path / ".ci").mkdir()
    for name in NAMES:
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def audited(root: Path) -> tuple[int, str]:
    command = [sys.executable, str(root / ".ci" / "audit.py"), "--offline"]
    done = subprocess.run(command, capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def change(root: Path, **changes: Any) -> None:
    place = root / ".ci" / "audited.json"
    place.write_text(json.dumps({**json.loads(place.read_text()), **changes}))


def test_no_installed_package_has_a_known_hole_that_is_not_accepted() -> None:
    code, told = audited(ROOT)
    assert code == 0, told
    assert "No known hole that is not accepted." in told


def test_every_pinned_version_is_in_the_dated_list() -> None:
    listed = json.loads((ROOT / ".ci" / "audited.json").read_text())["versions"]
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    pins = dict(line.split("==") for line in lines if "==" in line and not line.startswith("#"))
    found = {name.lower(): version.split(";")[0].strip() for name, version in pins.items()}
    other = {name: pin for name, pin in found.items() if listed.get(name, pin) != pin}
    assert not other, "Run: python .ci/audit.py --write"


def test_a_known_hole_fails_unless_it_is_accepted_or_mended(copy: Path) -> None:
    here = version("numpy")
    hole = {"package": "numpy", "before": f"{here}.1", "id": "CVE-0", "summary": "runs code"}
    change(copy, known=[hole])
    code, told = audited(copy)
    assert code == 1 and f"numpy {here}: CVE-0 runs code" in told
    change(copy, accepted={"CVE-0": "only our own files are read"})
    assert audited(copy)[0] == 0
    change(copy, known=[{**hole, "before": here}], accepted={})
    assert audited(copy)[0] == 0, "it is the version that was mended"


def test_a_pinned_package_in_a_version_that_nobody_looked_at_fails(copy: Path) -> None:
    listed = json.loads((copy / ".ci" / "audited.json").read_text())["versions"]
    change(copy, versions={**listed, "numpy": "0.1"})
    code, told = audited(copy)
    assert code == 1 and "numpy" in told and "--write" in told
    change(copy, versions={**listed, "not-pinned": "1.0"})
    assert audited(copy)[0] == 0
