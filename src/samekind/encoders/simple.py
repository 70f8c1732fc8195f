"""Encoders of texts, tables and ready vectors: TfIdf, Rows, Ready."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from samekind.encoders.reduction import chunks
from samekind.errors import VectorError
from samekind.items import Item


class TfIdf:
    """Words of the texts, rare ones weighing more, reduced to main topics.

    Parameters
    ----------
    components : maximum number of dimensions that are kept.

    >>> texts = ["red apple", "green apple", "blue sea"]
    >>> TfIdf().fit(texts).transform(["a red sea"]).shape
    (1, 3)
    """

    name: str = "tfidf"
    block_name = "words"
    kinds: tuple[str, ...] = ("text",)
    width: int | None = None

    def __init__(self, *, components: int = 128) -> None:
        self.components = components

    @property
    def fingerprint(self) -> str:
        """Constant: reading returns the text itself."""
        return "tfidf/v1"

    def read(self, items: Sequence[Item]) -> list[str]:
        """The texts."""
        return [item.load() for item in items]

    def fit(self, raw: Any) -> Self:
        """Learn the words, their weights and the topics of the texts."""
        from sklearn.decomposition import TruncatedSVD
        from threadpoolctl import threadpool_limits

        texts = list(raw)
        self._words = _weighted_words()
        try:
            table = self._words.fit_transform(texts)
        except ValueError as problem:
            raise VectorError(
                f"Expected words of at least 2 letters, got none in {len(texts)} "
                f"text{'' if len(texts) == 1 else 's'}. Check that these are texts, or use ready "
                "vectors."
            ) from problem
        components = min(self.components, table.shape[0])
        self._themes: NDArray[Any] | None = None  # few words: their weights are the vector
        if table.shape[1] > components:
            with threadpool_limits(1):  # on busy cores threads would wait longer than they work
                self._themes = TruncatedSVD(components, random_state=0).fit(table).components_
        return self

    def transform(self, raw: Any) -> NDArray[np.float32]:
        """Unit vectors (n, at most `components`); a text without known words is all zeros."""
        vectors = self._on_themes(list(raw))
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        return np.asarray(vectors / np.maximum(norms, 1e-12), dtype=np.float32)

    def outside(self, raw: Any) -> NDArray[np.float64]:
        """(n,) how much of each text its vector misses; 1 for a text without known words."""
        texts = list(raw)
        along = (self._on_themes(texts).astype(np.float64) ** 2).sum(axis=1)
        split, known = self._words.build_analyzer(), self._words.vocabulary_
        words = [split(text) for text in texts]
        share = [sum(word in known for word in text) / max(len(text), 1) for text in words]
        return np.asarray(np.sqrt(np.clip(1.0 - along * np.array(share), 0.0, 1.0)))

    def state(self) -> dict[str, Any]:
        """The words, their weights and the topics."""
        words = "\n".join(sorted(self._words.vocabulary_, key=self._words.vocabulary_.__getitem__))
        known = {"words": np.frombuffer(words.encode(), dtype=np.uint8), "rarity": self._words.idf_}
        if self._themes is not None:
            known["themes"] = self._themes.astype(np.float16)  # many words: half the size
        return known

    def restored(self, state: Mapping[str, Any]) -> Self:
        """This encoder with the parameters of a state."""
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


TINY, HUGE = 1e-30, 1e150
"""Columns whose largest number is below or above are divided by a power of two, which changes no
digit. The squares of theirs are beyond 64 bits, or they would be taken for rounding errors."""


class Rows:
    """Standardised columns of a table: gaps filled by the median, constant columns dropped."""

    name: str = "rows"
    kinds: tuple[str, ...] = ("row",)
    width: int | None = None

    @property
    def fingerprint(self) -> str:
        """Constant: reading returns the row itself."""
        return "rows/v1"

    def read(self, items: Sequence[Item]) -> NDArray[np.float64]:
        """The rows as one table."""
        return _stacked(items, np.float64)

    def fit(self, raw: Any) -> Self:
        """Learn which columns vary, their medians and their standard deviations."""
        table = _known(_table(raw))
        self._n_columns = table.shape[1]
        exponents = _exponents(np.fmax.reduce(np.abs(table), axis=0))
        table = _scaled(table, exponents)
        counts = np.isfinite(table).sum(axis=0)
        median = np.zeros(self._n_columns)
        filled = np.flatnonzero(counts)
        median[filled] = np.nanmedian(table[:, filled], axis=0)
        whole = np.where(np.isnan(table), median, table)
        spread = whole.std(axis=0)
        # Rounding gives a constant column of 1e9 a standard deviation that is not quite zero.
        varies = spread > 1e-12 * np.maximum(1.0, np.abs(median))
        mean = _scaled(whole.mean(axis=0), -exponents)
        median, spread = _scaled(median, -exponents), _scaled(spread, -exponents)
        self._columns = np.flatnonzero(varies & (spread > 0))
        if not len(self._columns):
            raise VectorError(
                f"Expected at least 1 column of numbers that differ, but all {self._n_columns} "
                f"columns of the {len(table)} rows are constant or empty. Add another column."
            )
        self._median = median[self._columns]
        self._mean = mean[self._columns]
        self._spread = spread[self._columns]
        return self

    def transform(self, raw: Any) -> NDArray[np.float32]:
        """Standardised columns (n, columns that vary)."""
        table = _table(raw)
        if table.shape[1] != self._n_columns:
            raise VectorError(
                f"Expected {self._n_columns} columns, got {table.shape[1]}. "
                "Use the same columns in the same order."
            )
        table = _known(table[:, self._columns])
        whole = np.where(np.isnan(table), self._median, table)
        exponents = _exponents(self._spread)
        whole, mean, spread = (_scaled(x, exponents) for x in (whole, self._mean, self._spread))
        return np.asarray((whole - mean) / spread, dtype=np.float32)

    def state(self) -> dict[str, Any]:
        """The columns that vary, with their medians, means and standard deviations."""
        numbers = np.stack([self._median, self._mean, self._spread])
        return {"n_columns": self._n_columns, "columns": self._columns, "numbers": numbers}

    def restored(self, state: Mapping[str, Any]) -> Self:
        """This encoder with the parameters of a state."""
        n_columns, columns = int(state["n_columns"]), np.asarray(state["columns"], dtype=np.intp)
        median, mean, spread = np.asarray(state["numbers"], dtype=np.float64)
        if not (len(columns) == len(spread) and (columns < n_columns).all() and spread.all()):
            raise ValueError("the columns do not fit their numbers")
        self._n_columns, self._columns = n_columns, columns
        self._median, self._mean, self._spread = median, mean, spread
        return self


class Ready:
    """Ready vectors: used unchanged, and not copied if they are 32-bit floats."""

    name: str = "vectors"
    kinds: tuple[str, ...] = ("row",)
    width: int | None = None

    @property
    def fingerprint(self) -> str:
        """Constant: reading returns the vector itself."""
        return "vectors/v1"

    def read(self, items: Sequence[Item]) -> NDArray[np.float32]:
        """The vectors as one array."""
        return _stacked(items, np.float32)

    def fit(self, raw: Any) -> Self:
        """Remember the width; there is nothing to learn."""
        self._n_columns = _table(raw).shape[1]
        return self

    def transform(self, raw: Any) -> NDArray[np.float32]:
        """The same numbers as 32-bit floats; NaN and infinity are refused."""
        table = _table(raw)
        if table.shape[1] != self._n_columns:
            raise VectorError(
                f"Expected vectors of {self._n_columns} numbers, got {table.shape[1]}. "
                "Use vectors of one kind."
            )
        vectors = np.asarray(table, dtype=np.float32)
        start = 0
        for part in chunks(vectors):
            broken = np.flatnonzero(~np.isfinite(part).all(axis=1))
            if len(broken):
                raise VectorError(
                    f"Expected finite 32-bit numbers, but vector {start + int(broken[0])} of "
                    f"{len(vectors)} has others. Remove such vectors or fill the gaps."
                )
            start += len(part)
        return vectors

    def state(self) -> dict[str, Any]:
        """The number of columns."""
        return {"n_columns": self._n_columns}

    def restored(self, state: Mapping[str, Any]) -> Self:
        """This encoder with the parameters of a state."""
        self._n_columns = int(state["n_columns"])
        return self


def _stacked(items: Sequence[Item], dtype: type[np.floating[Any]]) -> NDArray[Any]:
    rows = [np.asarray(item.load(), dtype=dtype).reshape(-1) for item in items]
    widths = {len(row) for row in rows}
    if len(widths) > 1:
        raise VectorError(
            f"Expected rows of equal length, got {min(widths)} to {max(widths)} numbers."
        )
    return np.stack(rows) if rows else np.empty((0, 0), dtype=dtype)


def _table(raw: Any) -> NDArray[Any]:
    """A two-dimensional array of numbers, without a copy if it is one already."""
    table = np.asarray(raw)
    if table.ndim != 2 or 0 in table.shape or table.dtype.kind not in "fiub":
        raise VectorError(
            f"Expected one row of numbers per item, got an array of shape {table.shape} and type "
            f"{table.dtype}."
        )
    return table


def _exponents(largest: NDArray[np.float64]) -> NDArray[np.int32]:
    """(d,) the powers of two by which columns are divided; 0 for all but extreme ones."""
    extreme = ((largest > 0) & (largest < TINY)) | (largest > HUGE)
    return np.where(extreme, np.frexp(largest)[1], 0).astype(np.int32)


def _scaled(numbers: NDArray[np.float64], exponents: NDArray[np.int32]) -> NDArray[np.float64]:
    """Columns divided by powers of two; uncopied if none is to be divided."""
    return np.ldexp(numbers, -exponents) if exponents.any() else numbers


def _known(table: NDArray[Any]) -> NDArray[np.float64]:
    """The table with infinite numbers as gaps."""
    values = table.astype(np.float64)
    values[~np.isfinite(values)] = np.nan
    return values
