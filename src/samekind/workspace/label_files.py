"""Label files: groups that another tool has written, read as labels of the items of a pile.

The content decides what a file is: a table (CSV, JSON lines, ``metadata.csv`` of Hugging Face
datasets, issues of cleanlab), or JSON of Label Studio, FiftyOne, Argilla, COCO or samekind itself.
What people said counts; guesses of a model count only where nobody said anything.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from samekind.errors import InputError
from samekind.items import Collection
from samekind.questions.wording import plural

Labels = dict[int, str]
"""Item positions with the name of their group."""
Named = Iterable[tuple[tuple[str, ...], str]]
"""Possible names of an item, the best first, and its group."""
HEADINGS = frozenset(
    {"id", "item", "file", "filename", "file name", "file_name", "path", "name", "image", "text"}
)
"""Headings, in lower case, of the column that names the items of a table."""
GROUPS = ("name", "group name", "label", "kind", "class", "category", "group", "choice")
"""Headings of the column that names the groups, the best first."""
TELLING = HEADINGS.union(GROUPS)
SPARE_ROWS, ROWS_PER_ITEM = 100_000, 20
"""Rows that a file may have: so many, and so many more for each item of the pile."""
ROWS_TO_JUDGE = 1_000
"""Rows at the beginning that say whether a file is a table."""
MAX_PATH = 4_000
"""Characters of a path or an address that may name an item."""
MAX_MATCHED_TEXTS = 50_000
"""Texts up to which an item may be named by its whole text."""
_UPLOADED = re.compile(r"^[0-9a-f]{8}-")
"""What Label Studio puts before the name of an uploaded file."""


def read_labels(text: str, collection: Collection) -> Labels:
    """Read the content of a label file.

    An item is named by its id, by the end of its path, by its file name with or without suffix if
    that is unique, or, in piles of texts, by its text.
    """
    known = Places(collection)
    labels: Labels = {}
    n_rows, example = 0, ""
    for names, group in _named(text.removeprefix("\ufeff"), list(collection.ids()), known):
        n_rows, example = n_rows + 1, example or (names[0] if names else "")
        where = next((at for name in names if (at := known.find(name)) is not None), None)
        if where is not None and group:
            labels[where] = group
    if not labels:
        raise InputError(
            f"None of {plural(n_rows, 'row')} names one of these items: expected names such as "
            f"{collection.id(0)!r}, got {example[:100]!r}. Correct the names, or choose another "
            "file."
        )
    return labels


def _named(text: str, ids: Sequence[str], known: Places) -> Named:
    """The items that a file names, and their groups."""
    limit = SPARE_ROWS + ROWS_PER_ITEM * len(ids)
    content = _parsed(text, limit)
    if content is None:
        return _of_table(text, ids, known, limit)
    if isinstance(content, dict) and "annotations" in content and "categories" in content:
        return _of_coco(content)
    if isinstance(content, dict) and {"classes", "labels"} <= content.keys():
        return _of_classes(content)
    if isinstance(content, dict):
        content = content.get("samples", content.get("items"))
    if isinstance(content, list) and content and all(isinstance(one, dict) for one in content):
        _check_rows(len(content), limit)
        return _of_records(content)
    raise InputError(
        "Expected a table with a column of items and one of groups, or JSON of Label Studio, "
        "FiftyOne, Argilla or COCO, got other JSON. Export it again as one of these."
    )


def _check_rows(n_rows: int, limit: int) -> None:
    if n_rows > limit:
        raise InputError(
            f"Expected at most {limit:,} rows for these items, got more. Leave out the rows of "
            "other items."
        )


def _parsed(text: str, limit: int) -> Any:
    """Return JSON or lines of JSON, not many more than `limit`; None if it is neither."""
    begin = text.lstrip()[:1]
    if begin not in ("{", "["):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        pass
    try:
        lines = (line for line in io.StringIO(text) if line.strip())
        return [json.loads(line) for line in islice(lines, limit + 1)]
    except (ValueError, RecursionError) as problem:
        raise InputError(
            f"Expected JSON, as the file begins with {begin!r}, got something else: {problem}. "
            "Export it again."
        ) from problem


def _of_coco(content: Mapping[str, Any]) -> Named:
    try:
        files = {image["id"]: str(image["file_name"]) for image in content["images"]}
        names = {category["id"]: str(category["name"]) for category in content["categories"]}
        pairs = [(one["image_id"], one["category_id"]) for one in content["annotations"]]
        return [((files[image],), names[category]) for image, category in pairs]
    except KeyError as problem:
        raise InputError(
            f"Expected COCO, got a file in which {problem} is missing. Export it again."
        ) from problem
    except TypeError as problem:  # such as a list in the place of a number
        raise InputError(
            "Expected COCO, with 'id' and 'file_name' of each image, 'id' and 'name' of each "
            "category, and 'image_id' and 'category_id' of each annotation, got something else in "
            "their place. Export it again."
        ) from problem


def _of_classes(content: Mapping[str, Any]) -> Named:
    """The labels of a FiftyOneImageClassificationDataset: indices of classes, or their names."""
    classes, labels = content["classes"], content["labels"]
    if not isinstance(labels, dict):
        raise InputError("Expected labels by image, as FiftyOne writes them, got a list.")
    for name, label in labels.items():
        label = label.get("label") if isinstance(label, dict) else label
        if isinstance(label, int) and isinstance(classes, list) and classes:
            label = classes[label] if 0 <= label < len(classes) else None
        if isinstance(label, str | int):
            yield (str(name),), str(label)


def _of_records(records: list[dict[str, Any]]) -> Named:
    """Tasks of Label Studio, records of Argilla, samples of FiftyOne, or rows."""
    for group_in in (_said_in, _guessed_in):
        found = [(_names_in(one), group) for one in records if (group := group_in(one))]
        if found:
            return found
    first = (key for one in records[:ROWS_TO_JUDGE] for key in one)
    telling = (key for one in records for key in one if key.casefold() in TELLING)
    heads = list(dict.fromkeys([*first, *telling]))
    if not heads:
        return []
    naming, column = _columns([heads], has_heading=True)
    return [
        (tuple(str(one.get(heads[k], "")) for k in naming), str(one.get(heads[column], "")))
        for one in records
    ]


def _said_in(one: Mapping[str, Any]) -> str:
    """The group that a person gave to an item."""
    for annotation in _dicts(one.get("annotations")):
        if not annotation.get("was_cancelled") and (choice := _choice(annotation)):
            return choice
    for answers in _values(one.get("responses")):
        for answer in _dicts(answers):
            if answer.get("value"):
                return str(answer["value"])
    fields = (value for value in one.values() if isinstance(value, dict))
    return next((str(f["label"]) for f in fields if f.get("_cls") == "Classification"), "")


def _guessed_in(one: Mapping[str, Any]) -> str:
    """The group that a model suggests for an item."""
    for prediction in _dicts(one.get("predictions")):
        if choice := _choice(prediction):
            return choice
    guesses = (g for g in _values(one.get("suggestions")) if isinstance(g, dict))
    return next((str(guess["value"]) for guess in guesses if guess.get("value")), "")


def _choice(annotation: Mapping[str, Any]) -> str:
    """The first choice in a result of Label Studio."""
    for result in _dicts(annotation.get("result")):
        value = result.get("value")
        choices = value.get("choices") if isinstance(value, dict) else None
        if result.get("type") == "choices" and isinstance(choices, list) and choices:
            return str(choices[0])
    return ""


def _names_in(one: Mapping[str, Any]) -> tuple[str, ...]:
    """What an item may be called in a task, record or sample."""
    meta, data = one.get("meta"), one.get("data")
    found: list[Any] = [meta.get("id") if isinstance(meta, dict) else None]
    found += [one.get("id") if "fields" in one else None, one.get("filepath")]
    found += [*_values(data), *_values(one.get("fields"))]
    return tuple(str(name) for name in found if isinstance(name, str | int) and str(name))


def _of_table(text: str, ids: Sequence[str], known: Places, limit: int) -> Named:
    read = csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(text))
    filled = ([cell.strip() for cell in row] for row in read if any(cell.strip() for cell in row))
    try:
        rows = list(islice(filled, ROWS_TO_JUDGE))
        if max(map(len, rows), default=0) >= 2:
            rows += islice(filled, limit)
    except csv.Error as problem:
        raise InputError(f"Expected a CSV table, got a file with a {problem}.") from problem
    _check_rows(len(rows), limit)
    if max(map(len, rows), default=0) < 2:
        raise InputError(
            "Expected a table with two columns, one that names the items and one that names their "
            "groups. Save it as CSV."
        )
    heads = [cell.casefold() for cell in rows[0]]
    if "given_label" in heads:
        return _of_issues(heads, rows[1:], ids)
    first = _name_column(rows[0])
    return _of_rows(rows, has_heading=known.find(rows[0][first]) is None)


def _of_issues(heads: list[str], rows: list[list[str]], ids: Sequence[str]) -> Named:
    """Label issues of cleanlab: an item with an issue has no group, and so is asked about.

    A table without a column of names has one row per item, in the order of the items.
    """
    named = next((k for k, head in enumerate(heads) if head in HEADINGS - {"name"}), None)
    if named is None and len(rows) != len(ids):
        raise InputError(
            f"Expected a column id, or {len(ids):,} rows in the order of the items, got "
            f"{len(rows):,} rows. Add the ids of the items."
        )
    given = heads.index("given_label")
    flag = heads.index("is_label_issue") if "is_label_issue" in heads else None
    for k, row in enumerate(rows):
        if len(row) < len(heads):
            continue
        if flag is None or row[flag].casefold() not in ("true", "1"):
            yield (ids[k] if named is None else row[named],), row[given]


def _of_rows(rows: list[list[str]], has_heading: bool) -> Named:
    naming, column = _columns(rows, has_heading=has_heading)
    for row in rows[1:] if has_heading else rows:
        if len(row) > max(*naming, column):
            yield tuple(row[k] for k in naming), row[column]


def _columns(rows: list[list[str]], *, has_heading: bool) -> tuple[list[int], int]:
    """The columns that name items, an id before others, and the one that names groups."""
    first = _name_column(rows[0])
    column = _group_column(rows, first, has_heading=has_heading)
    heads = [cell.casefold() for cell in rows[0]] if has_heading else []
    others = sorted(heads.index(head) for head in HEADINGS.intersection(heads))
    naming = [first, *(k for k in others if k not in (first, column))]
    return sorted(naming, key=lambda k: bool(heads) and heads[k] != "id"), column


def _name_column(heads: list[str]) -> int:
    return next((k for k, cell in enumerate(heads) if cell.casefold() in HEADINGS), 0)


def _group_column(rows: list[list[str]], first: int, *, has_heading: bool) -> int:
    """Return the column of the groups: one called so, or else the one after the names."""
    if has_heading:
        called = {cell.casefold(): k for k, cell in enumerate(rows[0]) if k != first}
        for heading in GROUPS:
            if heading in called:
                return called[heading]
    return first + 1 if first + 1 < len(rows[0]) else 0


def _delimiter(text: str) -> str:
    head = text[:20_000]
    return max(",;\t|", key=lambda mark: head.count(mark))


def _by_name(collection: Collection) -> dict[str, int | None]:
    """Positions by text, by every end of a path, with and without suffix, and by id.

    None for names of several items.
    """
    names: list[dict[str, int | None]] = [{}, {}, {}]
    texts, stems, ends = names

    def add(found: dict[str, int | None], name: str, position: int) -> None:
        found[name] = None if found.get(name, position) != position else position

    match_texts = collection.kind == "text" and len(collection) <= MAX_MATCHED_TEXTS
    for position, item in enumerate(collection):
        parts = PurePosixPath(item.id).parts
        for k in range(len(parts)):
            end = "/".join(parts[k:])
            add(ends, end, position)
            add(stems, str(PurePosixPath(end).with_suffix("")) if end != "/" else end, position)
        if match_texts:
            add(texts, str(item.load()).strip(), position)
    return texts | stems | ends | {id: position for position, id in enumerate(collection.ids())}


class Places:
    """Positions of items by all the names that a file may have for them."""

    def __init__(self, collection: Collection) -> None:
        self._known = _by_name(collection)
        self._depth = max((id.count("/") + 1 for id in collection.ids()), default=1)
        self._found: dict[str, int | None] = {}

    def find(self, name: str) -> int | None:
        """Return the position of the item with this name; a longer path may name it."""
        if name not in self._found:
            self._found[name] = self._find(name)
        return self._found[name]

    def _find(self, name: str) -> int | None:
        known = self._known
        if (found := known.get(name.strip())) is not None or len(name) > MAX_PATH:
            return found
        parts = [p for p in _path_in(name).replace("\\", "/").split("/") if p not in ("", ".")]
        parts = parts[-self._depth :]  # no longer end is that of an item
        ends = ["/".join(parts[k:]) for k in range(len(parts))]
        ends += [_UPLOADED.sub("", parts[-1])] if parts else []
        return next((known[end] for end in ends if known.get(end) is not None), None)


def _path_in(name: str) -> str:
    """The path in an address; local files of Label Studio are ``/data/local-files/?d=PATH``."""
    if "?" not in name and "://" not in name:
        return name
    try:
        address = urlsplit(name)
    except ValueError:
        return name
    return parse_qs(address.query).get("d", [unquote(address.path)])[0]


def _dicts(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, list):
        yield from (one for one in value if isinstance(one, dict))


def _values(value: Any) -> list[Any]:
    return list(value.values()) if isinstance(value, dict) else []
