"""Data in memory as a collection: arrays, tables, texts, pictures and graphs of a program."""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Iterable, Sequence
from decimal import Decimal
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from samekind.characters import whole_characters
from samekind.errors import InputError, SourceError
from samekind.items import Collection, Item, Skipped
from samekind.sources.files.archives import physical_memory
from samekind.sources.files.arrays import vectors_collection
from samekind.sources.files.columns import Columns, as_text, collect_rows, matrix_like
from samekind.sources.files.graphs import collect_graph
from samekind.sources.files.images import ImageItem, Picture
from samekind.sources.files.loose import item_of_bytes
from samekind.sources.files.picture_formats import SUFFIXES
from samekind.sources.files.rows import RowCollection, Rows, ready_vectors
from samekind.sources.files.texts import TextItem

if TYPE_CHECKING:
    from PIL.Image import Image

EXPECTED = (
    "an array with one row per item, a DataFrame, a list of texts, a list of pictures (paths or "
    "PIL images) or a networkx graph"
)


class LoadedImage(Picture):
    """A picture of Pillow that a program holds in memory."""

    def __init__(self, id: str, image: Image) -> None:
        self.id, self._image, self._stamp = id, image, ""

    @property
    def stamp(self) -> str:
        if not self._stamp:
            what = f"{self._image.mode} {self._image.size}".encode()
            digest = hashlib.blake2b(what + self._image.tobytes(), digest_size=8)
            self._stamp = digest.hexdigest()
        return self._stamp

    def open(self) -> Image:
        return self._image.copy()


def open_data(data: Any, name: str = "data") -> Collection:
    """Make a collection of what a program has in memory; item k is row, text or node k.

    Parameters
    ----------
    data : an array (n, d) of vectors; a DataFrame, whose rows are compared by their columns; texts;
        pictures, as paths, as PIL images or as an array (n, height, width) or (n, height, width, 3)
        of bytes; or a graph of networkx, whose nodes are the items.
    name : of the collection, for the person.

    Raises
    ------
    SourceError
        If it is none of these, or an item cannot be read: no item is skipped.

    >>> open_data(["a red car", "a blue boat"])[1].load()
    'a blue boat'
    """
    if isinstance(data, Collection):
        return data
    if hasattr(data, "iloc") and hasattr(data, "columns"):
        return _table(data, name)
    if all(hasattr(data, each) for each in ("nodes", "edges", "is_directed")):
        if not len(data.nodes):
            raise SourceError("Expected at least 1 node, got an empty graph. Add nodes and edges.")
        return collect_graph(data, Path(name))[0]
    if hasattr(data, "toarray"):
        data = _dense(data)
    if hasattr(data, "__array__") and not isinstance(data, list | tuple):
        return _array(_plain(data), name)
    if isinstance(data, Iterable) and not isinstance(data, str | bytes | dict):
        return _list(list(data), name)
    raise _unknown(type(data).__name__)


def open_like(collection: Collection, data: Any) -> Collection:
    """Make a collection of further data, such as a table with the same columns."""
    if isinstance(data, Collection) or not getattr(collection, "columns", ()):
        return open_data(data)
    columns: tuple[str, ...] = collection.columns  # type: ignore[attr-defined]
    if not (hasattr(data, "iloc") and hasattr(data, "columns")):
        raise InputError(
            f"Expected a DataFrame with the columns of {collection.name!r}, got "
            f"{type(data).__name__}. Give a table."
        )
    numbers, shown = _columns(data)
    matrix = matrix_like(numbers, columns, "the table")
    return RowCollection("data", Rows(matrix, cells={**numbers, **shown}), columns=columns)


def saved_item(kind: str, id: str, data: bytes, stamp: str) -> Item:
    """Make an item of what a saved session keeps of it; ValueError if that is damaged."""
    if kind == "text":
        return TextItem(id, text=data.decode(), stamp=stamp)
    found = item_of_bytes(kind, id, data, stamp)
    if isinstance(found, Skipped):
        raise ValueError(f"the preview of {id!r} {found.reason}")
    return found


def saved_picture(id: str, path: str, stamp: str) -> Item:
    """Make an item of a picture that a saved session keeps by its path; it may be missing now.

    ValueError for anything but a picture file: a device or a pipe would never end.
    """
    if not path.lower().endswith(SUFFIXES):
        raise ValueError(f"{path!r} is not the path of a picture")
    if os.path.exists(path) and not os.path.isfile(path):
        raise ValueError(f"{path!r} is not a regular file")
    return ImageItem(id, path, stamp)


