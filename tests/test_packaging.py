"""What is installed: wheels that anybody can build again, and a sentence where torch is missing."""

from __future__ import annotations

import os
import subprocess
import sys
from email import message_from_string
from pathlib import Path
from zipfile import ZipFile

import pytest

from places import ROOT

BUILD = """
import sys
from hatchling.builders.wheel import WheelBuilder
print(next(iter(WheelBuilder(sys.argv[1]).build(directory=sys.argv[2], versions=["standard"]))))
"""
WITHOUT_TORCH = """
import inspect
from importlib.machinery import PathFinder

found = PathFinder.find_spec


def hidden(name, path=None, target=None):
    return None if name.partition(".")[0] == "torch" else found(name, path, target)


PathFinder.find_spec = staticmethod(hidden)
import numpy as np
import samekind
from samekind.registry import find, registered

X = np.random.default_rng(0).normal(size=(12, 3))
told, grouped = [], []
for name in samekind.__all__:
    try:
        found_class = getattr(samekind, name)
        if inspect.isclass(found_class) and hasattr(found_class, "fit"):
            grouped.append(name)
            found_class().fit(X)
    except samekind.MissingExtra as problem:
        assert "pip install 'samekind[train]'" in str(problem), problem
        told.append(name)
for name in registered("strategy"):
    try:
        find("strategy", name)
    except samekind.MissingExtra as problem:
        told.append(name)
session = samekind.Session(X)
from samekind.strategies.value.value import Value
try:
    Value().propose(session._state().view(), 1)
except samekind.MissingExtra:
    told.append("Value")
print(*told)
print(*sorted(set(grouped) - set(told)))
"""


def test_what_needs_torch_says_what_to_install_and_all_else_works_without() -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_TORCH], capture_output=True, text=True, cwd=ROOT
    )
    assert done.returncode == 0, done.stderr
    told, works = (line.split() for line in done.stdout.splitlines())
    assert {"NCP", "NCPGraph", "PCL", "IDC", "SCAN", "value", "Value"} <= set(told)
    assert {"Live", "KMeans", "PCKMeans", "COBRAS", "Propagation"} <= set(works)


@pytest.mark.slow
def test_two_builds_of_a_wheel_are_the_same_bytes(tmp_path: Path) -> None:
    pytest.importorskip("hatchling", reason="hatchling is not installed.")
    given = {**os.environ, "SOURCE_DATE_EPOCH": "1700000000", "HATCH_BUILD_NO_HOOKS": "true"}
    wheels = []
    for name in ("first", "second"):
        command = [sys.executable, "-c", BUILD, str(ROOT), str(tmp_path / name)]
        done = subprocess.run(command, capture_output=True, text=True, env=given)
        assert done.returncode == 0, done.stderr
        wheels.append(Path(done.stdout.split()[-1]))
    assert wheels[0].read_bytes() == wheels[1].read_bytes()
    with ZipFile(wheels[0]) as wheel:
        (metadata,) = (name for name in wheel.namelist() if name.endswith("/METADATA"))
        facts = message_from_string(wheel.read(metadata).decode())
        assert "samekind/py.typed" in wheel.namelist()
    known = facts.get_all("Classifier") or []
    assert facts["Requires-Python"] == ">=3.11"
    for minor in (11, 12, 13, 14):
        assert f"Programming Language :: Python :: 3.{minor}" in known
    assert "Typing :: Typed" in known
