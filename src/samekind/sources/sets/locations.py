"""Locations: find the files of a set in the user's folder or in an installed package."""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path

from samekind.errors import MissingExtra, SourceError
from samekind.user_paths import expanded

VARIABLE = "SAMEKIND_DATA"
"""The environment variable that names the folder with the files of the benchmark."""


def data_folder(data: str | Path | None = None) -> Path:
    """The folder with the files: the given one, else SAMEKIND_DATA, else the current folder."""
    return expanded(data or os.environ.get(VARIABLE, "."))


def missing(name: str, files: str, data: str | Path | None, hint: str = "") -> SourceError:
    """The error for a set whose files are missing."""
    return SourceError(
        f"The set {name!r} needs {files}, not found in {str(data_folder(data))!r}. Put it there, "
        f"or give its folder with --data or {VARIABLE}.{' ' + hint if hint else ''}"
    )


def packaged(name: str, package: str, file: str) -> Path:
    """A file or folder within an installed package.

    Parameters
    ----------
    name : the set that needs it, for the error. package : as it is imported.

    Raises
    ------
    MissingExtra
        If the package is not installed; names the extra that installs it.
    """
    found = find_spec(package)
    if found is None or not found.submodule_search_locations:
        raise MissingExtra(f"The set {name!r}", "sets")
    path = Path(found.submodule_search_locations[0]) / file
    if not path.exists():
        raise SourceError(
            f"Expected {file} in the package {package!r} for the set {name!r}, but this version "
            "does not have it. Run: pip install --force-reinstall 'samekind[sets]'"
        )
    return path
