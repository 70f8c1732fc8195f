"""The house: who may import whom, how large a room may be, and what stays outside."""

from __future__ import annotations

import ast
import subprocess
import sys
from functools import cache
from importlib import import_module
from itertools import groupby
from pathlib import Path

import pytest

import samekind

ROOT = Path(samekind.__file__).parent
FILES = sorted(ROOT.rglob("*.py"))
GROUND = {
    "errors", "items", "questions", "constraints", "clustering", "protocols", "compute",
    "atomic_files", "characters", "superinstances", "evaluation", "registry", "neighbours",
    "parameters", "user_paths",
}  # fmt: skip
SHELVES = {"sources", "encoders", "clusterers", "strategies", "exports", "training", "objectives"}
SESSION = {"session", "ledger"}
RULES: dict[str, set[str]] = {
    **dict.fromkeys(GROUND, GROUND),
    "sources": GROUND,
    "encoders": GROUND | {"training"},
    "strategies": GROUND,
    "objectives": GROUND,
    "training": GROUND | {"objectives"},
    "clusterers": GROUND | {"objectives", "training"},
    "exports": GROUND,
    "ledger": GROUND,
    "session": GROUND | {"ledger"},
    "testing": GROUND | {"ledger"},
    "bulk": GROUND | SHELVES,
    "workspace": GROUND | SHELVES | SESSION | {"bulk"},
    "simulation": GROUND | SHELVES | SESSION | {"bulk", "workspace"},
    "reports": GROUND | SHELVES | SESSION | {"workspace", "simulation"},
}
"""What each room may import from the package. Doors may import every room but another door."""
DOORS = {"cli", "web"}
ENTRANCES = {"__main__", "__init__"}


