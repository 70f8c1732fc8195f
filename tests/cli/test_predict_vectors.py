"""``samekind predict`` of a store of vectors."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

pytest.importorskip("lance", reason="needs the extra cluster: pip install 'samekind[cluster]'")

from command_line import Cli, cli  # noqa: F401
from piles import clouds
from samekind.bulk.vector_store import VectorStore
from samekind.items import Collection
from samekind.session import Session
from samekind.simulation.loop import run
from samekind.simulation.people import Truth
from samekind.workspace.check import Share, open_check
from samekind.workspace.orientation import orientation_of
from samekind.workspace.pile import open_pile
from stored_vectors import add_rows, learnt_orientation, new_store


@pytest.fixture
def store(tmp_path: Path) -> VectorStore:
    file = learnt_orientation(tmp_path)
    file.save(tmp_path / "mine.orientation")
    return new_store(tmp_path / "vectors.lance", file, clouds(90, seed=1)[0])


def test_labels_are_written_continued_and_summed_up(
    cli: Cli,  # noqa: F811
    store: VectorStore,
    tmp_path: Path,
) -> None:
    orientation, out = tmp_path / "mine.orientation", tmp_path / "labels.parquet"
    done = cli("predict", orientation, store.path, "--out", out)
    assert done.code == 0 and done.out.endswith("labels.parquet: 90 rows.\n")
    assert "in left" in done.err and "no group." in done.err
    again = cli("predict", "--orientation", orientation, store.path, "--out", out)
    assert again.code == 0 and again.out.endswith("90 rows: nothing was left to do.\n")
    add_rows(store, clouds(20, seed=2)[0])
    more = cli("predict", orientation, store.path, "--out", out)
    assert more.out.endswith("110 rows, 90 of them by an earlier run.\n")


def test_pictures_go_from_a_folder_to_labels_that_a_person_has_checked(
    cli: Cli,  # noqa: F811
    tmp_path: Path,
) -> None:
    kinds, photos, vectors = {}, tmp_path / "photos", tmp_path / "photos.lance"
    photos.mkdir()
    rng = np.random.default_rng(0)
    for k in range(80):
        shade = np.array([(220, 40, 40), (40, 60, 220)][k % 2]) + rng.integers(-25, 26, 3)
        Image.new("RGB", (24, 16), tuple(shade.tolist())).save(photos / f"photo-{k:02}.png")
        kinds[f"photo-{k:02}.png"] = k % 2
    done = cli("embed", photos, "--out", vectors, "--encoder", "pixels")
    assert done.code == 0, done.err

    def truth(items: Collection) -> Truth:
        return Truth(np.array([kinds[id] for id in items.ids()], dtype=np.intp))

    pile = open_pile(vectors)
    session = Session(pile.collection, pile.X, name="colour")
    run(session, truth(pile.collection), 8)
    session.refit()
    orientation_of(pile, session).save(tmp_path / "colour.orientation")
    out = tmp_path / "labels.lance"
    done = cli("predict", tmp_path / "colour.orientation", vectors, "--out", out)
    assert done.code == 0 and "80 rows." in done.out, done.err
    check = open_check(out, items=30)
    run(check.session, truth(check.session.collection))
    assert check.result().all == Share(30, 30)
    assert check.session.collection[0].preview().mime.startswith("image/")


def test_what_is_missing_is_said(
    cli: Cli,  # noqa: F811
    store: VectorStore,
    tmp_path: Path,
) -> None:
    orientation = tmp_path / "mine.orientation"
    for words, message in (
        ((orientation, store.path), "and no --out"),
        ((orientation, store.path, "--csv", "x.csv"), "and --csv"),
        ((tmp_path, store.path, "--out", "x.parquet"), "Expected a grouping file"),
        ((orientation,), "Expected the items to sort"),
        ((orientation, tmp_path / "none.lance", "--out", "x.parquet"), "samekind embed"),
        ((orientation, store.path, "--out", "x.csv"), ".parquet or .lance"),
    ):
        done = cli("predict", *words)
        assert done.code in (2, 3) and message in done.err, words
