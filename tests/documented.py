"""The blocks of code in the documents, and the commands in them."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

from places import ROOT

DOCS = ROOT / "docs"
DOCUMENTS = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md")),
    ROOT / "benchmarks" / "README.md",
    *sorted(DOCS.rglob("*.md")),
]
FENCED = re.compile(r"^( *)```(\S*)[^\n]*\n(.*?)^\1```$", flags=re.S | re.M)


@dataclass(frozen=True)
class Block:
    """A fenced block of a page, with the line on which it begins."""

    page: str
    line: int
    language: str
    text: str

    def commands(self) -> list[str]:
        """Return what a person types: lines after ``$``, joined where they go on."""
        joined = re.sub(r"\\\n\s*", "", self.text)
        typed = (line[2:] for line in joined.splitlines() if line.startswith("$ "))
        return [re.sub(r"\s+# .*$", "", line).strip() for line in typed]


def blocks(path: Path) -> list[Block]:
    """Return the blocks of a document, in the order in which they are read."""
    text, page = path.read_text(encoding="utf-8"), path.relative_to(ROOT).as_posix()
    return [
        Block(page, text[: found.start()].count("\n") + 1, found[2], found[3])
        for found in FENCED.finditer(text)
    ]


def all_blocks(language: str) -> list[Block]:
    """Return the blocks in one language, of all documents."""
    return [block for path in DOCUMENTS for block in blocks(path) if block.language == language]


def words_of(command: str) -> list[str]:
    """Split a command as a shell does, without variables that are set before it.

    >>> words_of("A=1 samekind ask 'my pile' > out")
    ['samekind', 'ask', 'my pile', '>', 'out']
    """
    words = shlex.split(command)
    while words and re.match(r"^\w+=", words[0]):
        words = words[1:]
    return words