def _table(frame: Any, name: str) -> Collection:
    """The rows of a DataFrame; a meaningful index names them."""
    if not len(frame):
        raise SourceError(f"Expected at least 1 row in {name!r}, got none. Add rows.")
    columns, shown = _columns(frame)
    index = frame.index
    keys = None
    if type(index).__name__ != "RangeIndex" and index.is_unique:
        keys = [whole_characters(str(key)) for key in index]
        keys = keys if len(set(keys)) == len(keys) else None
    return collect_rows(Path(name), columns, shown=shown, keys=keys)


def _columns(frame: Any) -> tuple[Columns, dict[str, list[str]]]:
    """Columns as numbers or texts, and beside them texts to show, such as dates."""
    columns: Columns = {}
    shown: dict[str, list[str]] = {}
    for label in frame.columns:
        name, column = whole_characters(str(label)), frame[label]
        if getattr(column, "ndim", 1) != 1 or name in columns:
            raise SourceError(f"Expected unique names of columns, got {name!r} twice.")
        kind = getattr(column.dtype, "kind", "O")
        if kind in "fiub":
            columns[name] = column.to_numpy(dtype=np.float64, na_value=np.nan)
        elif kind in "mM":
            texts = as_text(None if gone else cell for cell, gone in _cells(column))
            shown[name] = [text.removesuffix(" 00:00:00") for text in texts]
            columns[name] = _days(column)
        elif (numbers := _numbers(column)) is not None:
            columns[name] = numbers
        else:
            columns[name] = as_text(None if gone else cell for cell, gone in _cells(column))
    return columns, shown


def _cells(column: Any) -> Iterable[tuple[Any, bool]]:
    return zip(column, column.isna(), strict=True)


def _numbers(column: Any) -> NDArray[np.float64] | None:
    """The numbers of a column of objects, such as decimals; None: it has something else, or none.

    Categories that are numbers stay categories.
    """
    if type(column.dtype).__name__ == "CategoricalDtype":
        return None
    found, some = np.full(len(column), np.nan), False
    for row, (cell, gone) in enumerate(_cells(column)):
        if gone:
            continue
        if isinstance(cell, bool | np.bool_) or not isinstance(cell, Real | Decimal):
            return None
        some = True
        try:
            found[row] = float(cell)
        except OverflowError:  # like infinity: no number that can be compared
            continue
    return found if some else None


def _days(column: Any) -> NDArray[np.float64]:
    """Dates as days since 1970, durations as days."""
    unit = f"{column.dtype.kind}8[s]"
    arrow = getattr(column.dtype, "pyarrow_dtype", None)
    zone = getattr(column.dtype if arrow is None else arrow, "tz", None)
    plain = column if zone is None else column.dt.tz_localize(None)
    seconds = plain.to_numpy(**({} if arrow is None else {"na_value": None})).astype(unit)
    days: NDArray[np.float64] = seconds.astype(np.float64) / 86_400
    days[np.isnat(seconds)] = np.nan
    return days


def _dense(sparse: Any) -> Any:
    """A sparse matrix as an array, unless that would fill the memory."""
    size, memory = np.prod(sparse.shape, dtype=float) * sparse.dtype.itemsize, physical_memory()
    if memory and size > memory / 2:
        raise SourceError(
            f"Expected a sparse matrix that takes at most half of the memory ({memory / 2e9:.1f} "
            f"GB) as an array, but one of shape {sparse.shape} takes {size / 1e9:,.1f} GB. Give "
            "fewer columns, such as those of sklearn.decomposition.TruncatedSVD."
        )
    return sparse.toarray()


def _plain(data: Any) -> NDArray[Any]:
    """An array of NumPy with the same numbers, also of a tensor that is being trained."""
    if np.ma.isMaskedArray(data):
        return _filled(data)
    try:
        return np.asarray(_detached(data))
    except (TypeError, RuntimeError) as problem:
        raise SourceError(
            f"Expected numbers that NumPy can read, got {type(data).__name__}: {problem}. Convert "
            "it to 32-bit floats."
        ) from problem


def _detached(data: Any) -> Any:
    """A tensor without its gradient, in the memory of the processor; other data as they are."""
    is_tensor = hasattr(data, "detach") and hasattr(data, "cpu")
    return data.detach().cpu() if is_tensor else data


