"""Sampled piles: sessions over some items of a store, shown from the source when looked at."""

# ruff: noqa: F811 (fixtures are imported by their names)

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("lance", reason="needs the extra cluster: pip install 'samekind[cluster]'")
pytest.importorskip("faiss", reason="needs the extra cluster: pip install 'samekind[cluster]'")

from command_line import Cli, cli, photos  # noqa: F401
from drawn_store import append, blobs, manifest_of, new_store
from samekind import Session, open_pile
from samekind.bulk import readers
from samekind.bulk.more import find_more, find_new, rows_of
from samekind.bulk.sampled_pile import SampledCollection, open_sampled
from samekind.bulk.vector_store import VectorStore
from samekind.errors import InputError, SourceError
from samekind.ledger.store import open_store
from samekind.session import acts
from samekind.simulation.loop import run
from samekind.simulation.people import Truth
from samekind.sources import open_source
from samekind.workspace.labelled import labelled_set
from samekind.workspace.orientation import orientation_of
from samekind.workspace.pile import Request


def store_of_photos(path: Path, folder: Path) -> VectorStore:
    entries = list(readers.open_reader(str(folder)).listing())
    colours = np.eye(2, dtype=np.float32)[np.arange(len(entries)) % 2]
    noise = np.random.default_rng(0).normal(size=(len(entries), 2)).astype(np.float32) / 10
    manifest = manifest_of(2, source=str(folder), kind="image", encoder="pixels")
    store = VectorStore.create(path, manifest)
    columns = [[entry[k] for entry in entries] for k in range(3)]
    store.commit(store.write_fragment(*columns, colours + noise))
    return store


def answer(store: VectorStore, kind: Any, ledger: Path, n: int) -> Session:
    """Answer some questions about the reference items of a store, truthfully."""
    items = open_sampled(store.path)
    session = Session(items, items.vectors, store=open_store(ledger))
    run(session, Truth(kind[items.rows]), n)
    return session


def choices(session: Session) -> list[tuple[int, str]]:
    return [(answer.number, answer.choice) for answer in session.answers]


