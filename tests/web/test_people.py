"""Several people on one server: tokens of their own, own questions, own history."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import pytest
from fastapi.testclient import TestClient

from samekind.errors import ServerError
from samekind.session.people import People
from samekind.web.addresses import Addresses, check_open, check_people
from samekind.web.app import create_app
from samekind.web.security import person_tokens
from samekind.workspace.recent import RecentPile
from samekind.workspace.workspace import Workspace
from samekind.workspace.workspaces import Workspaces

ORIGIN = "http://127.0.0.1:8765"
TOKENS = person_tokens("s" * 32, ["anna", "ben"])
Make = Callable[..., dict[str, TestClient]]


@pytest.fixture
def enter(make_workspace: Callable[..., Workspace]) -> Make:
    """Opens the page for each person, with the settings of :class:`People`."""

    def make(**settings: Any) -> dict[str, TestClient]:
        workspace = make_workspace()
        workspace.people = People(**settings)
        app = create_app(Workspaces.around(workspace), port=8765, people=TOKENS)
        clients = {}
        for name, token in TOKENS.items():
            client = TestClient(app, base_url=ORIGIN, raise_server_exceptions=False)
            client.get(f"/?token={token}")
            clients[name] = client
        return clients

    return make


def question(client: TestClient) -> dict[str, Any]:
    found: dict[str, Any] = client.get("/api/question").json()["question"]
    return found


def tell(client: TestClient, number: int, choice: str, **more: Any) -> Any:
    return client.post("/api/answers", json={"number": number, "choice": choice, **more})


def test_everybody_has_a_token_and_a_question_of_their_own(enter: Make) -> None:
    people = enter()
    assert len(set(TOKENS.values())) == 2 and all(len(t) == 43 for t in TOKENS.values())
    assert [c.get("/api/session").json()["person"] for c in people.values()] == ["anna", "ben"]
    hers, his = question(people["anna"]), question(people["ben"])
    assert hers["number"] != his["number"]
    assert question(people["anna"]) == hers, "it stays open for her"
    reply = tell(people["anna"], hers["number"], "unsure", by="ben")
    assert reply.status_code == 200 and reply.json()["now"]["question"]["number"] != his["number"]
    [answer] = people["anna"].get("/api/answers").json()["answers"]
    assert answer["by"] == "anna", "the token says who it is, not the request"


def test_a_request_without_a_token_or_with_another_one_is_refused(enter: Make) -> None:
    app = enter()["anna"].app
    stranger = TestClient(app, base_url=ORIGIN, raise_server_exceptions=False)
    for address in ("/api/question", "/?token=", f"/?token={'x' * 43}", f"/?token={'s' * 32}"):
        assert stranger.get(address).status_code == 403
    as_program = {"Authorization": f"Bearer {TOKENS['ben']}"}
    assert stranger.get("/api/session", headers=as_program).json()["person"] == "ben"


def test_another_person_s_question_and_answer_are_refused_in_words(enter: Make) -> None:
    people = enter()
    hers = question(people["anna"])
    error = tell(people["ben"], hers["number"], "unsure").json()["error"]
    assert error["type"] == "reserved" and "open for anna" in error["message"]
    assert tell(people["anna"], hers["number"], "unsure").status_code == 200
    reply = tell(people["ben"], hers["number"], "unsure")
    assert reply.status_code == 409
    assert reply.json()["error"]["type"] == "answered-by-other"
    assert "answered by anna in the meantime" in reply.json()["error"]["message"]
    for refused in (
        people["ben"].delete(f"/api/answers/{hers['number']}"),
        people["ben"].put(f"/api/answers/{hers['number']}", json={"choice": "same"}),
    ):
        assert refused.json()["error"]["type"] == "not-your-answer"
    assert people["ben"].post("/api/undo", json={}).json()["number"] is None
    assert people["anna"].post("/api/undo", json={}).json()["number"] == hers["number"]


@pytest.mark.parametrize("hidden", [False, True])
def test_answers_of_others_are_hidden_if_wanted(enter: Make, hidden: bool) -> None:
    people = enter(hidden=hidden)
    told = {}
    for name, client in people.items():
        told[name] = question(client)["number"]
        tell(client, told[name], "unsure")
    for name, client in people.items():
        assert client.get("/api/session").json()["hidden"] is hidden
        seen = [a["number"] for a in client.get("/api/answers").json()["answers"]]
        assert seen == ([told[name]] if hidden else [told["ben"], told["anna"]])
        mine = client.get("/api/answers?mine=true").json()["answers"]
        assert [a["number"] for a in mine] == [told[name]]


def test_agreement_is_reported(enter: Make) -> None:
    people = enter(overlap=1.0)
    first = question(people["anna"])
    choices = [c["value"] for c in first["choices"]]
    tell(people["anna"], first["number"], choices[0])
    again = question(people["ben"])
    assert again["number"] == first["number"]
    tell(people["ben"], first["number"], choices[1])
    found = people["anna"].get("/api/progress/people").json()
    assert (found["shared"], found["agreed"], found["overlap"]) == (1, 0, 1.0)
    assert [p["name"] for p in found["people"]] == ["anna", "ben"]
    assert found["people"][1]["second_opinions"] == 1
    assert found["alpha"] is not None and found["alpha"] <= 0
    assert found["words"].startswith("1 question was answered by two people, who agreed on 0")


def test_tokens_are_never_logged(
    enter: Make, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    people = enter()

    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("a bug of ours")

    monkeypatch.setattr("samekind.workspace.workspace.Workspace.ask", fail)
    with caplog.at_level(logging.DEBUG):
        for client in people.values():
            token = client.cookies["samekind-8765"]
            assert client.get(f"/api/question?token={token}").status_code == 500
    assert "a bug of ours" in caplog.text
    ours = [r.getMessage() for r in caplog.records if not r.name.startswith("httpx")]
    assert not any(token in text for token in TOKENS.values() for text in (*ours, repr(Guarded)))


def test_only_who_gave_an_answer_lets_it_count_again(enter: Make) -> None:
    people = enter()
    her, him = people["anna"], people["ben"]
    him.get("/api/question")  # Ben has a question of his own
    while question(her)["kind"] != "same-pair":
        tell(her, question(her)["number"], "unsure")
    apart = question(her)
    assert tell(her, apart["number"], "different").status_code == 200
    places = [f"/api/items/{quote(item['id'], safe='')}/place" for item in apart["items"]]
    items = [her.get(place).json()["item"]["position"] for place in places]
    body = {"items": items, "set_aside": True}
    assert "set aside" in her.post("/api/acts/together", json=body).json()["message"]

    def is_aside() -> bool:
        answers = him.get("/api/answers").json()["answers"]
        return next(a["aside"] for a in answers if a["number"] == apart["number"]) != ""

    address = f"/api/answers/{apart['number']}/restore"
    assert is_aside()
    refused = him.post(address, json={})
    assert (refused.status_code, refused.json()["error"]["type"]) == (409, "not-your-answer")
    assert "only anna can change the answer" in refused.json()["error"]["message"]
    assert is_aside()
    assert her.post(address, json={}).status_code == 200
    assert not is_aside()


@pytest.mark.parametrize("hidden", [False, True])
def test_an_item_says_who_answered_about_it_unless_answers_are_hidden(
    enter: Make, hidden: bool
) -> None:
    people = enter(hidden=hidden)
    her, him = people["anna"], people["ben"]
    while question(her)["kind"] != "same-pair":
        tell(her, question(her)["number"], "unsure")
    number, item = question(her)["number"], question(her)["items"][0]["id"]
    assert tell(her, number, "different").status_code == 200
    others = him.get("/api/question").json()["question"]["items"] + question(her)["items"]
    assert item not in {other["id"] for other in others}, "nobody is asked about it right now"
    place = f"/api/items/{quote(item, safe='')}/place"
    to_her, to_him = her.get(place).json(), him.get(place).json()
    assert to_her["words"] == f"You answered about it yourself (answer {number})."
    assert to_her["answer"] == number
    if hidden:
        assert to_him["answer"] is None and "anna" not in to_him["words"]
        assert not to_him["words"].startswith("You answered")
    else:
        assert to_him["words"] == f"anna answered about it (answer {number})."
        assert to_him["answer"] == number


Guarded = Addresses("http://127.0.0.1/", "secret", TOKENS)


def test_addresses_are_printed_for_each_person() -> None:
    lines = list(Guarded.announcements("serves Photos"))
    assert lines[0] == "samekind serves Photos at http://127.0.0.1/ (stop with Ctrl-C)"
    assert lines[1:] == [f"For {n}: http://127.0.0.1/?token={t}" for n, t in TOKENS.items()]
    assert "secret" not in "".join(lines), "the common token opens nothing here"
    assert Guarded.first == f"http://127.0.0.1/?token={TOKENS['anna']}"


def test_open_doors_are_refused() -> None:
    check_open("127.0.0.1", token=False)
    check_open("192.168.0.5", token=True)
    with pytest.raises(ServerError, match=r"who can reach 192\.168\.0\.5"):
        check_open("192.168.0.5", token=False)
    with pytest.raises(ServerError, match="everybody who can reach https://sort"):
        check_open("127.0.0.1", token=False, public_url="https://sort.example.org")
    for wrong in ("sort.example.org", "https://example.org/sort", "ftp://example.org"):
        with pytest.raises(ServerError, match="Expected the address of a reverse proxy"):
            check_open("127.0.0.1", token=True, public_url=wrong)


@pytest.mark.parametrize("names", [["anna", ""], ["anna", "anna"], ["x" * 65], ["a\x00b"]])
def test_people_need_names_that_tell_them_apart(names: list[str]) -> None:
    with pytest.raises(ServerError, match="Expected different names"):
        check_people(names, token=True)
    with pytest.raises(ServerError, match="known by their tokens"):
        check_people(["anna"], token=False)
    assert check_people([" anna ", "ben  b"], token=True) == ("anna", "ben b")


def test_behind_a_reverse_proxy_its_name_is_known_and_cookies_are_secure(
    make_workspace: Callable[..., Workspace],
) -> None:
    public = "https://sort.example.org"
    app = create_app(
        Workspaces.around(make_workspace()), port=8765, people=TOKENS, public_url=public
    )
    client = TestClient(app, base_url=public, raise_server_exceptions=False)
    entered = client.get(f"/?token={TOKENS['anna']}")
    assert "Secure" in entered.headers["set-cookie"]
    number = question(client)["number"]
    told = {"number": number, "choice": "unsure"}
    for origin, status in (("https://evil.example.org", 403), (public, 200)):
        reply = client.post("/api/answers", json=told, headers={"Origin": origin})
        assert reply.status_code == status
    foreign = TestClient(app, base_url="https://evil.example.org")
    assert foreign.get(f"/?token={TOKENS['anna']}").status_code == 403


def test_people_cannot_open_other_piles_of_the_machine(
    make_workspace: Callable[..., Workspace],
) -> None:
    workspaces = Workspaces.around(make_workspace())
    workspaces.recent.note(RecentPile("letters-12ab34cd", "/home/letters", "letters", "text", 9))
    app = create_app(workspaces, port=8765, people=TOKENS)
    client = TestClient(app, base_url=ORIGIN, raise_server_exceptions=False)
    client.get(f"/?token={TOKENS['anna']}")
    assert client.get("/api/start").json()["recent"] == []
    for body in ({"path": "/home/letters"}, {"pile": "letters-12ab34cd"}):
        where = "open" if "path" in body else "again"
        reply = client.post(f"/api/start/{where}", json=body)
        assert (reply.status_code, reply.json()["error"]["type"]) == (403, "paths-not-allowed")
    client.post("/api/start/forget", json={"pile": "letters-12ab34cd"})
    assert len(workspaces.recent.all()) == 1
