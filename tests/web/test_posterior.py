"""The posterior over HTTP: counts, pairs that are answered in place, and groupings to choose."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from fastapi.testclient import TestClient

from samekind.workspace.workspace import Workspace
from undecided import Undecided


@pytest.fixture
def workspace(make_workspace: Callable[..., Workspace]) -> Workspace:
    return make_workspace(clusterer=Undecided(), refit_every=1000)


def report(client: TestClient) -> Any:
    return client.get("/api/posterior").json()["posterior"]


def test_a_method_without_a_posterior_shows_nothing(
    make_workspace: Callable[..., Workspace], client_for: Callable[[Workspace], TestClient]
) -> None:
    client = client_for(make_workspace())
    assert client.get("/api/session").json()["posterior"] is False
    assert client.get("/api/posterior").json() == {"posterior": None}
    assert client.get("/api/posterior/alternatives").json()["alternatives"] == []


def test_counts_and_pairs_are_shown_without_a_prediction(client: TestClient) -> None:
    assert client.get("/api/session").json()["posterior"] is True
    found = report(client)
    assert found["counts"] == [{"groups": 3, "share": 0.6}, {"groups": 4, "share": 0.4}]
    assert found["words"] == "Most likely 3 groups (60%), very likely 3 to 4."
    assert (found["groups"], found["basis"]) == (4, "")
    assert [sorted(p % 4 for p in pair["positions"]) for pair in found["pairs"]] == [[0, 1], [2, 3]]
    assert set(found["pairs"][0]) == {"positions", "question"}
    choices = [choice["value"] for choice in found["pairs"][0]["question"]["choices"]]
    assert choices == ["same", "different", "unsure"]


def test_a_pair_is_answered_once_and_counts_at_once(
    client: TestClient, workspace: Workspace
) -> None:
    pair = report(client)["pairs"][0]["positions"]
    told = {"items": pair, "choice": "same"}
    done = client.post("/api/posterior/answers", json=told).json()
    assert done["message"] == "Saved: Same." and done["now"]["progress"]["answers"] == 1
    assert client.post("/api/posterior/answers", json=told).json()["number"] == done["number"]
    (answer,) = workspace.session().answers
    assert answer.question.items() == tuple(pair) and answer.choice == "same"
    assert report(client)["counts"] == [{"groups": 3, "share": 1.0}]
    late = client.post("/api/posterior/answers", json={"items": pair, "choice": "different"})
    assert late.status_code == 409 and "settled" in late.json()["error"]["message"]
    client.delete(f"/api/answers/{done['number']}")
    assert len(report(client)["counts"]) == 2


@pytest.mark.parametrize("items", [[0, 0], [0, 48]])
def test_a_pair_that_does_not_exist_is_refused(client: TestClient, items: list[int]) -> None:
    reply = client.post("/api/posterior/answers", json={"items": items, "choice": "same"})
    assert reply.status_code == 422 and "Expected" in reply.json()["error"]["message"]
    reply = client.post("/api/acts/kinds", json={"kinds": [[items[0]], [items[1]]]})
    assert reply.status_code == 422 and "Expected" in reply.json()["error"]["message"]


def test_another_grouping_is_looked_at_chosen_and_undone(
    client: TestClient, workspace: Workspace
) -> None:
    listed = client.get("/api/posterior/alternatives").json()["alternatives"]
    assert [(one["groups"], round(one["share"], 1)) for one in listed] == [(3, 0.3), (3, 0.2)]
    (change,) = listed[0]["changes"]
    assert change["words"] == "Group 2 (12 items) becomes part of Group 1."
    assert len(change["items"]) == 6 and len(change["target_items"]) == 3
    assert workspace.session().answers == (), "looking changes nothing"
    done = client.post("/api/acts/kinds", json={"kinds": listed[0]["kinds"]}).json()
    assert done["message"] == "The groups follow the grouping that you chose."
    workspace.refresh(workspace.session())
    assert workspace.session().clustering.n_groups == 3
    client.delete(f"/api/answers/{done['number']}")
    workspace.refresh(workspace.session())
    assert workspace.session().clustering.n_groups == 4
