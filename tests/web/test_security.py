"""Refused: foreign host names and pages, other paths, large bodies, active previews."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest
from fastapi.routing import APIRoute
from fastapi.testclient import TestClient

from samekind.items import Collection
from samekind.web.app import create_app
from samekind.web.routes import LEDGER_ROUTERS, ROUTERS
from samekind.workspace.workspace import Workspace
from samekind.workspace.workspaces import Workspaces

JSON = {"content-type": "application/json"}


def refused(reply: Any, status: int, type: str) -> None:
    assert reply.status_code == status, reply.text
    assert reply.json()["error"]["type"] == type


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:8765",
        "127.0.0.1.evil.example:8765",
        "localhost.evil.example:8765",
        "127.0.0.1:9999",
        "127.0.0.1",
        "user@127.0.0.1:8765",
        "[::2]:8765",
        "",
    ],
)
def test_foreign_host_names_are_refused_even_for_reading(client: TestClient, host: str) -> None:
    for path in ("/api/session", "/", "/nowhere"):
        refused(client.get(path, headers={"host": host}), 403, "foreign-host")


@pytest.mark.parametrize(
    "host", ["127.0.0.1:8765", "localhost:8765", "LOCALHOST:8765", "[::1]:8765"]
)
def test_every_name_of_this_machine_is_served(client: TestClient, host: str) -> None:
    assert client.get("/api/health", headers={"host": host}).status_code == 200
    same = {"host": host, "origin": f"http://{host}", "sec-fetch-site": "same-origin"}
    assert client.post("/api/undo", json={}, headers=same).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "https://evil.example"},
        {"origin": "http://127.0.0.1:3000"},
        {"origin": "http://localhost:8765"},
        {"origin": "https://127.0.0.1:8765"},
        {"origin": "null"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"origin": "http://127.0.0.1:8765", "sec-fetch-site": "cross-site"},
    ],
)
def test_another_page_cannot_change_anything(
    client: TestClient, workspace: Workspace, headers: dict[str, str]
) -> None:
    number = client.get("/api/question").json()["question"]["number"]
    told = {"number": number, "choice": "same"}
    refused(client.post("/api/answers", json=told, headers=headers), 403, "foreign-page")
    refused(client.put("/api/groups/1", json={"name": "x"}, headers=headers), 403, "foreign-page")
    refused(client.delete("/api/answers/1", headers=headers), 403, "foreign-page")
    assert workspace.session().answers == ()


def test_another_page_cannot_read_either(client: TestClient) -> None:
    reply = client.get("/api/export?format=csv", headers={"sec-fetch-site": "cross-site"})
    refused(reply, 403, "foreign-page")
    headers = client.get("/api/session").headers
    assert "access-control-allow-origin" not in headers
    assert headers["cross-origin-resource-policy"] == "same-origin"
    preflight = client.options(
        "/api/answers",
        headers={"origin": "https://evil.example", "access-control-request-method": "POST"},
    )
    assert preflight.status_code == 405
    assert "access-control-allow-origin" not in preflight.headers


@pytest.mark.parametrize(
    "kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "", "json"]
)
def test_form_submissions_are_refused(client: TestClient, kind: str) -> None:
    body = b'{"number": 1, "choice": "same"}'
    reply = client.post("/api/answers", content=body, headers={"content-type": kind})
    refused(reply, 415, "not-json")
    assert client.post("/api/undo", json={}).status_code == 200


@pytest.mark.parametrize("announced", [True, False])
def test_a_large_body_is_refused(client: TestClient, announced: bool) -> None:
    body = b'{"name": "' + b"x" * 70_000 + b'"}'
    content = body if announced else (body[k : k + 1000] for k in range(0, len(body), 1000))
    refused(client.put("/api/groups/1", content=content, headers=JSON), 413, "too-large")


@pytest.mark.parametrize(
    "id",
    [
        "..%2f..%2f..%2fetc%2fpasswd",
        "%2e%2e%2f%2e%2e%2fetc%2fpasswd",
        "%2fetc%2fpasswd",
        "/etc/passwd",
        "..%5c..%5cwindows%5cwin.ini",
        "photos%2f0%2f..%2f..%2f..%2fsecret",
        "photos",
        "%00",
        "photos%2f0%2fn%C2%B0%2000%20%23a%3F.png%00.txt",
        "%ff%fe",
    ],
)
def test_no_path_outside_the_collection_can_be_read(client: TestClient, id: str) -> None:
    reply = client.get(f"/api/items/{id}/preview")
    assert reply.status_code == 404
    assert set(reply.json()) == {"error"}


@pytest.mark.parametrize(
    "path",
    [
        "/assets/..%2findex.html",
        "/assets/%2e%2e%2f%2e%2e%2fapp.py",
        "/assets/..%2f..%2fapp.py",
        "/assets//etc/passwd",
        "/assets/.",
        "/assets/",
        "/../app.py",
        "/app.py",
    ],
)
def test_only_files_of_the_page_are_served(client: TestClient, path: str) -> None:
    reply = client.get(path)
    assert reply.status_code == 404
    assert set(reply.json()) == {"error"}


def test_a_preview_has_its_type_and_is_sandboxed(client: TestClient) -> None:
    item = client.get("/api/question").json()["question"]["items"][0]
    assert "#" in item["id"] and "?" in item["id"] and "/" in item["id"]
    reply = client.get(item["preview"])
    assert reply.status_code == 200
    assert reply.content.startswith(b"\x89PNG")
    assert reply.headers["content-type"] == "image/png"
    assert reply.headers["x-content-type-options"] == "nosniff"
    assert reply.headers["content-security-policy"] == "default-src 'none'; sandbox"


def test_a_preview_that_a_browser_could_run_is_never_sent(
    make_workspace: Callable[..., Workspace],
    client_for: Callable[[Workspace], TestClient],
    odd_previews: Collection,
) -> None:
    client = client_for(make_workspace(collection=odd_previews))
    plain = client.get("/api/items/plain/preview")
    assert plain.headers["content-type"] == "text/plain; charset=utf-8"
    assert plain.text == "Grüße <b>"
    refused(client.get("/api/items/page/preview"), 406, "cannot-be-shown")
    refused(client.get("/api/items/vector/preview"), 406, "cannot-be-shown")
    refused(client.get("/api/items/lost/preview"), 404, "SourceError")


@pytest.mark.parametrize("path", ["/", "/api/session", "/api/nowhere", "/nowhere"])
def test_every_response_has_the_security_headers(client: TestClient, path: str) -> None:
    headers = client.get(path).headers
    assert headers["content-security-policy"].startswith("default-src 'self'; img-src 'self' data:")
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert "server" not in headers


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/api/nowhere", 404),
        ("GET", "/nowhere", 404),
        ("GET", "/api", 404),
        ("GET", "/docs", 404),
        ("POST", "/api/session", 405),
        ("PATCH", "/api/answers/1", 405),
        ("DELETE", "/api/groups/1", 405),
        ("GET", "/api/answers/1", 405),
        ("GET", "/api/groups/0", 422),
        ("PUT", "/api/answers/99999999999999999999", 422),
        ("GET", "/api/answers?limit=1000000", 422),
    ],
)
def test_every_error_has_the_same_body(
    client: TestClient, method: str, path: str, status: int
) -> None:
    has_body = method in ("POST", "PUT", "PATCH")
    reply = client.request(method, path, json={"choice": "same"} if has_body else None)
    assert reply.status_code == status
    assert set(reply.json()) == {"error"}
    assert {"type", "message"} <= set(reply.json()["error"])


def test_an_internal_error_shows_no_details(
    client: TestClient, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail() -> None:
        raise RuntimeError("secret path /home/someone")

    monkeypatch.setattr(workspace.session(), "ask", fail)
    reply = client.get("/api/question")
    refused(reply, 500, "internal")
    assert "secret" not in reply.text and "Traceback" not in reply.text
    assert reply.headers["x-content-type-options"] == "nosniff"


def test_no_telemetry_is_sent_to_a_collector_named_in_the_environment(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FASTAPI_OTEL_AUTO_CONFIGURE", "true")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://192.0.2.1:4318")
    telemetry: dict[str, Any] = {**create_app(Workspaces.around(workspace))._telemetry}
    switches = ("tracing", "metrics", "logs", "operation_spans", "auto_configure")
    assert [telemetry[name] for name in switches] == [False] * 5


def test_no_route_runs_on_the_event_loop() -> None:
    """Sessions compute and lock; an `async` route would block all other requests."""
    routes = [route for router in (*ROUTERS, *LEDGER_ROUTERS) for route in router.routes]
    assert len(routes) >= 50
    for route in routes:
        assert isinstance(route, APIRoute)
        assert not inspect.iscoroutinefunction(route.endpoint), route.path
