"""Refits: what they are learnt from, and what is kept of them."""

from __future__ import annotations

import numpy as np

from piles import clouds, points
from samekind.clustering import Clustering
from samekind.constraints import Constraints
from samekind.ledger.store import MemoryStore
from samekind.session import Session
from samekind.session.quality import constraints_without
from samekind.session.refit import share_moved, with_names
from samekind.simulation.loop import run
from samekind.simulation.people import Truth


def test_knowledge_about_some_rows_counts_them_from_zero() -> None:
    known = Constraints.from_links(
        50, [(3, 9, True), (9, 40, False), (40, 41, True), (3, 30, True)]
    )
    rows = np.array([1, 3, 9, 20, 30, 40, 41])
    some = constraints_without(known, [9], rows)
    assert some.n_items == 7 and some.touched.tolist() == [1, 4, 5, 6]
    assert some.same(1, 4) is True and some.same(4, 6) is False


def test_what_a_refit_moved_is_kept_in_the_ledger() -> None:
    X, kinds = clouds(200)
    store = MemoryStore()
    session = Session(points(200), X, store=store, seed=1)
    run(session, Truth(kinds), 30)
    kept = [event.data["moved"] for event in store.read("main") if event.kind == "refitted"]
    assert kept[0] is None and kept[-1] == share_moved(session.clustering)
    again = Session(points(200), X, store=store, seed=1)
    assert share_moved(again.clustering) is None, "a restored snapshot has no lineage"
    assert again.progress()["gain"] == session.progress()["gain"] is not None


def test_names_are_those_of_the_ledger_and_what_was_derived_is_kept() -> None:
    found = Clustering.first([0, 0, 1], np.zeros((3, 1)))
    assert with_names(found, {9: "gone"}) is found
    found.memo("derived", lambda: 5)
    named = with_names(found, {1: "one", 2: "two"})
    assert named.names == {1: "one", 2: "two"} and named.memo("derived", lambda: 6) == 5
    assert with_names(named, {1: "", 2: "two"}).names == {2: "two"}


def test_a_group_may_be_named_while_the_first_refit_runs() -> None:
    X, kinds = clouds(60)
    before, meanwhile = (Session(points(60), X, refit_every=10**6) for _ in range(2))
    for session in (before, meanwhile):
        run(session, Truth(kinds), 6)
    before.rename(1, "left")
    before.refit()
    prepare = meanwhile._warm_up

    def rename_meanwhile(clustering: Clustering) -> None:
        prepare(clustering)
        meanwhile.rename(1, "left")

    meanwhile._warm_up = rename_meanwhile  # type: ignore[method-assign]
    meanwhile.refit()
    assert before.clustering.lineage, "a named group keeps its number: numbers are inherited"
    assert meanwhile.clustering.lineage == before.clustering.lineage
    assert meanwhile.clustering.labels.tolist() == before.clustering.labels.tolist()
    assert meanwhile.clustering.names == before.clustering.names
