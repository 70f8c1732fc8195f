"""Places, names, reasons and the review through HTTP."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest
from fastapi.testclient import TestClient

from at_once import at_once
from samekind.items import Collection
from samekind.session.review_queue import review
from samekind.simulation.loop import run
from samekind.simulation.people import Truth
from samekind.sources.files.rows import Rows
from samekind.sources.files.texts import TextItem
from samekind.workspace.name_suggestions import key_words, suggest_names
from samekind.workspace.workspace import Workspace

KINDS = np.arange(48) % 4


@pytest.fixture
def live(make_workspace: Callable[..., Workspace]) -> Workspace:
    """A workspace with 20 answers."""
    workspace = make_workspace(clusterer="live")
    run(workspace.session(), Truth(KINDS), 20)
    workspace.session().refit()
    return workspace


@pytest.fixture
def client(live: Workspace, client_for: Callable[[Workspace], TestClient]) -> TestClient:
    return client_for(live)


def path(client: TestClient, position: int) -> str:
    from urllib.parse import quote

    workspace = client.get("/api/map/items", params={"positions": str(position)}).json()
    return f"/api/items/{quote(workspace['items'][0]['id'], safe='')}"


def test_the_same_group_has_one_number_one_key_and_one_name_everywhere(client: TestClient) -> None:
    groups = client.get("/api/groups").json()["groups"]
    assert [group["place"] for group in groups] == [0, 1, 2, 3]
    assert [group["name"] for group in groups] == [f"Group {k}" for k in (1, 2, 3, 4)]
    on_map = client.get("/api/map").json()["groups"]
    assert {g["number"]: g["place"] for g in on_map} == {g["number"]: g["place"] for g in groups}
    client.put("/api/groups/3", json={"name": "Green"})
    for _ in range(4):
        asked = client.get("/api/question").json()["question"]
        for choice in asked["choices"] if asked["kind"] == "which-group" else ():
            if choice["place"] is not None:
                assert choice["keys"] == [str(choice["place"] + 1)]
                called = choice["name"] or choice["label"]
                assert called == (
                    "Green" if choice["place"] == 2 else groups[choice["place"]]["name"]
                )
        client.post("/api/answers", json={"number": asked["number"], "choice": "unsure"})
    labels = {answer["label"] for answer in client.get("/api/answers?limit=20").json()["answers"]}
    assert not any(label.startswith("Choice") for label in labels)


def test_a_name_that_another_group_has_is_refused_and_offers_to_merge(client: TestClient) -> None:
    assert client.put("/api/groups/1", json={"name": "Red"}).status_code == 200
    assert client.put("/api/groups/1", json={"name": "Red"}).status_code == 200, "its own name"
    refused = client.put("/api/groups/2", json={"name": " red "})
    assert refused.status_code == 409 and refused.json()["error"]["type"] == "name-taken"
    assert "Merge the two?" in refused.json()["error"]["message"]
    assert client.get("/api/groups").json()["groups"][1]["name"] == "Group 2"


def test_of_several_groups_that_are_given_one_name_at_once_one_has_it(
    client: TestClient, live: Workspace
) -> None:
    groups = live.session().clustering.numbers
    for k in range(20):
        name = {"name": f"Red {k}"}
        calls = [partial(client.put, f"/api/groups/{group}", json=name) for group in groups]
        statuses = [reply.status_code for reply in at_once(calls)]
        assert sorted(statuses) == [200, *[409] * (len(groups) - 1)]
    names = [group["name"] for group in client.get("/api/groups").json()["groups"]]
    assert len(set(names)) == len(groups)


def test_an_item_says_why_it_is_where_it_is_unless_it_is_asked_about(
    client: TestClient, live: Workspace
) -> None:
    session = live.session()
    asked = live.ask(session)
    assert asked is not None
    subject = asked.question.subjects()[0]
    hidden = client.get(f"{path(client, subject)}/place").json()
    assert hidden["group"] is None and hidden["name"] == "" and hidden["examples"] == []
    free = next(
        i for i in range(48) if i not in {*session.constraints.touched, *asked.question.items()}
    )
    place = client.get(f"{path(client, free)}/place").json()
    assert place["group"] == session.clustering.labels[free] and place["answer"] is None
    assert place["item"]["position"] == free and len(place["examples"]) == 6
    assert all(example["answered"] for example in place["examples"])
    assert f"in {place['name']}" in place["words"]
    told = client.get(f"{path(client, int(session.constraints.touched[0]))}/place").json()
    assert told["answer"] is not None or told["examples"]
    near = client.get(f"{path(client, free)}/similar?limit=5").json()["items"]
    assert len(near) == 5 and free not in {item["position"] for item in near}
    assert sum(item["position"] % 4 == free % 4 for item in near) == 5


def test_an_item_is_sent_at_full_resolution_and_unknown_ones_are_refused(
    client: TestClient,
) -> None:
    reply = client.get(f"{path(client, 3)}/full")
    assert reply.headers["content-type"] == "image/png" and reply.content.startswith(b"\x89PNG")
    assert "sandbox" in reply.headers["content-security-policy"]
    for what in ("full", "place", "similar"):
        assert client.get(f"/api/items/nothing/{what}").status_code == 404


def test_the_review_lists_doubtful_items_until_it_is_done(
    client: TestClient, live: Workspace
) -> None:
    first = client.get("/api/review").json()
    assert first["items"] and first["batch"] and not first["done"]
    assert first["headline"].endswith(f"{first['items']} to review")
    session = live.session()
    told = session.progress()["quality"]["words"].split(" (")[0]
    assert first["headline"].startswith(told), "one number for one thing"
    seen: set[int] = set()
    for _ in range(20):
        found = client.get("/api/review").json()
        if found["batch"] is None:
            break
        batch = found["batch"]
        items = [item["position"] for item in batch["items"]]
        assert not seen & set(items), "nothing is shown twice"
        seen.update(items)
        body = {
            "group": batch["group"],
            "exemplars": [item["position"] for item in batch["exemplars"]],
            "items": items,
        }
        reply = client.post("/api/review", json=body)
        assert reply.status_code == 200 and "right" in reply.json()["message"]
        assert client.post("/api/review", json=body).json()["number"] == reply.json()["number"]
        live.refitter.wait("main")
    assert len(seen) == first["items"]
    last = client.get("/api/review").json()
    assert last["items"] == 0 and last["batch"] is None
    assert "nothing left" in last["headline"] or not last["done"]
    client.post("/api/undo", json={})
    assert client.get("/api/review").json()["items"] > 0


def test_the_verdict_is_the_same_on_every_view_after_a_restart(
    client: TestClient,
    live: Workspace,
    make_workspace: Callable[..., Workspace],
    client_for: Callable[[Workspace], TestClient],
) -> None:
    def verdicts(page: TestClient) -> tuple[str, ...]:
        shown = page.get("/api/question").json()["progress"]["quality"]
        reported = page.get("/api/progress").json()["quality"]
        return shown, reported, page.get("/api/review").json()["headline"]

    before = verdicts(client)
    assert "% right" in before[0] and before[0] == before[1]
    again = make_workspace(store=live.store, clusterer="live")
    assert verdicts(client_for(again)) == before


def test_wrong_items_leave_their_group_and_more_are_reviewed(live: Workspace) -> None:
    from samekind.session.review_queue import confirm, items_left

    session = live.session()
    before, found = items_left(session), review(session).batch
    assert before is not None and found is not None
    confirm(session, found, found.items[:1])
    session.refit()
    assert session.constraints.same(found.items[0], found.exemplars[0]) is False
    assert items_left(session) == before - len(found.items) + 2


def test_a_doubtful_item_that_is_alone_in_its_group_does_not_end_the_review(
    live: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = live.session()
    alone = next(i for i in range(48) if i not in session.constraints.touched)
    clustering = session.clustering
    labels = clustering.labels.copy()
    labels[alone] = labels.max() + 1
    changed = replace(clustering, labels=labels)
    session.clustering = changed
    monkeypatch.setattr(
        "samekind.session.review_queue.sureness", lambda c: (np.arange(48) != alone).astype(float)
    )
    batch = review(session).batch
    assert batch is not None and alone not in batch.items


def words(workspace: Workspace, group: int) -> list[str]:
    return [one.name for one in suggest_names(workspace.session(), group)]


def test_names_are_suggested_from_files_texts_and_columns(
    make_workspace: Callable[..., Workspace],
) -> None:
    nouns = ("beagle", "tabby", "canary", "koi")
    texts = [
        TextItem(f"{nouns[k % 4].title()}s/IMG_{k:04d}.txt", text=f"The {nouns[k % 4]} was here")
        for k in range(48)
    ]
    by_text = make_workspace(collection=Collection("Pets", texts))
    groups = {int(by_text.session().clustering.labels[k]): nouns[k] for k in range(4)}
    for number, noun in groups.items():
        found = words(by_text, number)
        assert noun.capitalize() in found and f"{noun.capitalize()}s" in found
        assert not {"Img", "The", "Here"} & set(found)
    by_text.session().rename(1, groups[1].upper())
    assert groups[1].capitalize() not in words(by_text, 2)
    cells: dict[str, Any] = {
        "weight": [str(10 * (k % 4) + k / 100) for k in range(48)],
        "colour": [("red", "blue", "green", "gold")[k % 4] for k in range(48)],
    }
    rows = Rows(np.zeros((48, 2), dtype=np.float32), cells=cells)
    by_column = make_workspace(collection=Collection("Table", rows))
    number = int(by_column.session().clustering.labels[3])
    found = words(by_column, number)
    assert "gold" in found and any(name.startswith("weight 30") for name in found)
    described = key_words(by_column.session())
    assert set(described) == set(by_column.session().clustering.numbers)
    assert described[number] == found[: len(described[number])] and len(described[number]) == 2


def test_groups_of_texts_are_described_by_words_that_others_do_not_have(
    make_workspace: Callable[..., Workspace], client_for: Callable[[Workspace], TestClient]
) -> None:
    nouns = (("beagle", "leash"), ("tabby", "purring"), ("canary", "cage"), ("koi", "pond"))
    texts = [
        TextItem(f"{k}", text=f"The {nouns[k % 4][k // 4 % 2]} that everybody likes, no {k}")
        for k in range(48)
    ]
    workspace = make_workspace(collection=Collection("Pets", texts))
    session = workspace.session()
    reply = client_for(workspace).get("/api/groups/words").json()["groups"]
    for group in reply:
        first = int(session.clustering.members(group["number"])[0])
        assert sorted(group["words"]) == sorted(nouns[first % 4]), "and none that all have"
    assert len(reply) == 4
    assert client_for(make_workspace()).get("/api/groups/words").json() == {"groups": []}
