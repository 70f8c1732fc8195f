"""The token: first in the address, then a cookie; requests without it are refused."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from samekind.web.app import create_app
from samekind.web.security import TOKEN_FILE, cookies, is_same, load_token
from samekind.workspace.workspace import Workspace
from samekind.workspace.workspaces import Workspaces

TOKEN = "a-token-that-is-long-enough-for-a-test"
ORIGIN = "http://127.0.0.1:8765"


@pytest.fixture
def guarded(workspace: Workspace) -> TestClient:
    app = create_app(Workspaces.around(workspace), port=8765, token=TOKEN)
    return TestClient(app, base_url=ORIGIN, raise_server_exceptions=False)


@pytest.mark.parametrize("path", ["/api/session", "/api/health", "/api/openapi.json"])
def test_without_the_token_everything_is_refused(guarded: TestClient, path: str) -> None:
    reply = guarded.get(path)
    assert reply.status_code == 403
    assert reply.json()["error"]["type"] == "no-token"
    assert "?token=" in reply.json()["error"]["what_to_do"]
    assert "set-cookie" not in reply.headers


def test_a_person_without_the_token_gets_an_explanation(guarded: TestClient) -> None:
    for path in ("/", "/groups", "/assets/index.js", "/nowhere"):
        reply = guarded.get(path)
        assert reply.status_code == 403
        assert reply.headers["content-type"].startswith("text/plain")
        assert "samekind printed in its terminal" in reply.text


def test_after_the_first_visit_the_token_is_an_http_only_cookie(
    guarded: TestClient,
) -> None:
    reply = guarded.get(f"/api/session?token={TOKEN}")
    assert reply.status_code == 200
    cookie = reply.headers["set-cookie"]
    assert cookie == f"samekind-8765={TOKEN}; HttpOnly; SameSite=Strict; Path=/"
    again = guarded.get("/api/session")
    assert again.status_code == 200 and "set-cookie" not in again.headers
    assert guarded.post("/api/undo", json={}).status_code == 200


def test_a_program_sends_it_as_a_bearer_token(guarded: TestClient) -> None:
    headers = {"authorization": f"Bearer {TOKEN}"}
    assert guarded.get("/api/session", headers=headers).status_code == 200


@pytest.mark.parametrize(
    "other",
    [
        'prefs={"theme": "dark"}',
        "user[id]=7",
        "theme=dark mode",
        "name=José",
        "flag",
        "expires=1",
        "a/b=1",
        "samekind-8765=left-behind",
        'open="',
    ],
)
def test_cookies_of_other_programs_on_this_machine_do_not_lock_out(
    guarded: TestClient, other: str
) -> None:
    for header in (f"{other}; samekind-8765={TOKEN}", f"samekind-8765={TOKEN}; {other}"):
        reply = guarded.get("/api/session", headers={"cookie": header.encode()})
        assert reply.status_code == 200, header


def test_a_huge_cookie_is_read_in_no_time_by_everyone() -> None:
    """Python's own parser takes quadratic time: ten seconds for a tenth of this one."""
    backslashes = f'a="{chr(92) * 600_000}"; b={TOKEN}'
    assert list(cookies(backslashes, "b")) == [TOKEN]
    assert not list(cookies(backslashes, "c"))


@pytest.mark.parametrize(
    "wrong",
    [
        {"params": {"token": TOKEN[:-1]}},
        {"params": {"token": ""}},
        {"params": {"token": "ünïcode"}},
        {"headers": {"cookie": f"samekind-9999={TOKEN}"}},
        {"headers": {"cookie": "samekind-8765="}},
        {"headers": {"cookie": "samekind-8765=x; ;;=,,\x01"}},
        {"headers": {"authorization": f"Basic {TOKEN}"}},
        {"headers": {"authorization": "Bearer "}},
    ],
)
def test_a_wrong_token_is_refused(guarded: TestClient, wrong: dict[str, Any]) -> None:
    assert guarded.get("/api/session", **wrong).status_code == 403


def test_the_token_does_not_admit_foreign_hosts_and_pages(guarded: TestClient) -> None:
    params = {"token": TOKEN}
    foreign = guarded.get("/api/session", params=params, headers={"host": "evil.example"})
    assert foreign.json()["error"]["type"] == "foreign-host"
    page = guarded.get("/api/session", params=params, headers={"sec-fetch-site": "cross-site"})
    assert page.json()["error"]["type"] == "foreign-page"


def test_the_token_survives_a_restart_and_only_its_owner_may_read_it(tmp_path: Path) -> None:
    token = load_token(tmp_path / "new")
    assert len(token) >= 32 and load_token(tmp_path / "new") == token
    mode = stat.S_IMODE((tmp_path / "new" / TOKEN_FILE).stat().st_mode)
    assert os.name != "posix" or mode == 0o600


@pytest.mark.skipif(os.name != "posix", reason="permissions as on Unix")
def test_a_token_that_others_could_read_or_that_is_damaged_is_not_used(tmp_path: Path) -> None:
    token = load_token(tmp_path)
    (tmp_path / TOKEN_FILE).chmod(0o644)
    assert load_token(tmp_path) != token
    (tmp_path / TOKEN_FILE).chmod(0o600)
    (tmp_path / TOKEN_FILE).write_text("short")
    assert len(load_token(tmp_path)) >= 32
    (tmp_path / TOKEN_FILE).write_bytes(b"\xff" * 40)
    assert len(load_token(tmp_path)) >= 32


def test_without_a_writable_folder_the_token_is_valid_for_one_run(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert len(load_token(tmp_path / "file")) >= 32


def test_tokens_are_compared_as_a_whole() -> None:
    assert is_same("abc", "abc")
    assert not is_same("ab", "abc") and not is_same("", "abc") and not is_same("é", "abc")


def test_the_token_is_never_repeated_in_a_redirect(guarded: TestClient) -> None:
    for path in ("/groups/", "/api/session/"):
        reply = guarded.get(f"{path}?token={TOKEN}", follow_redirects=False)
        assert "location" not in reply.headers and reply.status_code == 404


def test_an_address_with_endless_parts_is_no_open_pile(guarded: TestClient) -> None:
    headers = {"authorization": f"Bearer {TOKEN}"}
    for key in ("~" * 3000, "x" + "~y" * 5000):
        reply = guarded.get("/api/session", params={"pile": key}, headers=headers)
        assert reply.status_code == 409 and reply.json()["error"]["type"] == "no-pile"
