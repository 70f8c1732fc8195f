"""Words that people read on the page and in the terminal."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "samekind"
NAMES = re.compile(r"\.orientation\b|--orientation\b|/orientations\b|xmp or orientation\b")
"""Suffix, option, address and format, which keep the name of the API."""


def messages(path: Path) -> Iterator[tuple[int, str]]:
    """Sentences in a file; no docstrings and no names."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    alone = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            if id(node) not in alone and " " in node.value.strip():
                yield node.lineno, node.value


@pytest.mark.parametrize("room", ["bulk", "exports", "session", "web", "workspace"])
def test_people_read_of_groupings_and_not_of_orientations(room: str) -> None:
    found = [
        f"{path.name}:{line}: {text}"
        for path in sorted((SOURCE / room).rglob("*.py"))
        for line, text in messages(path)
        if re.search(r"orientation", NAMES.sub("", text), re.IGNORECASE)
    ]
    assert not found


def test_the_terminal_says_grouping_for_what_was_sorted() -> None:
    for name in ("ask", "export", "predict", "serve"):
        for line, text in messages(SOURCE / "cli" / f"{name}.py"):
            assert "orientation" not in NAMES.sub("", text), f"{name}.py:{line}: {text}"
