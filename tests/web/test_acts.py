"""Changes by hand through HTTP: one answer each, a refit at once, undo, several tabs."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from fastapi.testclient import TestClient

from samekind.simulation.loop import run
from samekind.simulation.people import Truth
from samekind.sources import open_source
from samekind.workspace.workspace import Workspace


@pytest.fixture
def live(make_workspace: Callable[..., Workspace]) -> Workspace:
    """A workspace with the live learner, which honours every answer."""
    return make_workspace(clusterer="live")


def act(client: TestClient, name: str, **body: Any) -> dict[str, Any]:
    reply = client.post(f"/api/acts/{name}", json=body)
    assert reply.status_code == 200, reply.text
    return dict(reply.json())


def groups(client: TestClient) -> dict[int, list[int]]:
    """The places of the items of each group."""
    found = {}
    for group in client.get("/api/groups").json()["groups"]:
        listed = client.get(f"/api/groups/{group['number']}?limit=200").json()["items"]
        found[group["number"]] = sorted(item["position"] for item in listed)
    return found


def home(found: dict[int, list[int]], item: int) -> int:
    return next(number for number, items in found.items() if item in items)


def test_merge_split_move_and_together_change_the_groups_and_undo_brings_them_back(
    live: Workspace, client_for: Callable[[Workspace], TestClient]
) -> None:
    client = client_for(live)
    start = groups(client)
    assert sorted(map(len, start.values())) == [12] * 4, "four colours"
    first, second = (start[home(start, item)] for item in (0, 1))
    wanted = {
        "merge": [*first, *second],
        "split": first[:4],
        "move": [*first[:3], *second[:3]],
        "together": [*first[:6], *second[:6]],
    }
    for name, together in wanted.items():
        now = groups(client)  # what was merged and parted again has new numbers
        a, b = home(now, 0), home(now, 1)
        body = {
            "merge": {"groups": [a, b]},
            "split": {"group": a, "items": first[:4]},
            "move": {"items": first[:3], "to": b},
            "together": {"items": together},
        }[name]
        done = act(client, name, **body)
        assert done["message"] and done["now"]["progress"]["answers"] == 1
        assert live.refitter.wait("main")
        after = groups(client)
        assert len({home(after, i) for i in together}) == 1, name
        if name == "split":
            assert home(after, first[0]) != home(after, first[-1])
        undone = client.post("/api/undo", json={}).json()
        assert undone["number"] == done["number"]
        assert live.refitter.wait("main")
        assert sorted(groups(client).values()) == sorted(start.values()), name


def test_items_that_have_left_their_group_are_not_split_off_it(
    live: Workspace, client_for: Callable[[Workspace], TestClient]
) -> None:
    client = client_for(live)
    found = groups(client)
    body = {"group": home(found, 1), "items": found[home(found, 0)][:4]}
    reply = client.post("/api/acts/split", json=body)
    assert 400 <= reply.status_code < 500 and "no longer in" in reply.json()["error"]["message"]
    assert client.get("/api/progress").json()["answers"] == 0


def test_one_item_is_taken_out_of_its_group(
    live: Workspace, client_for: Callable[[Workspace], TestClient]
) -> None:
    client = client_for(live)
    start = groups(client)
    group = home(start, 0)
    act(client, "out", items=[0], by="Ada")
    assert live.refitter.wait("main")
    after = groups(client)
    rest = [i for i in start[group] if i != 0]
    assert home(after, 0) not in {home(after, i) for i in rest}
    (told,) = client.get("/api/answers").json()["answers"]
    assert (told["by"], told["label"]) == ("Ada", "Somewhere else")
    assert "out of" in told["question"]["why"]


def test_an_act_is_listed_as_an_answer_and_can_be_changed_there(client: TestClient) -> None:
    number = act(client, "together", items=[1, 2, 3])["number"]
    (told,) = client.get("/api/answers").json()["answers"]
    assert (told["number"], told["choice"], told["label"]) == (number, "yes", "Same kind")
    assert [len(part) for part in told["question"]["parts"]] == [3]
    assert [c["keys"][0] for c in told["question"]["choices"]] == ["y", "n", "u"]
    assert client.put(f"/api/answers/{number}", json={"choice": "no"}).status_code == 200
    assert client.delete(f"/api/answers/{number}").status_code == 200
    assert client.get("/api/answers").json()["total"] == 0


def test_an_act_and_its_undo_refresh_the_groups_at_once(
    client: TestClient, workspace: Workspace
) -> None:
    act(client, "together", items=[1, 2])
    assert workspace.refitter.wait("main")
    assert client.get("/api/progress").json()["snapshot"] == 1
    client.post("/api/undo", json={})
    assert workspace.refitter.wait("main")
    assert client.get("/api/progress").json()["snapshot"] == 2


def test_an_act_and_its_undo_leave_the_open_question_open(
    client: TestClient,
) -> None:
    open_one = client.get("/api/question").json()["question"]["number"]
    assert act(client, "out", items=[1])["now"]["question"]["number"] == open_one
    client.post("/api/undo", json={})
    assert client.get("/api/question").json()["question"]["number"] == open_one


def test_an_act_that_contradicts_an_answer_asks_first_and_is_then_obeyed(
    live: Workspace, client_for: Callable[[Workspace], TestClient]
) -> None:
    client = client_for(live)
    found = groups(client)
    a, b, c = (home(found, item) for item in (0, 1, 2))
    act(client, "split", group=a, items=found[a][:4])
    assert live.refitter.wait("main")
    now = groups(client)
    own, rest = home(now, found[a][0]), home(now, found[a][-1])
    assert own != rest
    body = {"groups": [own, rest, home(now, 1)]}
    refused = client.post("/api/acts/merge", json=body)
    assert refused.status_code == 409 and refused.json()["error"]["type"] == "sets-aside"
    assert refused.json()["error"]["message"] == "Merge and set aside 1 earlier answer?"
    assert client.get("/api/progress").json()["answers"] == 1, "nothing was changed"
    done = act(client, "merge", **body, set_aside=True)
    assert done["message"].endswith("1 earlier answer is set aside.")
    assert live.refitter.wait("main")
    merged = groups(client)
    assert len({home(merged, i) for i in (*found[a], *found[b])}) == 1
    assert home(merged, 2) == home(merged, found[c][-1]) != home(merged, 0)
    assert client.get("/api/conflicts").json()["conflicts"] == []
    (_, split) = client.get("/api/answers").json()["answers"]
    assert split["aside"].startswith("You merged")
    assert client.post(f"/api/answers/{split['number']}/restore", json={}).status_code == 200
    assert client.get("/api/answers").json()["answers"][1]["aside"] == ""
    assert len(client.get("/api/conflicts").json()["conflicts"]) == 1, "now it is for the person"


def test_a_large_act_is_shown_by_some_of_its_items(
    make_workspace: Callable[..., Workspace], client_for: Callable[[Workspace], TestClient]
) -> None:
    client = client_for(make_workspace(collection=open_source("tiles")))
    act(client, "together", items=list(range(300)))
    (told,) = client.get("/api/answers").json()["answers"]
    assert [len(part) for part in told["question"]["parts"]] == [24]
    assert told["question"]["why"] == "You put 300 items together."


def test_several_tabs_act_at_once_and_nothing_is_lost_or_doubled(
    workspace: Workspace, client_for: Callable[[Workspace], TestClient]
) -> None:
    numbers: list[int] = []

    def tab(first: int) -> None:
        client = client_for(workspace)
        for k in range(4):
            items = [first * 4 + k, 40 - first]
            for _ in range(2):  # a page that heard nothing sends it again
                numbers.append(act(client, "together", items=items)["number"])

    tabs = [threading.Thread(target=tab, args=(first,)) for first in range(5)]
    for one in tabs:
        one.start()
    for one in tabs:
        one.join()
    assert len(numbers) == 40 and len(set(numbers)) == 20
    assert sorted(a.number for a in workspace.session().answers) == sorted(set(numbers))


@pytest.mark.parametrize(
    ("name", "body", "status"),
    [
        ("merge", {"groups": [1]}, 422),
        ("merge", {"groups": [1, 1]}, 422),
        ("merge", {"groups": [1, 2, 1]}, 422),
        ("merge", {"groups": [1, 99]}, 404),
        ("merge", {"groups": [1, "2"]}, 422),
        ("merge", {"groups": [1, 2.0]}, 422),
        ("split", {"group": 99, "items": [1]}, 404),
        ("split", {"group": 1, "items": []}, 422),
        ("split", {"group": 1, "items": [True]}, 422),
        ("move", {"items": [0], "to": 99}, 404),
        ("move", {"items": [-1], "to": 1}, 422),
        ("move", {"items": [48], "to": 1}, 422),
        ("out", {"items": [2**60]}, 422),
        ("out", {"items": [1], "by": ""}, 422),
        ("out", {"items": [1], "more": 1}, 422),
        ("together", {"items": [1]}, 422),
        ("together", {"items": [1, 1]}, 422),
        ("together", {"items": list(range(5_001))}, 422),
        ("together", {}, 422),
        ("divide", {"items": [1, 2]}, 404),
    ],
)
def test_an_invalid_act_is_refused_and_changes_nothing(
    client: TestClient, workspace: Workspace, name: str, body: dict[str, Any], status: int
) -> None:
    reply = client.post(f"/api/acts/{name}", json=body)
    assert reply.status_code == status, reply.text
    assert set(reply.json()) == {"error"}
    assert workspace.session().answers == ()


def test_five_thousand_positions_fit_into_one_request(client: TestClient) -> None:
    body = {"items": list(range(995_000, 1_000_000))}
    reply = client.post("/api/acts/together", json=body)
    assert "got 995000" in reply.json()["error"]["message"]


def test_a_group_has_a_purity_and_doubtful_members(
    live: Workspace, client_for: Callable[[Workspace], TestClient]
) -> None:
    client = client_for(live)
    unknown = {group["purity"] for group in client.get("/api/groups").json()["groups"]}
    assert unknown == {None}, "nothing is answered yet: nobody can know"
    run(live.session(), Truth(np.arange(48) % 4), 20)
    for group in client.get("/api/groups").json()["groups"]:
        assert 0 < group["purity"] <= 1
        assert len(group["doubtful"]) == 5
        assert {item["position"] for item in group["doubtful"]} <= set(range(48))


def test_members_come_in_the_requested_order_with_their_positions(
    client: TestClient, workspace: Workspace
) -> None:
    act(client, "together", items=[0, 4])
    number = next(n for n, items in groups(client).items() if 0 in items)
    listed = client.get(f"/api/groups/{number}?order=doubtful").json()["items"]
    sure = [item["sure"] for item in listed]
    assert sure == sorted(sure) and 0 <= sure[0] <= sure[-1] <= 1
    assert {item["position"] for item in listed if item["answered"]} == {0, 4}
    assert [workspace.collection.id(item["position"]) for item in listed] == [
        i["id"] for i in listed
    ]
    page = client.get(f"/api/groups/{number}?order=doubtful&offset=2&limit=3").json()["items"]
    assert page == listed[2:5]
    assert client.get(f"/api/groups/{number}?order=random").status_code == 422


def test_finding_more_like_an_item_puts_a_grid_before_the_open_question(
    live: Workspace, client_for: Callable[[Workspace], TestClient]
) -> None:
    client = client_for(live)
    reply = act(client, "like", items=[0])
    assert reply["now"]["question"]["number"] == reply["number"]
    assert reply["now"]["question"]["kind"] == "all-like"
    refused = client.post("/api/acts/like", json={"items": [0, 1, 2, 3, 4, 5]})
    assert refused.status_code == 422
