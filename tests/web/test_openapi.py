"""The OpenAPI description from which the page's types are generated is up to date."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from samekind.web.openapi import describe

FILE = Path(__file__).parents[2] / "page" / "openapi.json"
UPDATE = "Run: python -m samekind.web.openapi page/openapi.json && cd page && npm run check"


@pytest.mark.skipif(not FILE.is_file(), reason="The page's sources are not in an installation.")
def test_the_description_used_by_the_page_is_up_to_date() -> None:
    assert FILE.read_text(encoding="utf-8") == describe(), UPDATE


def test_every_reply_that_the_page_reads_as_json_has_a_schema() -> None:
    bodies = {
        (method, path): reply.get("content", {}).get("application/json", {}).get("schema")
        for path, methods in json.loads(describe())["paths"].items()
        for method, operation in methods.items()
        for reply in operation["responses"].values()
    }
    assert {path for (_, path), schema in bodies.items() if schema is None} == {
        "/api/export",
        "/api/finish/orientation",
        "/api/items/{id}/full",
        "/api/items/{id}/members/{number}",
        "/api/items/{id}/preview",
        "/api/map/points",
        "/api/start/recent/{pile}/{number}",
    }
    assert all(schema for schema in bodies.values() if schema is not None)