def _filled(masked: Any) -> NDArray[Any]:
    """A masked array with NaN for the masked numbers: what is under a mask is no value."""
    if not np.ma.is_masked(masked):
        return np.asarray(masked.data)
    if masked.ndim != 2 or masked.dtype.kind not in "fiub":
        missing = int(np.ma.getmaskarray(masked).sum())
        raise SourceError(
            f"Expected a value for every item, got a masked array in which {missing:,} are "
            "missing. Remove these items or fill them in."
        )
    numbers = masked if masked.dtype.kind == "f" else masked.astype(np.float64)
    return np.asarray(numbers.filled(np.nan))


def _array(array: NDArray[Any], name: str) -> Collection:
    if array.dtype.kind in "OSUT":
        return _list(array.tolist(), name)
    if array.ndim in (3, 4) and array.dtype == np.uint8:
        from PIL import Image

        return _list([Image.fromarray(each) for each in array], name)
    ready_vectors(array, f"the array {name!r}")
    return vectors_collection(name, array, "")


def _list(items: list[Any], name: str) -> Collection:
    if not items:
        raise SourceError("Expected at least 1 item, got an empty list. Add items.")
    if all(isinstance(each, os.PathLike) for each in items) or _are_picture_paths(items):
        return _pictures([Path(each) for each in items], name)
    if all(isinstance(each, str) for each in items):
        return Collection(name, _texts(items))
    if all(hasattr(each, "convert") and hasattr(each, "tobytes") for each in items):
        return Collection(name, [_loaded(k, image) for k, image in enumerate(items)])
    if all(isinstance(each, Item) for each in items):
        return Collection(name, items)
    kinds = sorted({type(each).__name__ for each in items})
    masked = any(np.ma.isMaskedArray(each) for each in items)
    try:
        array = np.asarray([_detached(each) for each in items], dtype=np.float64)
        array = _filled(np.ma.array(items, dtype=np.float64)) if masked else array
    except (TypeError, ValueError):
        raise _unknown(f"a list of {', '.join(kinds[:3])}") from None
    return _array(array, name)


def _loaded(place: int, image: Image) -> LoadedImage:
    """A picture of Pillow as an item; one without pixels, or closed by now, is refused."""
    try:
        image.load()
    except (OSError, ValueError) as problem:
        raise SourceError(
            f"Expected pictures, but the one at position {place} cannot be read ({problem}). Open "
            "it again, and leave it open."
        ) from problem
    if not image.width or not image.height:
        raise SourceError(
            f"Expected pictures, but the one at position {place} has no pixels. Leave it out, so "
            "that every item has a group."
        )
    return LoadedImage(f"image-{place}", image)


def _are_picture_paths(items: Sequence[Any]) -> bool:
    """Whether all items are texts of one line that end as picture files do.

    None of them may exist: then the first missing one is named, rather than grouping their names.
    """
    suffixes = tuple(SUFFIXES)
    return all(
        isinstance(each, str)
        and each.lower().endswith(suffixes)
        and len(each.splitlines()) == 1
        and "\0" not in each
        for each in items
    )


def _pictures(paths: Sequence[Path], name: str) -> Collection:
    from samekind.sources.files.images import fault

    found: list[Item] = []
    seen: Counter[str] = Counter()
    for path in paths:
        id = whole_characters(str(path))
        seen[id] += 1
        try:
            status = path.stat()
            with open(path, "rb") as stream:
                raw = path.suffix.lower() not in SUFFIXES
                reason = "is not a picture" if raw else fault(stream, status.st_size)
        except OSError as error:
            reason = f"cannot be read: {error.strerror or error}"
        if reason:
            raise SourceError(
                f"Expected pictures, but {id!r} {reason}. Leave it out, so that every item has a "
                "group."
            )
        stamp = f"{status.st_size}-{status.st_mtime_ns}"
        unique = id if seen[id] == 1 else f"{id} ({seen[id]})"
        found.append(ImageItem(unique, str(path.absolute()), stamp))
    return Collection(name, found)


def _texts(texts: Sequence[str]) -> list[Item]:
    """Texts as items; like the lines of a file they are known by their content."""
    seen: Counter[str] = Counter()
    items: list[Item] = []
    for text in texts:
        key = hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=6).hexdigest()
        seen[key] += 1
        id = f"text-{key}" if seen[key] == 1 else f"text-{key}-{seen[key]}"
        items.append(TextItem(id, text=whole_characters(text)))
    return items


def _unknown(got: str) -> SourceError:
    return SourceError(f"Expected {EXPECTED}, got {got}. Convert it to one of these.")
