"""Routes of a session: questions, answers, groups, downloads, and their errors."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from typing import Any

import pytest
from fastapi.testclient import TestClient

from samekind.clustering import Clustering
from samekind.items import Collection
from samekind.ledger.store import MemoryStore
from samekind.protocols import Event
from samekind.session import Session
from samekind.workspace.workspace import Workspace
from waiting import PATIENCE

ClientFor = Callable[[Workspace], TestClient]


def answer(client: TestClient, choice: str | None = None, **more: Any) -> dict[str, Any]:
    """Answer the open question; what the server replied."""
    asked = client.get("/api/question").json()["question"]
    body = {"number": asked["number"], "choice": choice or asked["choices"][0]["value"], **more}
    reply = client.post("/api/answers", json=body)
    assert reply.status_code == 200, reply.text
    return {"told": body, **reply.json()}


def error(reply: Any, status: int) -> dict[str, Any]:
    """The error of a reply, which must have the one shape."""
    assert reply.status_code == status, reply.text
    body = reply.json()
    assert set(body) == {"error"}
    assert {"type", "message"} <= set(body["error"]) <= {"type", "message", "what_to_do"}
    return dict(body["error"])


def test_a_session_describes_the_collection_and_its_progress(client: TestClient) -> None:
    view = client.get("/api/session").json()
    assert (view["collection"], view["items"], view["session"]) == ("Drawn things", 48, "main")
    assert view["skipped"] == [{"id": "broken.png", "reason": "is not an image"}]
    assert view["progress"]["answers"] == 0
    assert view["progress"]["groups"] == 4
    assert {act["name"] for act in view["acts"]} == {"back", "skip", "help", "finish"}
    assert client.get("/api/health").json()["status"] == "ok"


def test_the_open_question_stays_until_it_is_answered(client: TestClient) -> None:
    first, again = (client.get("/api/question").json()["question"] for _ in range(2))
    assert first == again
    assert first["prompt"] == "Are these two the same kind?"
    assert [choice["label"] for choice in first["choices"]] == ["Same", "Different", "Not sure"]
    assert [choice["keys"] for choice in first["choices"]] == [["y"], ["n"], ["u", " "]]
    assert answer(client)["now"]["question"]["number"] == first["number"] + 1


def test_a_group_question_has_its_exemplars_at_the_choices(client: TestClient) -> None:
    answer(client, "unsure")
    asked = client.get("/api/question").json()["question"]
    assert asked["kind"] == "which-group"
    assert len(asked["items"]) == 1
    assert sorted(len(choice["exemplars"]) for choice in asked["choices"]) == [0, 0, 1, 2, 3]
    groups = [choice for choice in asked["choices"] if choice["exemplars"]]
    assert [choice["keys"] for choice in groups] == [[str(c["place"] + 1)] for c in groups]
    assert [choice["place"] for choice in groups] == sorted(c["place"] for c in groups)
    assert [choice["keys"][0] for choice in asked["choices"][3:]] == ["0", "u"]


def test_an_open_question_carries_no_prediction(client: TestClient) -> None:
    answer(client, "unsure")
    text = client.get("/api/question").text
    asked = json.loads(text)["question"]
    assert set(asked) == {
        "number", "kind", "prompt", "why", "many", "marking", "items", "parts", "choices",
        "new_group",
    }  # fmt: skip
    assert set(asked["items"][0]) == {"id", "kind", "preview"}
    assert "Group " not in json.dumps(asked["items"]), "only buttons name groups"


def test_the_same_answer_sent_twice_counts_once(client: TestClient) -> None:
    told = answer(client, "same")["told"]
    twice = client.post("/api/answers", json=told)
    assert twice.status_code == 200
    assert twice.json()["now"]["progress"]["answers"] == 1


def test_a_different_second_answer_is_refused_and_says_how_to_change_the_first(
    client: TestClient,
) -> None:
    told = answer(client, "same")["told"]
    fault = error(client.post("/api/answers", json=told | {"choice": "different"}), 409)
    assert fault["what_to_do"] == f"Change it with PUT /api/answers/{told['number']}."


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"number": 999, "choice": "same"}, 404),
        ({"number": 1, "choice": "perhaps"}, 422),
        ({"number": 1}, 422),
        ({"number": "1", "choice": "same"}, 422),
        ({"number": 1.0, "choice": "same"}, 422),
        ({"number": True, "choice": "same"}, 422),
        ({"number": 1, "choice": "same", "seconds": -1}, 422),
        ({"number": 1, "choice": "same", "by": "a\nb"}, 422),
        ({"number": 1, "choice": "same", "extra": 1}, 422),
        ([], 422),
    ],
)
def test_an_invalid_answer_is_refused(client: TestClient, body: Any, status: int) -> None:
    client.get("/api/question")
    error(client.post("/api/answers", json=body), status)
    assert client.get("/api/progress").json()["answers"] == 0


def test_a_wrong_choice_names_the_choices(client: TestClient) -> None:
    client.get("/api/question")
    fault = error(client.post("/api/answers", json={"number": 1, "choice": "yes"}), 422)
    assert fault["message"].endswith("Choose one of: same, different, unsure.")


@pytest.mark.parametrize("body", [b"{", b"[" * 60_000, b'{"number": NaN}', b"\xff\xfe", b""])
def test_a_body_that_is_not_json_is_refused(client: TestClient, body: bytes) -> None:
    reply = client.post("/api/answers", content=body, headers={"content-type": "application/json"})
    assert reply.status_code in (400, 422)
    error(reply, reply.status_code)


def test_answers_are_listed_latest_first_in_pages(client: TestClient) -> None:
    for seconds in (1.5, 2.0, 2.5):
        answer(client, "unsure", seconds=seconds, by="ann")
    page = client.get("/api/answers", params={"limit": 2}).json()
    assert (page["total"], [one["number"] for one in page["answers"]]) == (3, [3, 2])
    assert page["answers"][0]["label"] == "Not sure"
    assert (page["answers"][0]["seconds"], page["answers"][0]["by"]) == (2.5, "ann")
    rest = client.get("/api/answers", params={"offset": 2}).json()
    assert [one["number"] for one in rest["answers"]] == [1]
    error(client.get("/api/answers", params={"limit": 0}), 422)


def test_an_earlier_answer_is_changed_in_place(client: TestClient) -> None:
    first = answer(client, "same")["told"]["number"]
    answer(client, "unsure")
    reply = client.put(f"/api/answers/{first}", json={"choice": "different"})
    assert reply.json()["number"] == first
    listed = client.get("/api/answers").json()["answers"]
    assert [(one["number"], one["choice"]) for one in listed] == [(2, "unsure"), (1, "different")]
    error(client.put(f"/api/answers/{first}", json={"choice": "none"}), 422)
    error(client.put("/api/answers/77", json={"choice": "same"}), 404)


def test_undo_opens_the_last_question_again(client: TestClient) -> None:
    number = answer(client, "same")["told"]["number"]
    undone = client.post("/api/undo", json={}).json()
    assert undone["number"] == number
    assert undone["now"]["question"]["number"] == number
    nothing_left = client.post("/api/undo", json={})
    assert (nothing_left.status_code, nothing_left.json()["number"]) == (200, None)


def test_any_answer_can_be_removed_once(client: TestClient) -> None:
    first = answer(client, "same")["told"]["number"]
    answer(client, "unsure")
    assert client.delete(f"/api/answers/{first}").status_code == 200
    assert client.get("/api/progress").json()["answers"] == 1
    error(client.delete(f"/api/answers/{first}"), 404)


def test_a_skipped_question_is_followed_by_another(client: TestClient) -> None:
    number = client.get("/api/question").json()["question"]["number"]
    reply = client.post("/api/skip", json={"number": number}).json()
    assert reply["now"]["question"]["number"] != number
    error(client.post("/api/skip", json={"number": 999}), 404)
    told = answer(client)["told"]["number"]
    error(client.post("/api/skip", json={"number": told}), 409)


def test_groups_have_sizes_and_representatives(client: TestClient) -> None:
    groups = client.get("/api/groups").json()["groups"]
    assert [group["size"] for group in groups] == [12] * 4
    assert all(len(group["representatives"]) == 5 for group in groups)
    shown = [one["id"] for one in groups[0]["representatives"]]
    assert len(set(shown)) == 5


def test_members_of_a_group_are_paged(client: TestClient) -> None:
    pages = [
        client.get("/api/groups/1", params={"offset": offset, "limit": 5}).json()["items"]
        for offset in (0, 5, 10, 15)
    ]
    assert [len(page) for page in pages] == [5, 5, 2, 0]
    assert len({item["id"] for page in pages for item in page}) == 12
    error(client.get("/api/groups/99"), 404)
    error(client.get("/api/groups/abc"), 422)


def test_a_group_is_renamed_and_keeps_its_name(client: TestClient) -> None:
    view = client.put("/api/groups/1", json={"name": "  Red things "}).json()
    assert (view["name"], view["named"]) == ("Red things", True)
    names = {group["number"]: group["name"] for group in client.get("/api/groups").json()["groups"]}
    assert names[1] == "Red things"
    assert client.put("/api/groups/1", json={"name": ""}).json()["name"] == "Group 1"
    error(client.put("/api/groups/99", json={"name": "x"}), 404)
    error(client.put("/api/groups/1", json={"name": "a\nb"}), 422)
    error(client.put("/api/groups/1", json={"name": "x" * 81}), 422)


def test_contradicting_answers_are_listed_with_those_they_contradict(
    client: TestClient, workspace: Workspace
) -> None:
    first = answer(client, "same")["told"]["number"]
    (told,) = client.get("/api/answers").json()["answers"]
    a, b = (item["id"] for item in told["question"]["items"])
    # What is implied is never asked; but another process may have written it into the ledger.
    again = {"kind": "same-pair", "a": a, "b": b, "why": ""}
    assert workspace.store is not None
    workspace.store.append("main", Event("proposed", {"snapshot": 0, "questions": [again]}))
    second = client.get("/api/question").json()["question"]["number"] + 1
    reply = client.post("/api/answers", json={"number": second, "choice": "different"})
    assert reply.json()["now"]["progress"]["conflicts"] == 1
    (conflict,) = client.get("/api/conflicts").json()["conflicts"]
    assert conflict["answer"]["number"] == second
    assert [one["number"] for one in conflict["clash"]] == [first]


def test_orientations_are_separate_over_the_same_items(client: TestClient) -> None:
    assert client.get("/api/orientations").json() == {"orientations": ["main"]}
    begun = client.post("/api/orientations", json={"name": "by shape"})
    assert (begun.status_code, begun.json()["session"]) == (201, "by shape")
    answer(client)
    assert client.get("/api/progress").json()["answers"] == 1
    assert client.get("/api/progress", params={"session": "by shape"}).json()["answers"] == 0
    assert client.get("/api/orientations").json()["orientations"] == ["main", "by shape"]
    error(client.post("/api/orientations", json={"name": "By Shape"}), 409)
    error(client.get("/api/question", params={"session": "nowhere"}), 404)
    for bad in ("", " x", "a/b", "..", "x" * 65, "a\x00"):
        error(client.post("/api/orientations", json={"name": bad}), 422)


def test_reopening_the_store_gives_the_same_next_question(
    make_workspace: Callable[..., Workspace], client_for: ClientFor
) -> None:
    store = MemoryStore()
    before = client_for(make_workspace(store=store))
    answer(before, "same")
    before.post("/api/orientations", json={"name": "second"})
    question = before.get("/api/question").json()["question"]
    after = client_for(make_workspace(store=store))
    reopened = after.get("/api/question").json()["question"]
    assert (reopened["number"], reopened["kind"]) == (question["number"], question["kind"])
    assert [i["id"] for i in reopened["items"]] == [i["id"] for i in question["items"]]
    assert after.get("/api/orientations").json()["orientations"] == ["main", "second"]


def test_the_groups_are_downloaded_as_a_file(client: TestClient) -> None:
    reply = client.get("/api/export", params={"format": "csv"})
    assert reply.headers["content-type"].startswith("text/csv")
    assert reply.headers["content-disposition"] == 'attachment; filename="Drawn-things-main.csv"'
    assert len(reply.text.splitlines()) == 49
    as_json = client.get("/api/export", params={"format": "json"})
    assert as_json.headers["content-type"] == "application/json"
    assert "n° 07 #a?.png" in as_json.text
    as_parquet = client.get("/api/export", params={"format": "parquet"})
    assert as_parquet.content[:4] == b"PAR1"
    error(client.get("/api/export", params={"format": "exe"}), 422)
    error(client.get("/api/export"), 422)


def test_a_finished_session_says_that_nothing_is_left(
    make_workspace: Callable[..., Workspace], client_for: ClientFor, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = make_workspace(most=2, refit_every=50)
    client = client_for(workspace)
    # Held up: on a quick machine it would be over before we look.
    go, refit = threading.Event(), Session.refit

    def held_up(session: Session, *, check: bool = True) -> Clustering:
        assert go.wait(PATIENCE)
        return refit(session, check=check)

    monkeypatch.setattr(Session, "refit", held_up)
    answer(client, "same")
    now = answer(client, "none")["now"]
    assert now["question"] is None
    assert now["progress"]["refitting"], "the answers so far may bring up more questions"
    go.set()
    assert workspace.refitter.wait("main")
    now = client.get("/api/question").json()
    assert (now["question"], now["progress"]["refitting"]) == (None, False)
    assert now["message"].startswith("There is nothing left")


def test_a_missing_item_is_listed_without_a_preview(
    make_workspace: Callable[..., Workspace], client_for: ClientFor
) -> None:
    store = MemoryStore()
    workspace = make_workspace(store=store)
    client = client_for(workspace)
    answer(client, "same")
    lost = client.get("/api/answers").json()["answers"][0]["question"]["items"][0]["id"]
    whole = workspace.collection
    kept = [item for item in whole if item.id != lost]
    client = client_for(make_workspace(store=store, collection=Collection(whole.name, kept)))
    assert client.get("/api/session").json()["gone"] == [lost]
    items = client.get("/api/answers").json()["answers"][0]["question"]["items"]
    assert items[0] == {"id": lost, "kind": "gone", "preview": None}


def test_without_a_learner_that_doubts_no_answer_is_odd(client: TestClient) -> None:
    assert client.get("/api/odd").json() == {"odd": []}
