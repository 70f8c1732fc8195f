"""Small sources of every format that is read in bulk: drawn pictures, texts and tables."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path
from typing import Any

import numpy as np


def picture_bytes(number: int, side: int = 24) -> bytes:
    """A PNG of noise around one of four colours."""
    from PIL import Image

    rng = np.random.default_rng(number)
    colour = np.array([[200, 40, 40], [40, 200, 40], [40, 40, 200], [200, 200, 40]])[number % 4]
    pixels = np.clip(colour + rng.normal(scale=25, size=(side, side, 3)), 0, 255)
    buffer = io.BytesIO()
    Image.fromarray(pixels.astype(np.uint8)).save(buffer, "PNG")
    return buffer.getvalue()


def write_pictures(folder: Path, n: int, first: int = 0) -> Path:
    """A folder of pictures at two depths."""
    for number in range(first, first + n):
        place = folder / (f"part {number % 3}" if number % 3 else "")
        place.mkdir(parents=True, exist_ok=True)
        (place / f"photo {number}.png").write_bytes(picture_bytes(number))
    return folder


def write_tar(path: Path, files: dict[str, bytes]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(path, "w") as archive:
        for name, data in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return path


def write_parquet(path: Path, columns: dict[str, Any], rows_per_group: int = 4) -> Path:
    import pyarrow as pa
    from pyarrow import parquet

    path.parent.mkdir(parents=True, exist_ok=True)
    parquet.write_table(pa.table(columns), path, row_group_size=rows_per_group)
    return path
