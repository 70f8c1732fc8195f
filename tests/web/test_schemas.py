"""Requests generated from the schema cause no server error."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from fastapi.testclient import TestClient

from samekind.web.app import create_app
from samekind.workspace.workspace import Workspace
from samekind.workspace.workspaces import Workspaces

schemathesis = pytest.importorskip("schemathesis", reason="schemathesis is not installed.")
hypothesis = pytest.importorskip("hypothesis", reason="hypothesis is not installed.")
HOST = {"host": "127.0.0.1:8765"}
SETTINGS = hypothesis.settings(
    max_examples=12,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(hypothesis.HealthCheck),
)


def test_no_valid_request_causes_a_server_error(
    make_workspace: Callable[..., Workspace],
) -> None:
    app = create_app(Workspaces.around(make_workspace()))
    schema = schemathesis.openapi.from_asgi("/api/openapi.json", app, headers=HOST)
    seen = 0
    for operation in schema.get_all_operations():
        tested = operation.ok()

        def run(case: Any) -> None:
            reply = case.call(headers=HOST)
            assert reply.status_code < 500, (case, reply.text)
            if reply.status_code >= 400:
                assert set(reply.json()) == {"error"}, (case, reply.text)

        SETTINGS(hypothesis.given(case=tested.as_strategy())(run))()
        seen += 1
    assert seen >= 18


def test_every_route_declares_the_error_response(client: TestClient) -> None:
    schema = client.get("/api/openapi.json").json()
    for path, methods in schema["paths"].items():
        for method, operation in methods.items():
            shape = operation["responses"]["4XX"]["content"]["application/json"]["schema"]
            assert shape == {"$ref": "#/components/schemas/ErrorResponse"}, (method, path)
