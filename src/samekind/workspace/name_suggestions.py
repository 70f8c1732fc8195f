"""Suggested names of a group: words that its items share and others do not.

Words come from file and folder names, from the texts themselves, from the columns of a table, and
from objects that the network sees on photos. Nothing is suggested that another group is called.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain, zip_longest

import numpy as np
from numpy.typing import NDArray

from samekind.errors import SamekindError
from samekind.items import Collection, Item
from samekind.session import Session
from samekind.workspace.object_names import telling_objects
from samekind.workspace.objects import Objects

MAX_SAMPLE = 300
"""Items of the group, and as many others, that are read."""
MIN_SHARE = 0.3
"""Share of the group's items that must have a word."""
MIN_LIFT = 1.5
"""How much more common a word must be in the group than outside."""
N_SUGGESTIONS = 4
N_KEY_WORDS = 5
MIN_KEY_SHARE = 0.12
"""Share of the group's texts that must have a key word; a name needs more."""
MAX_KEY_SAMPLE = 1200
"""Items of all groups together that are read for key words."""
CLEAR_DIFFERENCE = 0.8
"""Difference of the medians in quartile ranges from which a column describes a group."""
CAMERA_WORDS = "img dsc dscn dcim image images photo photos pic pict file files copy"
STOP_WORDS = (
    "the and for that this with from are was were has have had not but you your they their his her "
    "its our out all any can will would could about into over more than then there what which who "
    "when where how why been being also very just like one two some such only other she him them "
    "does did because after before between each here most both these those der die das und ist"
)


@dataclass(frozen=True)
class Suggestion:
    """A name for a group, and where it comes from."""

    name: str
    why: str


def suggest_names(session: Session, group: int, objects: Objects | None = None) -> list[Suggestion]:
    """Suggest names for a group, the most telling first; often there are none.

    `objects` : what is on the photos, if the network names it.
    """
    clustering, items = session.clustering, session.collection
    members, others = clustering.members(group), np.flatnonzero(clustering.labels != group)
    inside, outside = _some(members, session.seed), _some(others, session.seed)
    if items.kind == "row":
        found = _by_columns(items, inside, outside)
    elif items.kind == "text":
        found = _by_words(
            [_text_words(items[int(i)]) for i in inside],
            [_text_words(items[int(i)]) for i in outside],
            "Common in these texts",
        )
    else:
        found = []
    found += _by_words(
        [_path_words(items.id(int(i))) for i in inside],
        [_path_words(items.id(int(i))) for i in outside],
        "In the names of these files",
    )
    if objects is not None:
        seen = [
            Suggestion(
                _capital(name), f"Seen on these photos, on average with {share:.0%} certainty"
            )
            for name, share in telling_objects(objects, members, others)
        ]
        found = [one for one in chain(*zip_longest(found, seen)) if one is not None]
    taken = {name.casefold() for k, name in clustering.names.items() if k != group}
    once = {one.name.casefold(): one for one in reversed(found)}
    fresh = [one for one in found if once.get(one.name.casefold()) is one]
    return [one for one in fresh if one.name.casefold() not in taken][:N_SUGGESTIONS]


def _capital(name: str) -> str:
    """A name with a capital letter, and others as they are.

    >>> _capital("golden retriever"), _capital("iPod")
    ('Golden retriever', 'iPod')
    """
    return name if any(letter.isupper() for letter in name) else name.capitalize()


