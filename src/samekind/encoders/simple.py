"""Encoders that need no network: Pixels, TfIdf, Rows, and Ready for vectors as they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from samekind.encoders.reduction import Reduced, Reduction, chunks
from samekind.errors import VectorError
from samekind.items import Item


class Pixels(Reduced):
    """Small copies of the images, reduced to their main axes: quick, sees colour and layout only.

    Parameters
    ----------
    size : height and width of the small copies.
    components : most numbers per item that are kept.
    """

    name: str = "pixels"
    kinds: tuple[str, ...] = ("image",)

    def __init__(self, *, size: int = 32, components: int = 128) -> None:
        self.size = size
        self.components = components
        self.width: int | None = size * size * 3

    @property
    def fingerprint(self) -> str:
        """Changes with the size of the copies."""
        return f"pixels/{self.size}px-v1"

    def prepare(self, image: Any) -> Any:
        """The small copy. Safe to call ahead, in a thread, and twice."""
        from PIL import Image

        image = image.convert("RGB")
        size = (self.size, self.size)
        return image if image.size == size else image.resize(size, Image.Resampling.BILINEAR)

    def read(self, items: Sequence[Item]) -> NDArray[np.uint8]:
        """Colour values (n, size * size * 3), one byte each."""
        raw = np.empty((len(items), self.size * self.size * 3), dtype=np.uint8)
        for row, item in zip(raw, items, strict=True):
            row[:] = np.asarray(self.prepare(item.load())).reshape(-1)
        return raw

    def fit(self, raw: Any) -> Self:
        """Learn the main axes of the pile."""
        self._reduction = Reduction(components=self.components, normalise=False).fit(raw)
        return self

    def transform(self, raw: Any) -> NDArray[np.float32]:
        """Coordinates on the main axes, (n, at most `components`), colour counted from 0 to 1."""
        return self._reduction.transform(raw) / np.float32(255)


class TfIdf:
    """Words of the texts, rare ones weighing more, reduced to main themes.

    Parameters
    ----------
    components : most numbers per text that are kept.

    >>> texts = ["red apple", "green apple", "blue sea"]
    >>> TfIdf().fit(texts).transform(["a red sea"]).shape
    (1, 3)
    """

    name: str = "tfidf"
    kinds: tuple[str, ...] = ("text",)
    width: int | None = None

    def __init__(self, *, components: int = 128) -> None:
        self.components = components

    @property
    def fingerprint(self) -> str:
        """Constant: reading gives the text itself."""
        return "tfidf/v1"

    def read(self, items: Sequence[Item]) -> list[str]:
        """The texts."""
        return [item.load() for item in items]

    def fit(self, raw: Any) -> Self:
        """Learn the words, their weights and the themes of the pile."""
        from sklearn.decomposition import TruncatedSVD

        texts = list(raw)
        self._words = _weighted_words()
        try:
            table = self._words.fit_transform(texts)
        except ValueError as problem:
            raise VectorError(
                f"The {len(texts)} texts hold no words of two letters or more, so they cannot be "
                "compared by their words. Check that these are texts, or bring vectors."
            ) from problem
        components = min(self.components, table.shape[0])
        self._themes: NDArray[Any] | None = None  # few words: their weights are the vector
        if table.shape[1] > components:
            self._themes = TruncatedSVD(components, random_state=0).fit(table).components_
        return self

    def transform(self, raw: Any) -> NDArray[np.float32]:
        """Unit vectors (n, at most `components`); a text without known words is all zeros."""
        vectors = self._on_themes(list(raw))
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        return np.asarray(vectors / np.maximum(norms, 1e-12), dtype=np.float32)

    def outside(self, raw: Any) -> NDArray[np.float64]:
        """(n,) how much of each text its vector does not tell; 1 for one without known words."""
        texts = list(raw)
        along = (self._on_themes(texts).astype(np.float64) ** 2).sum(axis=1)
        split, known = self._words.build_analyzer(), self._words.vocabulary_
        words = [split(text) for text in texts]
        share = [sum(word in known for word in text) / max(len(text), 1) for text in words]
        return np.asarray(np.sqrt(np.clip(1.0 - along * np.array(share), 0.0, 1.0)))

    def state(self) -> dict[str, Any]:
        """What was learnt from the texts: the words, their weights and the themes."""
        words = "\n".join(sorted(self._words.vocabulary_, key=self._words.vocabulary_.__getitem__))
        known = {"words": np.frombuffer(words.encode(), dtype=np.uint8), "rarity": self._words.idf_}
        if self._themes is not None:
            known["themes"] = self._themes.astype(np.float16)  # many words: half the room
        return known

    def restored(self, state: Mapping[str, Any]) -> Self:
        """This encoder as if fitted on the texts that the state comes from."""
        words = np.asarray(state["words"], dtype=np.uint8).tobytes().decode().split("\n")
        themes, rarity = state.get("themes"), np.asarray(state["rarity"], dtype=np.float32)
        if rarity.shape != (len(words),) or len(set(words)) != len(words):
            raise ValueError("the words do not fit their weights")
        if themes is not None and (themes.ndim != 2 or themes.shape[1] != len(words)):
            raise ValueError("the themes do not fit the words")
        self._words = _weighted_words({word: place for place, word in enumerate(words)})
        self._words.idf_ = rarity
        self._themes = None if themes is None else np.asarray(themes, dtype=np.float32)
        return self

    def _on_themes(self, texts: list[str]) -> NDArray[Any]:
        if not texts:
            return np.empty((0, self._n_out), dtype=np.float32)
        table = self._words.transform(texts)
        return np.asarray(table.toarray() if self._themes is None else table @ self._themes.T)

    @property
    def _n_out(self) -> int:
        return len(self._words.vocabulary_) if self._themes is None else len(self._themes)


def _weighted_words(vocabulary: Mapping[str, int] | None = None) -> Any:
    from sklearn.feature_extraction.text import TfidfVectorizer

    return TfidfVectorizer(
        sublinear_tf=True, strip_accents="unicode", dtype=np.float32, vocabulary=vocabulary
    )


class Rows:
    """Columns of a table on one scale: gaps filled by the median, constant columns left out."""

    name: str = "rows"
    kinds: tuple[str, ...] = ("row",)
    width: int | None = None

    @property
    def fingerprint(self) -> str:
        """Constant: reading gives the row itself."""
        return "rows/v1"

    def read(self, items: Sequence[Item]) -> NDArray[np.float64]:
        """The rows as one table."""
        return _stacked(items, np.float64)

    def fit(self, raw: Any) -> Self:
        """Learn which columns tell rows apart, their medians and their spread."""
        table = _known(_table(raw))
        self._n_columns = table.shape[1]
        counts = np.isfinite(table).sum(axis=0)
        median = np.zeros(self._n_columns)
        filled = np.flatnonzero(counts)
        median[filled] = np.nanmedian(table[:, filled], axis=0)
        whole = np.where(np.isnan(table), median, table)
        spread = whole.std(axis=0)
        # Rounding leaves a constant column of 1e9 with a spread that is not quite zero.
        self._columns = np.flatnonzero(spread > 1e-12 * np.maximum(1.0, np.abs(median)))
        if not len(self._columns):
            raise VectorError(
                f"All {self._n_columns} columns of the {len(table)} rows are constant or empty, so "
                "nothing tells the rows apart. Bring at least one column of numbers that differ."
            )
        self._median = median[self._columns]
        self._mean = whole[:, self._columns].mean(axis=0)
        self._spread = spread[self._columns]
        return self

    def transform(self, raw: Any) -> NDArray[np.float32]:
        """Standardised columns (n, columns that differ)."""
        table = _table(raw)
        if table.shape[1] != self._n_columns:
            raise VectorError(
                f"Rows of {table.shape[1]} columns came, but {self._n_columns} were learnt. "
                "Bring the same columns in the same order."
            )
        table = _known(table[:, self._columns])
        whole = np.where(np.isnan(table), self._median, table)
        return np.asarray((whole - self._mean) / self._spread, dtype=np.float32)

    def state(self) -> dict[str, Any]:
        """What was learnt from the table: which columns count, their middle and their spread."""
        numbers = np.stack([self._median, self._mean, self._spread])
        return {"n_columns": self._n_columns, "columns": self._columns, "numbers": numbers}

    def restored(self, state: Mapping[str, Any]) -> Self:
        """This encoder as if fitted on the table that the state comes from."""
        n_columns, columns = int(state["n_columns"]), np.asarray(state["columns"], dtype=np.intp)
        median, mean, spread = np.asarray(state["numbers"], dtype=np.float64)
        if not (len(columns) == len(spread) and (columns < n_columns).all() and spread.all()):
            raise ValueError("the columns do not fit their numbers")
        self._n_columns, self._columns = n_columns, columns
        self._median, self._mean, self._spread = median, mean, spread
        return self


class Ready:
    """Vectors that are ready: taken as they are, never copied when they are 32-bit floats."""

    name: str = "vectors"
    kinds: tuple[str, ...] = ("row",)
    width: int | None = None

    @property
    def fingerprint(self) -> str:
        """Constant: reading gives the vector itself."""
        return "vectors/v1"

    def read(self, items: Sequence[Item]) -> NDArray[np.float32]:
        """The vectors as one array."""
        return _stacked(items, np.float32)

    def fit(self, raw: Any) -> Self:
        """Only note the width; there is nothing to learn."""
        self._n_columns = _table(raw).shape[1]
        return self

    def transform(self, raw: Any) -> NDArray[np.float32]:
        """The same numbers as 32-bit floats; NaN and infinite ones are refused."""
        table = _table(raw)
        if table.shape[1] != self._n_columns:
            raise VectorError(
                f"Vectors of {table.shape[1]} numbers came, but those before had "
                f"{self._n_columns}. Bring vectors of one kind."
            )
        vectors = np.asarray(table, dtype=np.float32)
        start = 0
        for part in chunks(vectors):
            broken = np.flatnonzero(~np.isfinite(part).all(axis=1))
            if len(broken):
                raise VectorError(
                    f"Vector {start + int(broken[0])} of {len(vectors)} holds NaN, or a number "
                    "too large for 32 bits. Remove such vectors or fill the gaps first."
                )
            start += len(part)
        return vectors

    def state(self) -> dict[str, Any]:
        """How many numbers a vector has."""
        return {"n_columns": self._n_columns}

    def restored(self, state: Mapping[str, Any]) -> Self:
        """This encoder as if fitted on the vectors that the state comes from."""
        self._n_columns = int(state["n_columns"])
        return self


def _stacked(items: Sequence[Item], dtype: type[np.floating[Any]]) -> NDArray[Any]:
    rows = [np.asarray(item.load(), dtype=dtype).reshape(-1) for item in items]
    widths = {len(row) for row in rows}
    if len(widths) > 1:
        raise VectorError(
            f"The rows have {min(widths)} to {max(widths)} numbers. Bring equal ones."
        )
    return np.stack(rows) if rows else np.empty((0, 0), dtype=dtype)


def _table(raw: Any) -> NDArray[Any]:
    """A two-dimensional array of numbers, without a copy where it is one already."""
    table = np.asarray(raw)
    if table.ndim != 2 or 0 in table.shape or table.dtype.kind not in "fiub":
        raise VectorError(
            f"Numbers in rows and columns are needed; an array of shape {table.shape} and type "
            f"{table.dtype} came. Bring one row of numbers per item."
        )
    return table


def _known(table: NDArray[Any]) -> NDArray[np.float64]:
    """The table with infinite numbers counted as gaps."""
    values = table.astype(np.float64)
    values[~np.isfinite(values)] = np.nan
    return values
