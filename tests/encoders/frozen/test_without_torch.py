"""Everything but training works without torch, and the frozen network is the same without it."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from samekind.encoders.frozen.efficientnet import (
    LITE0,
    LITE2,
    _onnx_network,
    _torch_network,
    load_torch,
)
from samekind.encoders.frozen.lite_weights import read_state
from samekind.errors import SourceError

WITHOUT = """
import sys
from importlib.machinery import PathFinder


class Others:
    find_distributions = PathFinder.find_distributions

    @staticmethod
    def find_spec(name, path=None, target=None):
        hidden = name.partition(".")[0] in ("torch", "efficientnet_lite_pytorch")
        return None if hidden else PathFinder.find_spec(name, path, target)


sys.meta_path[sys.meta_path.index(PathFinder)] = Others
"""


def run(code: str, folder: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT + code], cwd=folder, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("weights", [LITE0, LITE2], ids=lambda weights: weights.network)
def test_weights_read_without_torch_are_the_same(weights: object) -> None:
    expected = load_torch(weights).state_dict()  # type: ignore[arg-type]
    found = read_state(weights.path())  # type: ignore[attr-defined]
    assert found.keys() == expected.keys()
    assert all((found[name] == tensor.numpy()).all() for name, tensor in expected.items())


def test_the_converted_network_sees_what_the_original_sees(tmp_path: Path) -> None:
    images = np.random.default_rng(0).integers(0, 255, size=(2, 224, 224, 3), dtype=np.uint8)
    ours = _onnx_network(LITE0, tmp_path, middle=True)(images)
    theirs = _torch_network(LITE0, "cpu", middle=True)(images)
    assert np.abs(ours - theirs).max() < 1e-3


def test_a_file_of_weights_runs_no_code(tmp_path: Path) -> None:
    class Bad:
        def __reduce__(self) -> tuple[object, tuple[str]]:
            return print, ("run",)

    (tmp_path / "bad.pth").write_bytes(pickle.dumps(Bad()))
    with pytest.raises(SourceError, match="is not part of a table"):
        read_state(tmp_path / "bad.pth")


def test_pictures_texts_and_tables_are_grouped_without_torch(tmp_path: Path) -> None:
    code = """
import numpy as np, pandas as pd
from PIL import Image
import samekind
pictures = [Image.new("RGB", (32, 32), colour) for colour in ("red", "blue") * 4]
for data in (pictures, ["a red car", "a blue boat", "a red boat"], pd.DataFrame({"a": range(9)})):
    found = samekind.group(data, answer=lambda i, j: i % 2 == j % 2, questions=3)
    print(len(found.labels))
try:
    samekind.PCL
except samekind.MissingExtra as problem:
    print(problem)
"""
    *counts, said = run(code, tmp_path).strip().splitlines()
    assert counts == ["8", "3", "9"]
    assert "pip install 'samekind[train]'" in said


def test_commands_and_the_page_work_without_torch(tmp_path: Path) -> None:
    code = """
from samekind.cli.main import main
import numpy as np
np.save("x.npy", np.random.default_rng(0).normal(size=(30, 3)))
for words in (["list"], ["list", "live"], ["cluster", "x.npy", "--json"],
              ["cluster", "pictures", "--encoder", "pixels"], ["ask", "--help"]):
    try:
        main(words)
    except SystemExit as end:
        assert not end.code, words
from samekind.web.app import create_app
from samekind.workspace.workspaces import Workspaces
print("served", create_app(Workspaces()) is not None)
for words in (["--method", "pcl"], ["--method", "ncp"]):
    try:
        main(["cluster", "pictures", *words])
    except SystemExit as end:
        print("exit", end.code)
"""
    (tmp_path / "pictures").mkdir()
    for k in range(4):
        Image.new("RGB", (24, 24), (60 * k, 0, 0)).save(tmp_path / "pictures" / f"{k}.png")
    out = run(code, tmp_path)
    assert "served True" in out
    assert out.strip().splitlines()[-2:] == ["exit 12"] * 2
