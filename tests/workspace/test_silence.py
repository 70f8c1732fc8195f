"""The workspace is silent: it knows no terminal, no web framework and no door."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import samekind.workspace

FILES = sorted(Path(samekind.workspace.__file__).parent.glob("*.py"))
FORBIDDEN = {"rich", "typer", "click", "fastapi", "starlette", "pydantic", "uvicorn"}


def imported(tree: ast.AST) -> set[str]:
    names = {a.name for n in ast.walk(tree) if isinstance(n, ast.Import) for a in n.names}
    names |= {n.module or "" for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)}
    return {name.split(".")[0] for name in names} | {
        name for name in names if name.startswith(("samekind.cli", "samekind.web"))
    }


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_file_of_the_workspace_neither_prints_nor_imports_a_door(path: Path) -> None:
    tree = ast.parse(path.read_text())
    found = imported(tree)
    assert not found & FORBIDDEN
    assert not {name for name in found if name.startswith(("samekind.cli", "samekind.web"))}
    calls = {n.func.id for n in ast.walk(tree) if isinstance(n, ast.Call) if hasattr(n.func, "id")}
    assert "print" not in calls
