"""The build hook: when the page is built, with which Node, and what happens without Node."""

from __future__ import annotations

import os
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest

from places import ROOT

pytest.importorskip("hatchling", reason="hatchling is not installed.")
HOOK = ROOT / "hatch_build.py"
pytestmark = [
    pytest.mark.skipif(not HOOK.is_file(), reason="The build hook is not part of an installation."),
    pytest.mark.skipif(sys.platform == "win32", reason="The stand-ins for npm are shell scripts."),
]


@pytest.fixture
def hook() -> ModuleType:
    spec = spec_from_file_location("hatch_build", HOOK)
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A repository with page sources and no built page."""
    (tmp_path / "page" / "src").mkdir(parents=True)
    (tmp_path / "page" / "package.json").write_text("{}")
    (tmp_path / "page" / "src" / "main.tsx").write_text("")
    return tmp_path


@pytest.fixture
def tools(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder with programs; a machine without Node at first."""
    folder = tmp_path_factory.mktemp("bin")
    monkeypatch.setenv("PATH", str(folder))
    return folder


def program(folder: Path, name: str, script: str) -> None:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def built(root: Path) -> Path:
    index = root / "src" / "samekind" / "web" / "page" / "index.html"
    index.parent.mkdir(parents=True)
    index.write_text("<title>samekind</title>")
    return index


def test_a_built_page_is_left_alone_until_a_source_is_newer(hook: ModuleType, root: Path) -> None:
    assert not hook.is_fresh(root)
    made = built(root).stat().st_mtime
    os.utime(root / "page" / "src" / "main.tsx", (made - 9, made - 9))
    os.utime(root / "page" / "package.json", (made, made))
    assert hook.is_fresh(root)
    os.utime(root / "page" / "src" / "main.tsx", (made + 9, made + 9))
    assert not hook.is_fresh(root)


def test_installed_packages_and_tests_are_not_sources(hook: ModuleType, root: Path) -> None:
    made = built(root).stat().st_mtime
    for name in ("node_modules", "tests"):
        (root / "page" / name).mkdir()
        (root / "page" / name / "x.js").write_text("")
        os.utime(root / "page" / name / "x.js", (made + 9, made + 9))
    assert {path.name for path in hook.sources(root / "page")} == {"main.tsx", "package.json"}


def test_the_machines_npm_is_used_when_its_node_is_new_enough(
    hook: ModuleType, root: Path, tools: Path
) -> None:
    program(tools, "node", "echo v22.12.0")
    program(tools, "npm", 'echo "$@" >> called')
    assert hook.machine_npm() == tools / "npm"
    assert hook.build(root) == ""
    called = (root / "page" / "called").read_text().splitlines()
    assert called == ["ci --no-audit --no-fund", "run build"]


@pytest.mark.parametrize("version", ["v18.19.0", "v20.18.3", "nonsense"])
def test_an_old_node_is_not_used(hook: ModuleType, tools: Path, version: str) -> None:
    program(tools, "node", f"echo {version}")
    program(tools, "npm", "exit 0")
    assert hook.machine_npm() is None


def test_without_node_the_build_continues_and_says_what_to_do(
    hook: ModuleType, root: Path, tools: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hook, "find_spec", lambda name: None)
    problem = hook.build(root)
    assert problem.startswith("The page was not built: there is no Node 20.19 or newer.")
    assert "npm ci && npm run build" in problem


def test_a_failed_build_is_reported_with_its_output(
    hook: ModuleType, root: Path, tools: Path
) -> None:
    program(tools, "node", "echo v24.0.0")
    program(tools, "npm", "echo the registry is away; exit 1")
    problem = hook.build(root)
    assert "'npm ci --no-audit --no-fund' failed" in problem
    assert "the registry is away" in problem


def test_node_from_pypi_is_required_only_where_it_is_needed(
    hook: ModuleType, root: Path, tools: Path
) -> None:
    page_hook = hook.PageHook(str(root), {}, None, None, "", "wheel")
    assert page_hook.dependencies() == [hook.NODE_FROM_PYPI]
    program(tools, "node", "echo v24.0.0")
    program(tools, "npm", "exit 0")
    assert page_hook.dependencies() == []


@pytest.mark.parametrize(("target", "version"), [("wheel", "standard"), ("wheel", "editable")])
def test_no_wheel_is_built_without_its_page(
    hook: ModuleType, root: Path, tools: Path, target: str, version: str
) -> None:
    program(tools, "node", "echo v24.0.0")
    program(tools, "npm", "echo the registry is away; exit 1")
    said: list[str] = []

    class App:
        def display_warning(self, text: str) -> None:
            said.append(text)

    page_hook = hook.PageHook(str(root), {}, None, None, "", target, App())
    if version == "standard":
        with pytest.raises(RuntimeError, match="The page was not built"):
            page_hook.initialize(version, {})
    else:
        page_hook.initialize(version, {})
        assert "the registry is away" in said[0]
