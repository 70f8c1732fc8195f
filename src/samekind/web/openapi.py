"""Write the OpenAPI description from which the page's API types are generated.

Run ``python -m samekind.web.openapi page/openapi.json`` after changing a route or a schema.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from samekind.web.app import create_app
from samekind.workspace.workspaces import Workspaces

PROSE = {"title", "summary", "description", "operationId"}


def describe() -> str:
    """Return the routes and schemas as JSON with sorted keys, the same on every machine.

    Only what determines the types is kept, so that a reworded docstring or a renamed function
    changes nothing. Error responses are omitted: every error has the body ``ErrorResponse``.
    """
    schema = create_app(Workspaces()).openapi()
    paths = {
        path: {method: _without_errors(operation) for method, operation in methods.items()}
        for path, methods in schema["paths"].items()
    }
    schemas = schema["components"]["schemas"]
    description = {
        "openapi": schema["openapi"],
        "info": {"title": "samekind", "version": "any"},
        "paths": paths,
        "components": {"schemas": {name: _without_prose(schemas[name]) for name in schemas}},
    }
    return json.dumps(description, indent=1, sort_keys=True) + "\n"


def _without_errors(operation: dict[str, Any]) -> dict[str, Any]:
    responses = {
        status: {"description": "OK", **_without_prose(response)}
        for status, response in operation["responses"].items()
        if status.startswith("2")
    }
    return {**_without_prose(operation), "responses": responses}


def _without_prose(node: Any) -> Any:
    if isinstance(node, list):
        return [_without_prose(one) for one in node]
    if not isinstance(node, dict):
        return node
    return {
        key: {name: _without_prose(one) for name, one in value.items()}
        if key == "properties"  # its keys are names of fields, such as "title"
        else _without_prose(value)
        for key, value in node.items()
        if key not in PROSE
    }


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(describe(), encoding="utf-8")
