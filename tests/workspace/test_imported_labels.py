"""Labels from memory: what is missing is no group, and numbers read as they were."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import samekind
from samekind.errors import InputError

N = 60
X = np.random.default_rng(0).normal(size=(N, 2)) + 9 * (np.arange(N) % 3)[:, None]
TEXTS = ["cat", None, "dog", np.nan, "cat", float("nan"), "dog", pd.NA, "cat", pd.NaT, "dog", ""]
NUMBERS = [1, 2, None] * (N // 3)


def imported(labels: Any) -> tuple[set[str], str]:
    """The names of the groups, and what was done in words."""
    session = samekind.Session(X)
    words = session.import_labels(labels)
    return set(session.groups.values()), words


@pytest.mark.parametrize(
    "labels",
    [
        TEXTS * (N // 12),
        pd.Series(TEXTS * (N // 12)),
        np.array(TEXTS * (N // 12), dtype=object),
        pd.Series(([*TEXTS[:-3], None, "dog", None]) * (N // 12), dtype="string"),
        pd.Series(([*TEXTS[:-3], None, "dog", None]) * (N // 12)).astype("category"),
        {f"row-{k}": TEXTS[k % 12] for k in range(N)},
    ],
    ids=["list", "series", "array", "strings", "categories", "mapping"],
)
def test_items_without_a_label_are_in_no_group_of_their_own(labels: Any) -> None:
    names, words = imported(labels)
    assert names == {"cat", "dog"}
    assert words == "2 groups from 30 items. 30 items have no label and are placed by likeness."


@pytest.mark.parametrize(
    "labels",
    [
        pd.Series(NUMBERS),
        pd.Series(NUMBERS, dtype="Int64"),
        np.array(NUMBERS, dtype=float),
        {f"row-{k}": label for k, label in enumerate(pd.Series(NUMBERS))},
    ],
    ids=["floats", "integers", "array", "mapping"],
)
def test_whole_numbers_of_a_column_with_gaps_read_as_whole_numbers(labels: Any) -> None:
    assert imported(labels)[0] == {"1", "2"}


def test_other_numbers_stay_as_they_are() -> None:
    assert imported([1.0, 2.5, None] * (N // 3))[0] == {"1.0", "2.5"}
    assert imported([1.0, 2.0, 2.0] * (N // 3))[0] == {"1.0", "2.0"}
    assert imported([1, 2, 2] * (N // 3))[0] == {"1", "2"}


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        (5, "Expected a label file, .* got 5"),
        (None, "Expected a label file, .* got None"),
        ({np.int64(0): "a", np.int64(1): "b"}, "expected names such as 'row-0', got '0'"),
        ({}, "Expected from 2 to 1,000 groups to begin from, got 0"),
        ({"row-0": None}, "Expected from 2 to 1,000 groups to begin from, got 0"),
        ([np.nan] * N, "Expected from 2 to 1,000 groups to begin from, got 0"),
        (np.ones((N, 2)), "Expected one label for each item"),
    ],
    ids=["number", "nothing", "positions", "empty", "unknown", "gaps", "rows"],
)
def test_what_is_no_labels_is_told_in_a_sentence(labels: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        imported(labels)
