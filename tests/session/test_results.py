"""What a program takes from a session: labels, tables, pictures, files, predictions."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from samekind import COBRAS, InputError, KMeans, MissingExtra, Session, SourceError, open_store
from samekind.protocols import View
from samekind.questions import Question

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 3)) + 9 * np.eye(3)[np.arange(60) % 3]


def answered(session: Session, count: int) -> Session:
    for _ in range(count):
        asked = session.ask()
        assert asked is not None
        session.tell(asked.number, asked.question.truthful(lambda a, b: a % 3 == b % 3))
    session.refit()
    return session


def same_groups(a: Any, b: Any) -> bool:
    return bool((np.asarray(a) == np.asarray(b)).all())


@pytest.fixture(scope="module")
def pictures() -> list[Any]:
    return [Image.new("RGB", (24, 24), colour) for colour in ("red", "blue") * 4]


def test_a_bare_array_is_enough() -> None:
    session = answered(Session(X), 6)
    assert same_groups(session.labels, session.clustering.labels)
    assert session.predict(X[:3]).tolist() == session.labels[:3].tolist()
    frame = session.to_frame()
    assert list(frame.columns) == ["id", "group", "name", "membership"]
    assert frame["membership"].between(0, 1).all()


def test_a_table_texts_pictures_and_a_graph_are_enough(pictures: list[Any]) -> None:
    networkx = pytest.importorskip("networkx")
    table = pd.DataFrame(X, columns=["a", "b", "c"]).assign(word=["p", "q", "r"] * 20)
    for given in (table, ["red car", "blue car", "red boat"], pictures, networkx.path_graph(6)):
        session = Session(given)
        assert len(session.labels) == len(given)
        assert session.ask() is not None


def test_new_data_is_encoded_as_the_data_of_the_session_was(pictures: list[Any]) -> None:
    session = Session(pictures)
    assert same_groups(session.predict(pictures[:2]), session.labels[:2])
    with pytest.raises(InputError, match="Expected image items"):
        session.predict(["a text"])


def test_a_path_is_not_mistaken_for_data() -> None:
    with pytest.raises(InputError, match=r"Session\(open_pile\('tiles'\)\)"):
        Session("tiles")


def test_one_answer_and_one_group_are_counted_in_the_singular() -> None:
    session = Session(X[:2])
    asked = session.ask()
    assert asked is not None
    session.tell(asked.number, asked.question.choices()[0])
    text = repr(session)
    assert "2 items, 1 answer," in text
    assert "1 items" not in text
    assert "1 answers" not in text
    assert "refit" in text.splitlines()[-1]


def test_a_notebook_shows_counts_groups_and_the_next_step() -> None:
    session = answered(Session(X), 3)
    session.rename(int(session.labels[0]), "<b>stars</b>")
    shown = session._repr_html_()
    assert "60 items, 3 answers" in shown
    assert "&lt;b&gt;stars&lt;/b&gt;" in shown
    assert "session.ask()" in shown


@pytest.mark.parametrize("kind", ["array", "table", "texts", "pictures"])
def test_a_saved_session_goes_on_where_it_ended(
    kind: str, tmp_path: Path, pictures: list[Any]
) -> None:
    given: dict[str, Any] = {
        "array": X,
        "table": pd.DataFrame(X, columns=["a", "b", "c"]).assign(word=["p", "q", "r"] * 20),
        "texts": [f"{colour} {thing}" for colour in ("red", "blue") for thing in ("car", "boat")],
        "pictures": pictures,
    }
    session = answered(Session(given[kind], seed=3), 2)
    session.rename(int(session.labels[0]), "first")
    session.save(tmp_path / "mine.session")
    session.save(tmp_path / "mine.session")  # replaces the older one
    again = Session.load(tmp_path / "mine.session")
    assert same_groups(again.labels, session.labels)
    assert again.answers == session.answers
    assert again.groups == session.groups
    assert again.collection.fingerprint == session.collection.fingerprint
    asked, expected = again.ask(), session.ask()
    assert (asked and asked.question) == (expected and expected.question)
    new = given[kind].iloc[:2] if kind == "table" else given[kind][:2]
    assert same_groups(again.predict(new), session.predict(new))
    assert [p.name for p in tmp_path.iterdir()] == ["mine.session"]


def test_another_file_is_not_loaded(tmp_path: Path) -> None:
    (tmp_path / "a.session").write_text("hello")
    with pytest.raises(SourceError, match=r"session\.save"):
        Session.load(tmp_path / "a.session")
    with pytest.raises(SourceError, match="No such file"):
        Session.load(tmp_path / "none.session")


def test_method_and_strategy_are_those_with_which_a_session_began(tmp_path: Path) -> None:
    def opened(**given: Any) -> Session:
        return Session(X, store=open_store(tmp_path / "mine.samekind"), **given)

    first = answered(opened(clusterer=KMeans(n_clusters=4), strategy="uncertainty"), 3)
    again = opened()
    assert isinstance(again.clusterer, KMeans)
    assert again.clusterer.n_clusters == 4
    assert type(again.strategy) is type(first.strategy)
    assert same_groups(again.labels, first.labels)
    other = opened(clusterer="live")
    assert type(other.clusterer).__name__ == "Live"


@dataclass(frozen=True)
class Never:
    """A strategy of one's own."""

    def propose(self, view: View, n: int = 1) -> Sequence[Question]:
        return []


def test_a_strategy_of_ones_own_has_to_be_given_again(tmp_path: Path) -> None:
    Session(X, strategy=Never()).save(tmp_path / "mine.session")
    with pytest.raises(InputError, match=r"strategy=\.\.\."):
        Session.load(tmp_path / "mine.session")
    assert Session.load(tmp_path / "mine.session", strategy=Never()).ask() is None


def test_a_method_brings_its_own_strategy() -> None:
    for given in ("cobras", COBRAS()):
        assert type(Session(X, clusterer=given).strategy).__name__ == "COBRAS"


def test_groups_are_drawn_and_a_missing_library_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import matplotlib

    matplotlib.use("Agg")
    session = answered(Session(X), 3)
    axes = session.plot()
    drawn = sum(len(part.get_offsets()) for part in axes.collections)
    assert drawn == 60 + len(session.constraints.touched)
    assert session.plot(ax=axes) is axes
    for library, call in (("matplotlib", session.plot), ("pandas", session.to_frame)):
        monkeypatch.setitem(sys.modules, library, None)
        with pytest.raises(MissingExtra, match=r"pip install 'samekind\["):
            call()
