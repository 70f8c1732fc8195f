"""The package of methods: every estimator can be imported from it, and only then is it loaded."""

from __future__ import annotations

import subprocess
import sys

import pytest

from samekind import clusterers
from samekind.registry import find


def test_every_method_can_be_imported_from_the_package() -> None:
    from samekind.clusterers import COBRAS, NCP, PCL, KMeans, Live

    assert [cls.__name__ for cls in (COBRAS, NCP, PCL, KMeans, Live)] == [
        "COBRAS", "NCP", "PCL", "KMeans", "Live",
    ]  # fmt: skip
    for name in clusterers.CLUSTERERS:
        method = find("method", name)
        assert getattr(clusterers, method.__name__) is method, name


def test_the_public_names_are_what_is_visible() -> None:
    assert dir(clusterers) == sorted(clusterers.__all__)
    assert clusterers.DEFAULT in clusterers.CLUSTERERS
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        _ = clusterers.Nothing


def test_importing_the_package_loads_no_heavy_library() -> None:
    code = (
        "import sys; from samekind import clusterers; dir(clusterers); "
        "print(sorted({'torch', 'sklearn', 'scipy'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.strip() == "[]", done.stderr
