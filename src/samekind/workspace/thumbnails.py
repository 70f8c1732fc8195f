"""Thumbnails of recent piles, kept so that a pile is recognised before it is opened."""

from __future__ import annotations

import io
import logging
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from samekind.atomic_files import draft_name
from samekind.errors import SamekindError

if TYPE_CHECKING:
    from samekind.items import Collection

log = logging.getLogger("samekind")

N_THUMBNAILS = 4
SIDE = 160
SAFE_KEY = re.compile(r"[\w.\-]{1,200}")


def keep_thumbnails(folder: Path, key: str, collection: Collection) -> None:
    """Store a few pictures of a pile, spread over its items; a failure is only logged."""
    if collection.kind != "image" or not SAFE_KEY.fullmatch(key) or find_thumbnails(folder, key):
        return
    step = max(1, len(collection) // N_THUMBNAILS)
    for k in range(min(N_THUMBNAILS, len(collection))):
        try:
            data = _thumbnail(collection, k * step)
            _write(folder / f"{key}-{k}.jpg", data)
        except (SamekindError, OSError) as problem:
            log.warning("A thumbnail of %s cannot be kept: %s", collection.name, problem)


def find_thumbnails(folder: Path, key: str) -> list[Path]:
    """The thumbnails of a pile, as files."""
    if not SAFE_KEY.fullmatch(key):
        return []
    places = (folder / f"{key}-{k}.jpg" for k in range(N_THUMBNAILS))
    return [place for place in places if place.is_file()]


def _thumbnail(collection: Collection, position: int) -> bytes:
    from PIL import Image, ImageOps

    item = collection[position]
    image = Image.open(io.BytesIO(item.preview().data)).convert("RGB")
    out = io.BytesIO()
    ImageOps.fit(image, (SIDE, SIDE)).save(out, "JPEG", quality=80)
    return out.getvalue()


def _write(place: Path, data: bytes) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    draft = draft_name(place)
    try:
        draft.write_bytes(data)
        os.replace(draft, place)
    finally:
        draft.unlink(missing_ok=True)
