"""A phone in the same network: only when asked for, with a token of its own, and without files."""

from __future__ import annotations

import socket

import pytest
from fastapi.testclient import TestClient

from samekind.errors import ServerError
from samekind.web import phone as phones
from samekind.web.app import create_app
from samekind.web.phone import Phone, drawn, local_address
from samekind.workspace.workspace import Workspace
from samekind.workspace.workspaces import Workspaces

TOKEN = "a-token-that-is-long-enough-for-a-test"
PHONE = Phone("192.168.1.20")


@pytest.fixture
def client(workspace: Workspace) -> TestClient:
    """The page as a phone reaches it."""
    workspaces = Workspaces(paths=True)
    workspaces.add(workspace, first=True)
    hosts = ("127.0.0.1", PHONE.host)
    app = create_app(workspaces, hosts=hosts, port=8765, token=TOKEN, phone=PHONE.token)
    return TestClient(app, base_url="http://192.168.1.20:8765", raise_server_exceptions=False)


def test_a_phone_answers_with_its_own_token(client: TestClient) -> None:
    assert client.get("/api/question").status_code == 403
    reply = client.get(f"/api/question?token={PHONE.token}")
    assert reply.status_code == 200 and "HttpOnly" in reply.headers["set-cookie"]
    number = reply.json()["question"]["number"]
    told = client.post("/api/answers", json={"number": number, "choice": "unsure"})
    assert told.status_code == 200


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/api/start"),
        ("POST", "/api/start/browse"),
        ("POST", "/api/start/open"),
        ("POST", "/api/uploads"),
        ("POST", "/api/finish/run"),
        ("POST", "/api/finish/undo"),
    ],
)
def test_a_phone_sees_and_writes_no_files_of_the_computer(
    client: TestClient, method: str, path: str
) -> None:
    body = {} if method == "GET" else {"json": {}}
    reply = client.request(method, f"{path}?token={PHONE.token}", **body)  # type: ignore[arg-type]
    assert (reply.status_code, reply.json()["error"]["type"]) == (403, "not-on-a-phone")
    own = client.request(method, f"{path}?token={TOKEN}", **body)  # type: ignore[arg-type]
    assert own.json().get("error", {}).get("type") != "not-on-a-phone"


def test_a_phone_is_offered_downloads_and_hears_of_no_folders(client: TestClient) -> None:
    offered = client.get(f"/api/finish?token={PHONE.token}").json()
    assert not offered["paths"] and offered["made"] == []
    refused = {one["name"] for one in offered["formats"] if "disk" in one["why_not"]}
    assert {"folders", "albums", "xmp", "imagefolder"} == refused
    assert client.get(f"/api/finish?token={TOKEN}").json()["paths"]


def test_every_run_has_another_token_that_no_picture_of_the_object_shows() -> None:
    first, second = Phone("10.0.0.2"), Phone("10.0.0.2")
    assert first.token != second.token and len(first.token) >= 32
    assert first.token not in repr(first)


def test_the_code_is_a_square_of_blocks_and_the_sentence_says_what_it_means() -> None:
    lines = list(PHONE.announcements(8765))
    code = list(drawn(PHONE.address(8765)))
    assert lines[: len(code)] == code
    assert {len(line) for line in code} == {len(code[0])} and len(code) == (len(code[0]) + 1) // 2
    assert set("".join(code)) == set(" ▀▄█")
    assert PHONE.address(8765) in lines[-2] and "not encrypted" in lines[-1]


class _Probe(socket.socket):
    """A socket of a machine with another address."""

    address = "8.8.4.4"

    def connect(self, address: object) -> None:
        if self.address == "":
            raise OSError("unreachable")

    def getsockname(self) -> tuple[str, int]:
        return self.address, 1


@pytest.mark.parametrize(
    ("address", "words"), [("8.8.4.4", "not one of a local"), ("", "no network")]
)
def test_a_public_address_or_none_is_refused(
    monkeypatch: pytest.MonkeyPatch, address: str, words: str
) -> None:
    monkeypatch.setattr(_Probe, "address", address)
    monkeypatch.setattr(phones.socket, "socket", _Probe)
    with pytest.raises(ServerError, match=words):
        local_address()
