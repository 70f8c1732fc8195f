"""Write the OpenAPI description from which the page's API types are generated.

Run ``python -m samekind.web.openapi page/openapi.json`` after changing a route or a schema.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from samekind.items import Collection
from samekind.web.app import create_app
from samekind.workspace.workspace import Workspace

if TYPE_CHECKING:
    from samekind.session import Session

PROSE = {"title", "summary", "description", "operationId"}


def describe() -> str:
    """Return the routes and schemas as JSON with sorted keys, the same on every machine.

    Only what shapes the types is kept, so that a reworded docstring or a renamed function changes
    nothing. Error responses are left out: every error has the body ``Failure``.
    """

    def unused(name: str) -> Session:
        raise AssertionError("Describing the routes opens no session.")

    schema = create_app(Workspace(Collection("none", []), unused)).openapi()
    paths = {
        path: {method: _succeeding(operation) for method, operation in methods.items()}
        for path, methods in schema["paths"].items()
    }
    described = {
        "openapi": schema["openapi"],
        "info": {"title": "samekind", "version": "any"},
        "paths": paths,
        "components": {
            "schemas": {name: _shape(one) for name, one in schema["components"]["schemas"].items()}
        },
    }
    return json.dumps(described, indent=1, sort_keys=True) + "\n"


def _succeeding(operation: dict[str, Any]) -> dict[str, Any]:
    replies = {
        status: {"description": "OK", **_shape(reply)}
        for status, reply in operation["responses"].items()
        if status.startswith("2")
    }
    return {**_shape(operation), "responses": replies}


def _shape(node: Any) -> Any:
    """Return a part of the description without its prose."""
    if isinstance(node, list):
        return [_shape(one) for one in node]
    if not isinstance(node, dict):
        return node
    return {
        key: {name: _shape(one) for name, one in value.items()}
        if key == "properties"  # its keys are names of fields, such as "title"
        else _shape(value)
        for key, value in node.items()
        if key not in PROSE
    }


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(describe(), encoding="utf-8")
