"""The benchmark of grid answers: omissions that give way leave nothing to settle."""

from __future__ import annotations

from benchmarks.ledger.grids import measure


def test_an_overlooked_item_costs_one_link_and_not_the_answer() -> None:
    size = {"items": 300, "kinds": 5, "grids": 30, "seed": 0}
    ours, whole = (measure(0.2, alike, **size) for alike in (False, True))
    assert ours["set_aside"] == 0 < ours["overruled"]
    assert whole["set_aside"] > 0 == whole["overruled"] == whole["unconfirmed"]
    assert ours["placed"] > whole["placed"]
    assert measure(0.0, False, **size)["wrong"] == 0
