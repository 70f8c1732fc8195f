"""Shows a session in a notebook; the page itself belongs to another package."""

from __future__ import annotations

from importlib import import_module
from typing import Any


class InNotebook:
    """Sessions that can show their page in a notebook."""

    def widget(self, *, height: int = 760, host: str = "localhost") -> Any:
        """Return the page over this session, which Jupyter and marimo show as the cell's output.

        Answers land in this very object. `host` is the name of this machine in the address of the
        notebook.
        """
        page = import_module("samekind.web.notebook")  # only here: no session needs a server
        return page.PageWidget(self, height=height, host=host)