def room(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


@cache
def nodes_of(path: Path) -> list[ast.AST]:
    """All nodes of a file, which is parsed once for all tests."""
    return list(ast.walk(ast.parse(path.read_text())))


@cache
def imported(path: Path) -> frozenset[str]:
    """Rooms of the package that a file imports, wherever in the file it does so."""
    found: set[str] = set()
    for node in nodes_of(path):
        names = []
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("samekind"):
            names = [
                f"{node.module}.{a.name}" if node.module == "samekind" else node.module or ""
                for a in node.names
            ]
        elif isinstance(node, ast.Import):
            names = [a.name for a in node.names if a.name.startswith("samekind")]
        found |= {name.split(".")[1] for name in names if "." in name}
    return frozenset(found - {"__version__"})


ROOMS = {name: list(files) for name, files in groupby(FILES, room)}
assert sum(map(len, ROOMS.values())) == len(FILES)


@pytest.mark.parametrize("door", sorted(DOORS))
def test_no_door_imports_another_and_only_entrances_import_a_door(door: str) -> None:
    importers = {
        str(path.relative_to(ROOT))
        for path in FILES
        if room(path) not in {door, *ENTRANCES} and door in imported(path)
    }
    assert importers - {"cli/serve.py"} == set(), "only `samekind serve` starts the server"


@pytest.mark.parametrize("here", sorted(ROOMS.keys() - DOORS - ENTRANCES))
def test_rooms_import_only_what_lies_below_them(here: str) -> None:
    assert here in RULES, f"{here} is a new room: say in RULES what it may import"
    too_much = {
        str(path.relative_to(ROOT)): above
        for path in ROOMS[here]
        if (above := imported(path) - {here} - RULES[here])
    }
    assert not too_much


def test_other_rooms_import_sources_through_their_door() -> None:
    inside = ("samekind.sources.files", "samekind.sources.sets")
    importers = {
        str(path.relative_to(ROOT)): node.module
        for path in FILES
        if room(path) != "sources"
        for node in nodes_of(path)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(inside)
    }
    assert not importers, "import from samekind.sources"


def classes_of(*rooms: str) -> set[type]:
    """All classes that the modules of these rooms define."""
    found = set()
    for path in (path for name in rooms for path in ROOMS[name]):
        parts = path.relative_to(ROOT).with_suffix("").parts
        module = import_module(".".join(("samekind", *parts)).removesuffix(".__init__"))
        mine = (value for value in vars(module).values() if isinstance(value, type))
        found |= {value for value in mine if value.__module__ == module.__name__}
    return found


def test_learners_inherit_at_most_two_deep() -> None:
    too_deep = {
        found.__qualname__: above
        for found in classes_of("clusterers", "encoders")
        if len(above := [c.__name__ for c in found.__mro__[1:] if "samekind" in c.__module__]) > 2
    }
    assert not too_deep


def only_stores(function: ast.FunctionDef) -> bool:
    """An estimator's constructor, which is as long as it has parameters."""
    return function.name == "__init__" and all(isinstance(s, ast.Assign) for s in function.body)


@pytest.mark.parametrize("here", sorted(ROOMS))
def test_rooms_stay_small(here: str) -> None:
    for path in ROOMS[here]:
        text, name = path.read_text(), str(path.relative_to(ROOT))
        assert len(text.splitlines()) <= 400, name
        for node in nodes_of(path):
            if isinstance(node, ast.FunctionDef) and not only_stores(node):
                assert (node.end_lineno or 0) - node.lineno < 60, f"{name}: {node.name} is too long"
        vague = {"utils", "common", "helpers", "misc"}
        assert not vague & {path.stem, *path.parts[len(ROOT.parts) :]}, name
        if path.name != "compute.py":
            assert "cuda" not in text.lower(), f"{name}: only compute.py may know devices"


def test_few_modules_lie_loose_at_the_top() -> None:
    assert len(list(ROOT.glob("*.py"))) <= 16


def test_the_median_room_is_a_page() -> None:
    lengths = sorted(len(path.read_text().splitlines()) for path in FILES)
    assert lengths[len(lengths) // 2] <= 140


def test_importing_the_package_is_quick_and_brings_no_heavy_library() -> None:
    heavy = {
        "torch", "sklearn", "scipy", "PIL", "sqlalchemy", "fastapi", "pyarrow", "onnxruntime",
        "matplotlib",
    }  # fmt: skip
    for imports in (
        "samekind",
        "samekind.cli.main",
        "samekind.sources, samekind.encoders, samekind.ledger.store",
        "samekind.reports.plots",
    ):
        too_much = heavy if imports != "samekind" else heavy | {"numpy", "samekind.items"}
        code = f"import sys, {imports}; print(sorted({too_much} & set(sys.modules)))"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        assert done.stdout.strip() == "[]", (imports, done.stdout, done.stderr)


def test_a_session_in_memory_needs_no_database_and_no_server() -> None:
    code = (
        "import sys\n"
        "for name in ('sqlalchemy', 'fastapi', 'pydantic', 'uvicorn', 'platformdirs'):\n"
        "    sys.modules[name] = None\n"
        "from samekind.simulation import simulate\n"
        "row = simulate('digits', orientation='digit', questions=2)\n"
        "print(row['questions'])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.strip() == "2", done.stderr


def test_the_public_names_are_what_is_visible() -> None:
    assert set(dir(samekind)) == set(samekind.__all__)
    assert len(samekind.__all__) == len(set(samekind.__all__))
    for name in samekind.__all__:
        assert getattr(samekind, name) is not None
    with pytest.raises(AttributeError, match=r"'Sesion'\. Did you mean 'Session'\?"):
        _ = samekind.Sesion
    with pytest.raises(AttributeError, match=r"'nothing_of_this_name'\.$"):
        _ = samekind.nothing_of_this_name


def test_type_checkers_see_the_same_public_names() -> None:
    (block,) = (
        n for n in ast.parse((ROOT / "__init__.py").read_text()).body if isinstance(n, ast.If)
    )
    imports = [node for node in block.body if isinstance(node, ast.ImportFrom)]
    seen = {alias.name: node.module for node in imports for alias in node.names}
    assert seen.keys() | {"__version__"} == set(samekind.__all__)
    for name, module in seen.items():
        assert getattr(import_module(str(module)), name) is getattr(samekind, name)


def test_every_estimator_and_every_error_with_an_exit_code_is_a_public_name() -> None:
    from samekind import errors
    from samekind.clusterers import CLUSTERERS

    estimators = {target.partition(":")[2] for target in CLUSTERERS.values()}
    classes = (value for value in vars(errors).values() if isinstance(value, type))
    drawn = {error.__name__ for error in classes if "exit_code" in vars(error)}
    assert estimators | drawn <= set(samekind.__all__)
