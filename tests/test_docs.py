"""The documents for maintainers name only files that exist and names that can be imported."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from places import ROOT

SOURCE = ROOT / "src" / "samekind"
DOCS = ROOT / "docs"
GUIDES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *(DOCS / f"{name}.md" for name in ("architecture", "glossary", "index", "tutorial")),
    *sorted((DOCS / "how-to").glob("*.md")),
    *sorted((DOCS / "explanation").glob("*.md")),
]
ROOMS = "|".join(sorted(path.name for path in SOURCE.iterdir() if path.is_dir()))
IN_TREE = re.compile(r"(?<![\w./-])(?:src|tests|page|benchmarks|recipes)/[\w./-]*[\w/]")
IN_PACKAGE = re.compile(rf"(?<![\w./-])(?:{ROOMS})/[\w/-]*\.(?:py|toml)\b")
IN_PROGRAM = re.compile(
    r"(?<![\w./-])(?:samekind|benchmarks|recipes|docs)/[\w/.-]+\.(?:py|md|toml|json)\b"
)
DOTTED = re.compile(r"(?<![\w./-])samekind(?:\.\w+)+")
MADE_BY_A_COMMAND = {"benchmarks/rows/quick.jsonl"}
by_page = pytest.mark.parametrize("page", GUIDES, ids=lambda path: path.stem)


def prose(page: Path) -> str:
    """The page without its diffs: what these add does not exist yet."""
    return re.sub(r"```diff\n.*?```", "", page.read_text(), flags=re.S)


def resolved(dotted: str) -> Any:
    """The module or the attribute of a module behind a dotted name."""
    parts = dotted.split(".")
    for cut in range(len(parts), 0, -1):
        try:
            found: Any = import_module(".".join(parts[:cut]))
        except ModuleNotFoundError as problem:
            if not (problem.name or "").startswith("samekind"):
                raise
            continue
        for attribute in parts[cut:]:
            found = getattr(found, attribute)
        return found
    raise ModuleNotFoundError(dotted)


@by_page
def test_every_path_in_a_guide_exists(page: Path) -> None:
    text = prose(page)
    missing = [path for path in IN_TREE.findall(text) if not (ROOT / path).exists()]
    missing += [path for path in IN_PACKAGE.findall(text) if not (SOURCE / path).exists()]
    assert set(missing) <= MADE_BY_A_COMMAND


def test_every_path_in_a_program_and_in_the_results_exists() -> None:
    programs = [
        path
        for folder in ("src", "recipes", "benchmarks")
        for path in (ROOT / folder).rglob("*.py")
    ]
    missing = {
        f"{page.relative_to(ROOT)}: {path}"
        for page in [*programs, DOCS / "results.md"]
        for path in IN_PROGRAM.findall(page.read_text())
        if not (ROOT / path).exists() and not (SOURCE.parent / path).exists()
    }
    assert not missing


@by_page
def test_every_dotted_name_in_a_guide_can_be_imported(page: Path) -> None:
    for dotted in sorted(set(DOTTED.findall(prose(page)))):
        assert resolved(dotted) is not None, dotted


def test_the_walk_of_one_photo_is_complete() -> None:
    if not (SOURCE / "web" / "page" / "index.html").is_file():
        pytest.skip("the page is not built")
    command = [sys.executable, str(ROOT / "benchmarks" / "walk.py"), "--list"]
    done = subprocess.run(command, capture_output=True, text=True)
    executed = set(re.findall(r"^ +\d+  (\S+\.py)$", done.stdout, flags=re.M))
    assert executed, done.stderr
    text = (DOCS / "architecture.md").read_text()
    walk = text.partition("## The walk of one photo")[2].partition("## The walk of one simulated")[
        0
    ]
    assert set(re.findall(r"^\| `([\w/]+\.py)` \|", walk, flags=re.M)) == executed


@cache
def defined(path: Path) -> frozenset[str]:
    """The name of a module, and of its classes, functions and constants."""
    tree = ast.parse(path.read_text())
    kinds = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    named = {node.name for node in ast.walk(tree) if isinstance(node, kinds)}
    targets = (target for n in tree.body if isinstance(n, ast.Assign) for target in n.targets)
    constants = {target.id for target in targets if isinstance(target, ast.Name)}
    return frozenset({path.stem} | named | constants)


def placed_names(text: str) -> list[tuple[str, str]]:
    """Each "`name` in `file.py`" of a text, and each row of a table that names file and function."""
    found = [(path, name) for name, path in re.findall(r"`([\w.]+)` in `([\w/]+\.py)`", text)]
    for path, cell in re.findall(r"^\| `([\w/]+\.py)` \| (`[^|]*) \|", text, flags=re.M):
        found += [(path, name) for name in re.findall(r"`([\w.]+)`", cell)]
    return found


def test_the_architecture_finds_functions_in_the_files_that_it_names() -> None:
    found = placed_names((DOCS / "architecture.md").read_text())
    assert len(found) > 10
    for path, name in found:
        assert set(name.split(".")) <= defined(SOURCE / path), f"{name} in {path}"


def test_the_glossary_uses_the_names_of_the_code() -> None:
    named = re.findall(r"\(((?:`\w+`(?:, )?)+)\)", (DOCS / "glossary.md").read_text())
    names = {name for group in named for name in re.findall(r"\w+", group)}
    assert len(names) > 30
    assert names <= frozenset().union(*map(defined, SOURCE.rglob("*.py")))


def test_the_tutorial_names_the_views_of_the_page() -> None:
    """What the tutorial calls the line at the top has these very words on the page."""
    views = set(re.findall(r'\["/\w*", "(\w+)"\]', (ROOT / "page/src/app.tsx").read_text()))
    assert {"Questions", "Groups"} <= views
    tutorial = (DOCS / "tutorial.md").read_text()
    named = set(re.findall(r"hoose \*\*(\w+)\*\*", tutorial))
    named |= set(re.findall(r"\*\*(\w+)\*\*,? in the line at the top", tutorial))
    assert {"Groups", "Finish", "Groupings", "Map"} <= named <= views


def test_the_finders_find_what_they_should() -> None:
    line = "See `src/samekind/errors.py`, `session/session.py` and samekind.session.Session.ask."
    assert IN_TREE.findall(line) == ["src/samekind/errors.py"]
    assert IN_PACKAGE.findall(line) == ["session/session.py"]
    (dotted,) = DOTTED.findall(line)
    assert resolved(dotted).__name__ == "ask"
    with pytest.raises((AttributeError, ModuleNotFoundError)):
        resolved("samekind.session.Hall")


@pytest.mark.skipif(shutil.which("git") is None, reason="git applies the diffs")
def test_the_additions_of_contributing_apply_and_keep_their_contracts(tmp_path: Path) -> None:
    diffs = re.findall(r"```diff\n(.*?)```", (ROOT / "CONTRIBUTING.md").read_text(), flags=re.S)
    assert len(diffs) == 5
    for folder in ("src/samekind", "tests"):
        skipped = shutil.ignore_patterns("__pycache__", "page", "recorded")
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=skipped)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    for diff in diffs:
        apply = [shutil.which("git") or "", "apply", "-C1", "-"]
        done = subprocess.run(apply, cwd=tmp_path, input=diff, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    lines = ["tests/testing", "tests/test_house.py", "-q", "-p", "no:cacheprovider", "-n", "0"]
    chosen = "closest or consistent or brightness or question or one_line or public"
    environment = {**os.environ, "PYTHONPATH": f"{tmp_path / 'src'}:{tmp_path / 'tests'}"}
    contracts = subprocess.run(
        [sys.executable, "-m", "pytest", *lines, "-k", chosen],
        cwd=tmp_path, env=environment, capture_output=True, text=True,
    )  # fmt: skip
    assert contracts.returncode == 0, contracts.stdout
    (tmp_path / "notes.jsonl").write_text('{"id": "a", "text": "one"}\nbroken\n')
    code = "from samekind import open_source; p = open_source('notes.jsonl'); print(p.skipped)"
    opened = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert "line 2" in opened.stdout, opened.stderr
