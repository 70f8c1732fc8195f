"""Prepare the docstrings for the reference of the site: an extension of griffe.

Our docstrings describe a parameter right after its name, because its type is in the signature::

    questions : how many questions are asked at most.

griffe would take that for the type, would lose prose that follows a list of parameters, and would
show an example as a quotation. Sphinx roles become the name that they refer to.
"""

from __future__ import annotations

import re
from typing import Any

from griffe import Extension, Object

HEADER = re.compile(r"(\w[\w ]*)\n-{3,}(?:\n|$)")
ENTRY = re.compile(r"^(\*{0,2}\w+(?:, \*{0,2}\w+)*) : ((?:.*\n?)(?: .*\n?)*)", flags=re.M)
ROLE = re.compile(r":(?:class|func|meth|mod|attr|exc|data):`~?([^`]+)`")
LISTS = ("Parameters", "Attributes", "Raises", "Returns", "Yields")
"""Sections that hold a list: other prose does not belong to them."""


def readable(docstring: str) -> str:
    r"""Describe each parameter below its name, and give examples and prose a section of their own.

    >>> readable("Go.\n\nParameters\n----------\na, b : how often.\n    Or so.")
    'Go.\n\nParameters\n----------\na\n    how often.\n    Or so.\nb\n    how often.\n    Or so.'
    >>> readable("Go.\n\n>>> go()")
    'Go.\n\nExamples\n--------\n>>> go()'
    >>> readable("See :class:`~samekind.session.Session`.")
    'See `Session`.'
    """
    section, parts = "", []
    text = ROLE.sub(lambda found: f"`{found[1].rpartition('.')[2]}`", docstring)
    for part in re.split(r"\n\n(?! )", text):
        header = HEADER.match(part)
        if header is not None:
            section = header[1]
        elif part.startswith(">>>") and section != "Examples":
            section, part = "Examples", f"Examples\n--------\n{part}"
        elif section in LISTS and not ENTRY.match(part):
            section, part = "Notes", f"Notes\n-----\n{part}"
        if section in ("Parameters", "Attributes"):
            part = ENTRY.sub(_below, part).rstrip()
        parts.append(part)
    return "\n\n".join(parts)


def _below(entry: re.Match[str]) -> str:
    """Repeat the description for each of the names, because each has its own type."""
    return "".join(f"{name}\n    {entry[2].rstrip()}\n" for name in entry[1].split(", "))


class ReadableDocstrings(Extension):
    """Apply `readable` to every docstring."""

    def on_object(self, *, obj: Object, **_: Any) -> None:
        """Rewrite the docstring of an object as soon as it is loaded."""
        if obj.docstring is not None:
            obj.docstring.value = readable(obj.docstring.value)
