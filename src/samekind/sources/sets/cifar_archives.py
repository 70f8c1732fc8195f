"""The binary CIFAR archives, unpacked or as downloaded.

``cifar-10-binary.tar.gz`` and ``cifar-100-binary.tar.gz`` are read in memory: nothing is unpacked,
so names and links in an archive can do no harm. The Python version is refused, because it is a
pickle, and loading a pickle can run code.
"""

from __future__ import annotations

import tarfile
import zlib
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath

import numpy as np
from numpy.typing import NDArray

from samekind.errors import SourceError

Bytes = NDArray[np.uint8]
Part = tuple[Bytes, NDArray[np.intp]]
"""Pictures (n, 3, 32, 32) and the class of each."""
COLOURS = 3 * 32 * 32
MAX_BYTES = 200_000_000
"""Size of one file in an archive; the largest (CIFAR-100, training) has 153.7 million bytes."""
BATCHES = tuple(f"data_batch_{number}.bin" for number in range(1, 6))
_PYTHON = {
    "cifar10": ("data_batch_[1-5]", "test_batch", "batches.meta"),
    "cifar100": ("train", "test", "meta"),
}
"""Names of the pickles in the Python version."""


def read_archive(place: Path, base: str, part: str) -> Part | None:
    """Read one part (train or test) of cifar10 or cifar100; None if there is no such file.

    Parameters
    ----------
    place : an archive, or a folder with an archive or the unpacked files.

    Raises
    ------
    SourceError
        If there is only the Python version, or if files are damaged or missing.
    """
    wanted = _names(base, part)
    found = {} if place.is_file() else _unpacked(place, wanted)
    archives = [place] if place.is_file() else _archives(place, base)
    for archive in archives:
        found = found or _packed(archive, wanted, base)
    if found:
        return _records(found, wanted, base, place)
    pickles = [place / name for name in ("cifar-10-batches-py", "cifar-100-python")]
    if pickles[base == "cifar100"].exists() or place.is_file():
        raise SourceError(_no_pickles(place, base))
    return None


def _names(base: str, part: str) -> tuple[str, ...]:
    if base == "cifar10":
        return BATCHES if part == "train" else ("test_batch.bin",)
    return (f"{part}.bin",)


def _unpacked(folder: Path, wanted: tuple[str, ...]) -> dict[str, Bytes]:
    """The wanted files, in this folder or together in a folder below."""
    for place in (folder, *(sub for sub in sorted(folder.glob("*")) if sub.is_dir())):
        files = [place / name for name in wanted if (place / name).is_file()]
        if files:
            return {file.name: np.fromfile(file, dtype=np.uint8) for file in files}
    return {}


def _archives(folder: Path, base: str) -> list[Path]:
    """Archives of this set in a folder, binary ones first."""
    number = base.removeprefix("cifar")
    endings = (".tar", ".tar.gz", ".tgz")
    found = [file for file in sorted(folder.glob("cifar*")) if file.name.endswith(endings)]
    mine = [file for file in found if file.name.startswith((f"cifar-{number}-", f"cifar{number}-"))]
    return sorted(mine, key=lambda file: "binary" not in file.name)


def _packed(archive: Path, wanted: tuple[str, ...], base: str) -> dict[str, Bytes]:
    """The wanted files, read from an archive without unpacking it."""
    found: dict[str, Bytes] = {}
    try:
        with tarfile.open(archive, "r|*") as packed:
            for name, member in _files(packed):
                if any(fnmatchcase(name, pickle) for pickle in _PYTHON[base]):
                    raise SourceError(_no_pickles(archive, base))
                if name not in wanted:
                    continue
                if member.size > MAX_BYTES:
                    raise SourceError(
                        f"Expected at most {MAX_BYTES:,} bytes for {name!r} in {str(archive)!r}, "
                        f"got {member.size:,}. Get the archive again."
                    )
                stream = packed.extractfile(member)
                assert stream is not None  # it is a regular file
                found[name] = np.frombuffer(stream.read(), dtype=np.uint8)
                if len(found) == len(wanted):
                    break  # what follows need not be unzipped
    except (tarfile.TarError, EOFError, OSError, zlib.error) as error:
        raise SourceError(
            f"{str(archive)!r} cannot be read as an archive ({error}). It may be cut off: get it "
            "again, or unpack it and give that folder."
        ) from error
    return found


def _files(packed: tarfile.TarFile) -> Iterator[tuple[str, tarfile.TarInfo]]:
    """Regular files with their bare names, without links and devices."""
    for member in packed:
        if member.isreg():
            yield PurePosixPath(member.name).name, member


def _records(found: dict[str, Bytes], wanted: tuple[str, ...], base: str, place: Path) -> Part:
    """Records of one class byte (CIFAR-100: coarse and fine) and 3 x 32 x 32 colours."""
    head = 1 if base == "cifar10" else 2
    for name, raw in found.items():
        if not len(raw) or len(raw) % (head + COLOURS):
            raise SourceError(
                f"Expected a multiple of {head + COLOURS:,} bytes in {name!r} of {base} in "
                f"{str(place)!r}, got {len(raw):,}: it is cut off. Unpack or get the archive again."
            )
    missing = [name for name in wanted if name not in found]
    if missing:
        raise SourceError(
            f"{missing[0]!r} is missing in {str(place)!r}, beside {next(iter(found))!r}. "
            "Unpack or get the complete archive."
        )
    raw = np.concatenate([found[name] for name in wanted])
    records = raw.reshape(-1, head + COLOURS)
    images = np.ascontiguousarray(records[:, head:]).reshape(-1, 3, 32, 32)
    return images, records[:, head - 1].astype(np.intp)


def _no_pickles(place: Path, base: str) -> str:
    number = base.removeprefix("cifar")
    return (
        f"Expected the binary version of {base} in {str(place)!r}. The Python version is a pickle, "
        "and loading a pickle can run code, so it is not read. Get "
        f"cifar-{number}-binary.tar.gz from the same page; it need not be unpacked."
    )
