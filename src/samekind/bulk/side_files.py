"""Side files: small JSON files in the ``_samekind`` folder of a store of vectors."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from samekind.atomic_files import draft_name
from samekind.bulk.manifest import FOLDER
from samekind.errors import SourceError


def read_json(path: str, name: str) -> dict[str, Any] | None:
    """Read a side file of the store at `path`; None if there is none."""
    files, place = _place(path, name)
    try:
        text = files.cat_file(place)
    except FileNotFoundError:
        return None
    try:
        found: dict[str, Any] = json.loads(text)
    except ValueError as error:
        raise SourceError(
            f"The file {name!r} of the vectors {path!r} is damaged ({error}). Delete it: it is "
            "made again."
        ) from error
    return found


def write_json(path: str, name: str, content: dict[str, Any]) -> None:
    """Write a side file, all of it or nothing."""
    files, place = _place(path, name)
    data = json.dumps(content, allow_nan=False).encode()
    try:
        files.makedirs(place.rpartition("/")[0], exist_ok=True)
        if "://" in path:  # object stores put a whole object in place
            files.pipe_file(place, data)
            return
        draft = draft_name(Path(place))
        draft.write_bytes(data)
        os.replace(draft, place)
    except OSError as error:
        raise SourceError(
            f"The vectors {path!r} cannot be written to ({error}). A sampled session keeps its "
            "choice of items beside them: make the folder writable, or copy it."
        ) from error


def list_json(path: str, folder: str) -> list[str]:
    """Return the names of the side files in a folder, sorted."""
    files, place = _place(path, folder)
    try:
        found = files.ls(place, detail=False)
    except FileNotFoundError:
        return []
    names = sorted(str(one).rstrip("/").rpartition("/")[2] for one in found)
    return [f"{folder}/{name}" for name in names if name.endswith(".json") and name[0] != "."]


def _place(path: str, name: str) -> tuple[Any, str]:
    from fsspec.core import url_to_fs

    files, place = url_to_fs(f"{path}/{FOLDER}/{name}")
    return files, str(place)
