"""Packages: data files within installed packages, found without importing the package."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from samekind.errors import MissingExtra, SourceError


def packaged(name: str, package: str, file: str) -> Path:
    """A file or folder within an installed package.

    Parameters
    ----------
    name : the set that needs it, for the error. package : as it is imported.

    Raises
    ------
    MissingExtra
        If the package is not installed; says which extra brings it.
    """
    found = find_spec(package)
    if found is None or not found.submodule_search_locations:
        raise MissingExtra(f"The set {name!r}", "sets")
    path = Path(found.submodule_search_locations[0]) / file
    if not path.exists():
        raise SourceError(
            f"The set {name!r} needs {file} of the package {package!r}, which this version of the "
            "package does not have. Run: pip install --force-reinstall 'samekind[sets]'"
        )
    return path