def key_words(session: Session) -> dict[int, list[str]]:
    """Describe each group by words of its texts, or by ranges and values of columns.

    Pictures have none: their names say little about what they show.
    """
    clustering, items = session.clustering, session.collection
    if items.kind not in ("text", "row"):
        return {}
    most = max(8, min(MAX_SAMPLE, MAX_KEY_SAMPLE // max(1, len(clustering.numbers))))
    samples = {g: _some(clustering.members(g), session.seed, most) for g in clustering.numbers}
    texts = items.kind == "text"
    words = {int(i): _text_words(items[int(i)]) for s in samples.values() for i in s if texts}
    found: dict[int, list[str]] = {}
    for group, inside in samples.items():
        others = [sample for other, sample in samples.items() if other != group]
        outside = np.concatenate(others) if others else inside[:0]
        if texts:
            own, rest = ([words[int(i)] for i in part] for part in (inside, outside))
            found[group] = _telling(own, rest, MIN_KEY_SHARE)[0][:N_KEY_WORDS]
        elif len(inside):
            columns = _by_columns(items, inside, outside)
            found[group] = [one.name for one in columns][:N_KEY_WORDS]
    return found


def _some(positions: NDArray[np.intp], seed: int, most: int = MAX_SAMPLE) -> NDArray[np.intp]:
    if len(positions) <= most:
        return positions
    return np.sort(np.random.default_rng(seed).choice(positions, most, replace=False))


def _path_words(id: str) -> set[str]:
    """Words of folders and file, without suffix, numbers and what cameras write."""
    path = re.sub(r"\.[A-Za-z0-9]{1,5}$", "", id)
    spaced = re.sub(r"([a-z])([A-Z])", r"\1 \2", path)
    words = re.findall(r"[^\W\d_]{3,}", spaced)
    return {word.casefold() for word in words} - set(CAMERA_WORDS.split())


def _text_words(item: Item) -> set[str]:
    with suppress(SamekindError, OSError):
        words = re.findall(r"[^\W\d_]{3,}", str(item.load())[:20_000])
        return {word.casefold() for word in words} - set(STOP_WORDS.split())
    return set()


def _by_words(
    inside: Sequence[set[str]], outside: Sequence[set[str]], why: str
) -> list[Suggestion]:
    """Names made of words that many items of a group have, and few others."""
    words, scores = _telling(inside, outside, MIN_SHARE)
    best = words[:N_SUGGESTIONS]
    together = [w for w in best[1:2] if scores[w] > 0.9 * scores[best[0]]]
    pair = [f"{best[0]} {together[0]}".capitalize()] if together else []
    return [Suggestion(name, why) for name in (*(w.capitalize() for w in best), *pair)]


def _telling(
    inside: Sequence[set[str]], outside: Sequence[set[str]], min_share: float
) -> tuple[list[str], dict[str, float]]:
    """Words that many items of a group have, and few others, the most telling first."""
    here, there = _counts(inside), _counts(outside)
    scores: dict[str, float] = {}
    for word, count in here.items():
        share = count / len(inside)
        lift = share / ((there[word] + 0.5) / (len(outside) + 1))
        if share >= min_share and lift >= MIN_LIFT and count >= 2:
            scores[word] = share * np.log(lift)
    return sorted(scores, key=lambda word: (-round(scores[word], 6), word)), scores


def _counts(words: Iterable[set[str]]) -> Counter[str]:
    return Counter(word for one in words for word in one)


def _by_columns(
    items: Collection, inside: NDArray[np.intp], outside: NDArray[np.intp]
) -> list[Suggestion]:
    """Ranges and values of the columns in which a group differs most from the others."""
    here, there = (_columns(items, positions) for positions in (inside, outside))
    scored: list[tuple[float, Suggestion]] = []
    for column, cells in here.items():
        others = there.get(column, [])
        numbers, rest = _numbers(cells), _numbers(others)
        if numbers is not None and rest is not None:
            spread = float(np.subtract(*np.percentile([*numbers, *rest], [75, 25]))) or 1.0
            apart = abs(float(np.median(numbers) - np.median(rest))) / spread
            if apart >= CLEAR_DIFFERENCE:
                low, high = np.percentile(numbers, [10, 90])
                name = f"{column} {low:.4g}" + ("" if low == high else f" to {high:.4g}")
                scored.append((apart, Suggestion(name, f"Most have {column} in this range")))
            continue
        value, count = Counter(cells).most_common(1)[0]
        share = count / len(cells)
        lift = share / ((others.count(value) + 0.5) / (len(others) + 1))
        if value and share >= 0.6 and lift >= MIN_LIFT:
            why = f"{share:.0%} have {column} = {value}"
            scored.append((share * float(np.log(lift)), Suggestion(value, why)))
    return [one for _, one in sorted(scored, key=lambda pair: -pair[0])]


def _columns(items: Collection, positions: NDArray[np.intp]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for position in positions:
        for column, value in getattr(items[int(position)], "cells", ()):
            found.setdefault(column, []).append(value)
    return found


def _numbers(cells: Sequence[str]) -> list[float] | None:
    try:
        return [float(cell) for cell in cells if cell.strip()] or None
    except ValueError:
        return None
