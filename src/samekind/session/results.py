"""What a program takes from a session: labels, a table, a picture, a file, predictions.

What needs data, encoders, a server or a picture is in other packages and imported when it is used.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np

from samekind.clustering import Clustering, Labels
from samekind.errors import MissingExtra, VectorError
from samekind.questions.wording import plural
from samekind.session.refit import check_like, check_vectors
from samekind.user_paths import check_no_pipe

if TYPE_CHECKING:
    from samekind.protocols import Clusterer, QueryStrategy
    from samekind.session.report import SessionReport
    from samekind.session.session import Session

SHOWN_GROUPS = 8
"""Groups that are listed where a session is printed."""


class Results:
    """Results of a session in the forms that programs use."""

    clustering: Clustering

    @property
    def _session(self) -> Session:
        return cast("Session", self)

    @property
    def labels(self) -> Labels:
        """(n,) the group number of each item, from 1 on, in the order of the items."""
        return self.clustering.labels

    @property
    def groups(self) -> dict[int, str]:
        """The groups: names by number."""
        return {number: self.clustering.name(number) for number in self.clustering.numbers}

    def predict(self, X: Any) -> Labels:
        """The group numbers of items outside the collection.

        `X` has their vectors (m, d), or data like that which the session was made of: texts,
        pictures, rows of a table.
        """
        session = self._session
        given = _vectors_of(session, X)
        if not np.ndim(given) or not len(given):
            raise VectorError(
                f"Expected at least 1 item to place, got {given!r:.100}. Give vectors (m, d), or "
                "data like that of the session."
            )
        vectors = check_vectors(given, len(given))
        check_like(vectors, session.X, session.collection.name)
        raw = session.model.predict(vectors)
        return np.array([session._number_of[int(label)] for label in raw], dtype=np.intp)

    def to_frame(self) -> Any:
        """Return a DataFrame: id, group, name and, if known, how sure the group is, by item."""
        try:
            import pandas as pd
        except ImportError as problem:
            raise MissingExtra("A DataFrame", "pandas") from problem
        found = self.clustering
        columns: dict[str, Any] = {
            "id": list(self._session.collection.ids()),
            "group": found.labels,
            "name": [found.name(int(number)) for number in found.labels],
        }
        if found.membership is not None:
            place = np.searchsorted(found.numbers, found.labels)
            columns["membership"] = found.membership[np.arange(len(place)), place]
        return pd.DataFrame(columns)

    def report(self) -> SessionReport:
        """Count answers, groups and conflicts, and say how good the groups probably are."""
        from samekind.session.report import report

        return report(self._session)

    def plot(self, ax: Any = None) -> Any:
        """Draw the items as points coloured by group, with matplotlib; returns the axes.

        `ax` : axes to draw into; None makes new ones.
        """
        return import_module("samekind.workspace.plot").draw(self, ax)

    def save(self, path: str | Path) -> None:
        """Write everything into one file, from which :meth:`load` goes on.

        A session saved under that name before is replaced once the new one is complete; anything
        else there is left alone, and the name refused.
        """
        import_module("samekind.workspace.saved_session").save(self, path)

    @classmethod
    def load(
        cls,
        path: str | Path,
        *,
        clusterer: Clusterer | str | None = None,
        strategy: QueryStrategy | str | None = None,
    ) -> Self:
        """Open a session that :meth:`save` has written: same items, answers and groups.

        `clusterer` and `strategy` have to be given only if they are not part of samekind.
        """
        saved = import_module("samekind.workspace.saved_session")
        found: Self = saved.load(cls, path, clusterer, strategy)
        return found

    def export(self, path: str | Path, *, format: str | None = None, mode: str = "copy") -> Any:
        """Write the groups to a new file or folder; returns what was written.

        Parameters
        ----------
        format : csv, json, parquet, folders, albums, xmp, coco, label-studio, fiftyone, argilla,
            cleanlab or imagefolder; None: by the suffix of the path.
        mode : for folders, ``copy`` the files or ``link`` to them.
        """
        return import_module("samekind.workspace.exports").export_groups(self, path, format, mode)

    def import_labels(self, source: str | Path | Mapping[str, str] | Sequence[object]) -> str:
        """Begin from groups that another tool made; returns what was done in words.

        The session must have no answers yet. Items without a group are placed by likeness.

        Parameters
        ----------
        source : a table (CSV, JSON lines), a file of Label Studio, FiftyOne, Argilla, COCO or
            cleanlab, a folder of Hugging Face datasets, groups by the ids of items, or a label
            for each item, None where it is not known.
        """
        if isinstance(source, str | Path):
            check_no_pipe(source)
        words: str = import_module("samekind.workspace.starts").import_labels(self, source)
        return words

    def widget(self, *, height: int = 760, host: str = "localhost") -> Any:
        """Return the page over this session, which Jupyter and marimo show as the cell's output.

        Answers land in this very object. `host` is the name of this machine in the address of the
        notebook.
        """
        page = import_module("samekind.web.notebook")  # only here: no session needs a server
        return page.PageWidget(self, height=height, host=host)

    def __repr__(self) -> str:
        return "\n".join(
            [f"<{type(self).__name__}: {_counts(self._session)}>", *_lines(self._session)]
        )

    def _repr_html_(self) -> str:
        sizes, rows = self.clustering.sizes(), []
        for number in _largest(self.clustering):
            name = escape(self.clustering.name(number))
            rows.append(f"<tr><td>{number}</td><td>{name}</td><td>{sizes[number]}</td></tr>")
        head = "<tr><th>group</th><th>name</th><th>items</th></tr>"
        more = f"<p>{escape(_more(self.clustering))}</p>" if _more(self.clustering) else ""
        return (
            f"<div><p><b>{type(self).__name__}</b>: {escape(_counts(self._session))}</p>"
            f"<table>{head}{''.join(rows)}</table>{more}<p>{escape(_next_step(self._session))}</p></div>"
        )


def _vectors_of(session: Session, X: Any) -> Any:
    """Vectors as they are, and the vectors of anything else by the encoder of the session."""
    is_array = hasattr(X, "__array__") and not hasattr(X, "iloc")
    if session.encoded is None or (
        is_array and np.ndim(X) == 2 and np.asarray(X).dtype.kind != "O"
    ):
        return X
    return import_module("samekind.workspace.given").vectors_like(session, X)


def _counts(session: Session) -> str:
    """What there is, in one line."""
    answers = len(session.answers)
    return (
        f"{plural(len(session.collection), 'item')}, {plural(answers, 'answer')}, "
        f"{plural(session.clustering.n_groups, 'group')}"
    )


def _largest(clustering: Clustering) -> list[int]:
    sizes = clustering.sizes()
    return sorted(sizes, key=lambda number: (-sizes[number], number))[:SHOWN_GROUPS]


def _more(clustering: Clustering) -> str:
    left = clustering.n_groups - SHOWN_GROUPS
    return f"and {plural(left, 'more group', 'more groups')}" if left > 0 else ""


def _lines(session: Session) -> list[str]:
    """The largest groups, and what to do next."""
    found, sizes = session.clustering, session.clustering.sizes()
    width = max(len(found.name(number)) for number in _largest(found))
    lines = [
        f"  {found.name(number):<{width}}  {plural(sizes[number], 'item')}"
        for number in _largest(found)
    ]
    return [*lines, *([f"  {_more(found)}"] if _more(found) else []), f"  {_next_step(session)}"]


def _next_step(session: Session) -> str:
    """What to do next, in one sentence."""
    if session.changes:
        return f"Next: session.refit() learns from the last {plural(session.changes, 'answer')}."
    if session.progress()["enough"]:
        return "Enough answers: session.labels and session.to_frame() have the groups."
    return "Next: session.ask() and session.tell(number, choice), or session.widget()."
