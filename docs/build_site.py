"""Build the site of one version into a folder of its own, beside those of other versions.

    python docs/build_site.py                      # site/0.1.0: the version of the package
    python docs/build_site.py dev --into public    # public/dev

The folder also gets ``versions.json``, from which the selector at the top of every page lets
readers choose, and an ``index.html`` that leads to the newest release. Other versions stay as they
are. To withdraw one, delete its folder and build any other.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
LEADS_ON = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>samekind</title>
<meta http-equiv="refresh" content="0; url={version}/">
<a href="{version}/">The documentation of samekind</a>
"""


def package_version() -> str:
    """Return the version that the source of the package states."""
    source = (ROOT / "src" / "samekind" / "__init__.py").read_text(encoding="utf-8")
    found = re.search(r'^__version__ = "(.+)"$', source, flags=re.M)
    assert found is not None
    return found[1]


def order(version: str) -> tuple[bool, list[int], str]:
    """Sort by number; names such as ``dev`` come before all releases.

    >>> sorted(["0.9.0", "dev", "0.10.1"], key=order)
    ['dev', '0.9.0', '0.10.1']
    """
    numbers = [int(part) for part in re.findall(r"\d+", version)]
    return bool(re.match(r"\d", version)), numbers, version


def list_versions(folder: Path) -> str:
    """Write the list of the versions in a folder, newest first; return the newest."""
    built = (page.parent.name for page in folder.glob("*/index.html"))
    versions = sorted(built, key=order, reverse=True)
    listed = [
        {"version": version, "title": version, "aliases": ["latest"] if k == 0 else []}
        for k, version in enumerate(versions)
    ]
    (folder / "versions.json").write_text(json.dumps(listed, indent=1) + "\n", encoding="utf-8")
    (folder / "index.html").write_text(LEADS_ON.format(version=versions[0]), encoding="utf-8")
    return versions[0]


def build(version: str, folder: Path) -> None:
    """Build the site of a version; any warning is an error."""
    if not re.fullmatch(r"\w[\w.-]*", version):
        sys.exit(f"Expected a version such as 0.2.0 or dev, got {version!r}.")
    target = folder.resolve() / version
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "-d", str(target)]
    done = subprocess.run(command, cwd=ROOT, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"})
    if done.returncode:
        sys.exit(done.returncode)
    newest = list_versions(folder)
    print(f"{target} is built. {folder / 'index.html'} leads to {newest}.")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("version", nargs="?", default=package_version())
    parser.add_argument(
        "--into", type=Path, default=ROOT / "site", help="the folder of all versions"
    )
    chosen = parser.parse_args()
    build(chosen.version, chosen.into)
