"""Places: where the files of a set are looked for, and what to do when they are not there."""

from __future__ import annotations

import os
from pathlib import Path

from samekind.errors import SourceError

VARIABLE = "SAMEKIND_DATA"
"""The environment variable that names the folder with the files of the benchmark."""


def data_folder(data: str | Path | None = None) -> Path:
    """The folder with the files: the one that was given, else SAMEKIND_DATA, else this one."""
    return Path(data or os.environ.get(VARIABLE, ".")).expanduser()


def missing(name: str, files: str, data: str | Path | None, hint: str = "") -> SourceError:
    """The error for a set whose files are not there: which, where, and what to do."""
    return SourceError(
        f"The set {name!r} needs {files}, not found in {str(data_folder(data))!r}. Put it there, "
        f"or name its folder with --data or {VARIABLE}.{' ' + hint if hint else ''}"
    )