def test_previews_come_from_the_source_when_looked_at(
    tmp_path: Path, photos: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store_of_photos(tmp_path / "v.lance", photos)
    opened: list[str] = []
    plain = readers.open_reader
    monkeypatch.setattr(readers, "open_reader", lambda *a, **k: opened.append("") or plain(*a, **k))
    pile = open_pile(tmp_path / "v.lance")
    assert pile.collection.kind == "image" and len(pile.collection.fingerprint) == 16
    Session(pile.collection, pile.X).ask()
    assert not opened, "a session needs the vectors alone"
    assert pile.collection[3].preview().mime.startswith("image/")
    assert pile.collection[4].load().size == (24, 16) and len(opened) == 1


@pytest.mark.parametrize("kind", ["image", "text", "row"])
def test_a_source_that_is_gone_is_said_and_nothing_breaks(tmp_path: Path, kind: str) -> None:
    store = new_store(tmp_path / "v.lance", blobs(20)[0], kind=kind, source=str(tmp_path / "gone"))
    item = open_sampled(store.path)[7]
    preview = item.preview()
    if kind == "image":
        assert preview.data.startswith(b"\x89PNG")
    else:
        assert preview.data.decode().split("\n")[:2] == ["item-7", "This item cannot be read."]
    with pytest.raises(SourceError, match=r"'item-7' cannot be read from .*gone"):
        item.load()


def test_notices_say_how_many_items_are_used(tmp_path: Path) -> None:
    store = new_store(tmp_path / "v.lance", blobs(3000)[0])
    open_sampled(store.path, size=100)
    append(store, blobs(500)[0])
    said: list[str] = []
    request = Request(store.path, on_notice=said.append).remembered()
    pile = request.pile(request.items())
    assert len(pile.X) == 100
    assert said[0] == "100 items in v.lance."
    assert said[1] == "100 of 3,500 items are used for the questions."
    assert said[2].startswith("500 items were added since") and said[2].endswith("v.lance --new")


def test_vectors_belong_to_the_items_and_subsets_keep_them(tmp_path: Path) -> None:
    X, _ = blobs(500)
    store = new_store(tmp_path / "v.lance", X, fragments=3)
    items = open_sampled(store.path, size=40)
    for at in (0, 17, 39):
        row = int(items.id(at).removeprefix("item-"))
        assert items.rows[at] == row and items[at].stamp == "1"
        np.testing.assert_array_equal(items.encoded().X[at], X[row])
    some = items.take([5, 2])
    assert isinstance(some, SampledCollection) and some.id(1) == items.id(2)
    np.testing.assert_array_equal(some.vectors, items.vectors[[5, 2]])


def test_of_two_rows_with_one_id_the_last_counts(tmp_path: Path) -> None:
    X, _ = blobs(30)
    store = new_store(tmp_path / "v.lance", X)
    store.commit(store.write_fragment(["item-3"], ["at"], ["2"], X[:1] + 9))
    items = open_sampled(store.path)
    assert len(items) == 30 and items[items.position("item-3")].stamp == "2"
    np.testing.assert_array_equal(items.vectors[items.position("item-3")], X[0] + 9)


def test_another_encoder_is_refused_and_too_few_items_are_named(tmp_path: Path) -> None:
    store = new_store(tmp_path / "v.lance", blobs(20)[0])
    with pytest.raises(InputError, match=r"Expected the encoder 'vectors'.*got 'rows'"):
        open_pile(store.path, encoder="rows")
    empty = new_store(tmp_path / "e.lance", blobs(1)[0])
    with pytest.raises(SourceError, match=r"at least 2 items.*samekind embed"):
        open_pile(empty.path)


def test_appended_rows_do_not_disturb_a_session(tmp_path: Path) -> None:
    X, kind = blobs(2000, kinds=4)
    store = new_store(tmp_path / "v.lance", X)
    first = open_sampled(store.path, size=200)
    before = answer(store, kind, tmp_path / "a.samekind", 12)
    append(store, blobs(1000, seed=3)[0])
    again = open_sampled(store.path)
    assert again.fingerprint == first.fingerprint and again.n_later == 1000
    session = Session(again, again.vectors, store=open_store(tmp_path / "a.samekind"))
    assert choices(session) == choices(before) and not session.positions.gone
    np.testing.assert_array_equal(session.clustering.labels, before.clustering.labels)


def test_items_that_came_later_are_included_when_asked_for(tmp_path: Path, cli: Cli) -> None:
    store = new_store(tmp_path / "v.lance", blobs(900)[0])
    open_sampled(store.path, size=90)
    append(store, blobs(900, seed=3)[0])
    done = cli("more", store.path, "--new")
    assert done.code == 0 and "45 items were added" in done.out
    now = open_sampled(store.path)
    assert len(now) == 135 and now.n_later == 0 and (now.rows[90:] >= 900).all()
    done = cli("more", store.path, "--new")
    assert done.code == 0 and "Nothing was added" in done.out and "Continue" not in done.out


def test_a_rare_kind_is_pulled_in_and_stays_with_its_answers(tmp_path: Path) -> None:
    X, kind = blobs(4000, kinds=4)
    rare = np.arange(0, 4000, 100)  # 1 %, close to each other
    X[rare], kind[rare] = X[0] + 0.1 * X[rare], 9
    store = new_store(tmp_path / "v.lance", X)
    before = open_sampled(store.path, size=100)
    ledger = tmp_path / "a.samekind"
    said = choices(answer(store, kind, ledger, 10))
    n_rare = int(np.isin(rare, before.rows).sum())
    found = find_more(store.path, ["item-0"], 30)
    assert len(found.ids) == len(set(found.ids)) == 30
    assert list(found.distances) == sorted(found.distances)
    assert np.isin(found.rows, rare).all() and not np.isin(found.rows, before.rows).any()
    again = open_sampled(store.path)
    assert list(again.ids()) == [*before.ids(), *found.ids]
    assert np.isin(rare, again.rows).sum() == n_rare + 30
    session = Session(again, again.vectors, store=open_store(ledger))
    assert choices(session) == said and not session.positions.gone
    pair = [again.position(id) for id in found.ids[:2]]
    acts.perform(session, acts.together(session, pair))
    items = open_sampled(store.path)
    reopened = Session(items, items.vectors, store=open_store(ledger))
    assert choices(reopened) == choices(session) and len(reopened.answers) == len(said) + 1
    assert reopened.constraints.same(items.position(found.ids[0]), items.position(found.ids[1]))


def test_more_of_several_items_widens_until_there_are_enough(tmp_path: Path) -> None:
    X, _ = blobs(600)
    store = new_store(tmp_path / "v.lance", X)
    size = 400  # most neighbours are there already
    open_sampled(store.path, size=size)
    found = find_more(store.path, ["item-1", "item-2"], 150)
    assert len(found.ids) == 150
    assert len(find_more(store.path, ["item-1"], 150).ids) == 50, "no more items are left"
    assert len(open_sampled(store.path)) == 600
    with pytest.raises(InputError, match="There is no item 'nothing'"):
        find_more(store.path, ["nothing"])
    with pytest.raises(InputError, match="1 to 100 items to find more of, got 0"):
        find_more(store.path, [])
    with pytest.raises(InputError, match="add 1 to 10,000 items, got 0"):
        find_more(store.path, ["item-1"], 0)


def test_ids_outside_of_the_session_are_looked_up(tmp_path: Path) -> None:
    store = new_store(tmp_path / "v.lance", blobs(3000)[0], fragments=3)
    likely = np.arange(0, 3000, 2)
    assert rows_of(store, ["item-2999", "item-4", "item-1001"], likely).tolist() == [2999, 4, 1001]


def test_ask_and_more_on_the_command_line(tmp_path: Path, cli: Cli) -> None:
    X, _ = blobs(300, kinds=3)
    np.save(tmp_path / "x.npy", X)
    store = new_store(tmp_path / "v.lance", X, source=str(tmp_path / "x.npy"))
    open_sampled(store.path, size=50)
    done = cli("ask", store.path, "--questions", 2, typed="1\n1\n")
    assert done.code == 0, done.err
    assert "50 of 300 items are used for the questions." in done.err
    assert "2 answers are saved" in done.out
    done = cli("more", store.path, "--like", "item-5", "--count", 7)
    assert done.code == 0 and "7 items were added to the questions" in done.out
    done = cli("ask", store.path, "--questions", 1, typed="1\n")
    assert "57 of 300 items" in done.err and "3 answers are saved" in done.out
    done = cli("more", store.path)
    assert done.code == 2 and "either --like ID or --new" in done.err


def test_an_orientation_of_a_store_is_exported_without_the_source(tmp_path: Path) -> None:
    X, kind = blobs(300, kinds=3)
    store = new_store(tmp_path / "v.lance", X, outside=0.25, columns=("a", "b"))
    request = Request(store.path, ledger=str(tmp_path / "a.samekind")).remembered()
    pile = request.pile(request.items())
    session = request.session(pile, request.store())
    run(session, Truth(kind), 15)
    session.refit()
    file = orientation_of(pile, session)
    assert (file.encoder, file.fingerprint, file.outside) == ("vectors", "vectors/v1", 0.25)
    assert file.columns == ("a", "b") and len(file.groups) == 3


def test_simulate_takes_the_labels_of_the_source(tmp_path: Path, cli: Cli) -> None:
    X, kind = blobs(300, kinds=3)
    split = np.where(np.arange(300) % 3 == 0, "test", "train")
    np.savez(tmp_path / "x.npz", X=X, side=kind, split=split)
    store = new_store(tmp_path / "v.lance", X[:0], source=str(tmp_path / "x.npz"))
    ids = [f"row-{i}" for i in range(300)]
    store.commit(store.write_fragment(ids, ids, ["1"] * 300, X))
    items = open_sampled(store.path, size=80)
    labelled = labelled_set(store.path, ["side"], option="--labels")
    np.testing.assert_array_equal(labelled.orientations["side"], kind[items.rows])
    done = cli("simulate", store.path, "--labels", "side", "--questions", 15, "--json")
    assert done.code == 0, done.err
    row = json.loads(done.out)
    assert row["set"] == "v.lance" and row["curve"][-1]["acc"] > 0.9
    store.commit(store.write_fragment(["stray"], ["stray"], ["1"], X[:1]))
    find_new(store.path)
    done = cli("simulate", store.path, "--labels", "side")
    assert done.code == 3 and "no labels for the item 'stray'" in done.err


def test_an_embedded_folder_is_opened_with_the_encoder_that_was_fitted(
    tmp_path: Path, photos: Path, cli: Cli
) -> None:
    done = cli("embed", photos, "--out", tmp_path / "v.lance", "--encoder", "pixels")
    assert done.code == 0, done.err
    pile = open_pile(tmp_path / "v.lance")
    again = pile.vectors_of(open_source(photos).take([7, 2]))
    at = [pile.collection.position(f"photo-{k:02}.png") for k in (7, 2)]
    np.testing.assert_allclose(again.X, pile.X[at], atol=1e-5)
    assert pile.encoded.encoder.name == "pixels" and pile.reason.startswith("pixels, which made")
    with pytest.raises(InputError, match="fitted already"):
        pile.encoded.encoder.fit(again.X)
