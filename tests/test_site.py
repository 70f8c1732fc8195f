"""The site of the documentation: complete, strict, searchable, and beside other versions."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import samekind
from docs import build_site
from places import ROOT

REFERENCE = ROOT / "docs" / "reference"
needs_site = pytest.mark.skipif(
    not all(map(find_spec, ("mkdocs", "material", "mkdocstrings"))),
    reason="pip install 'samekind[docs]'",
)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the site once, as `make site` does; any warning fails."""
    folder = tmp_path_factory.mktemp("sites")
    for older in ("0.0.9", "dev"):
        (folder / older).mkdir()
        (folder / older / "index.html").write_text("<p>built earlier</p>")
    command = [sys.executable, str(ROOT / "docs" / "build_site.py"), "--into", str(folder)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.mark.slow
@needs_site
def test_the_site_builds_without_a_warning_beside_other_versions(site: Path) -> None:
    listed = json.loads((site / "versions.json").read_text())
    assert [each["version"] for each in listed] == [samekind.__version__, "0.0.9", "dev"]
    assert listed[0]["aliases"] == ["latest"] and not listed[1]["aliases"]
    assert f"url={samekind.__version__}/" in (site / "index.html").read_text()
    assert (site / "0.0.9" / "index.html").read_text() == "<p>built earlier</p>"
    start = (site / samekind.__version__ / "index.html").read_text()
    assert '"provider": "mike"' in start, "the selector of versions"


@pytest.mark.slow
@needs_site
def test_the_site_can_be_searched_and_asks_no_other_server(site: Path) -> None:
    built = site / samekind.__version__
    pages = {
        each["location"]
        for each in json.loads((built / "search/search_index.json").read_text())["docs"]
    }
    assert {"how-to/from-python/", "reference/#samekind.group", "gallery/photos/"} <= pages
    for page in built.rglob("*.html"):
        loaded = re.findall(r'<(?:script|img|iframe)[^>]* src="([^"]+)"', page.read_text())
        loaded += re.findall(
            r'<link rel="(?:stylesheet|preconnect)" href="([^"]+)"', page.read_text()
        )
        assert not [url for url in loaded if re.match(r"(https?:)?//", url)], page


@pytest.mark.slow
@needs_site
def test_the_reference_shows_types_descriptions_and_examples(site: Path) -> None:
    page = (site / samekind.__version__ / "reference" / "index.html").read_text()
    text = re.sub(r"<[^>]+>", "", page)
    assert "how many questions are asked at most" in text and "must-link" in text
    assert not re.search(r"<code>how many questions", page), "a description is not a type"
    assert "Examples" in text and ":func:" not in text and ":class:" not in text
    downloads = {path.suffix for path in (site / samekind.__version__ / "gallery").iterdir()}
    assert {".ipynb", ".py", ".png"} <= downloads


def test_the_reference_has_every_public_name() -> None:
    shown = "\n".join(page.read_text() for page in sorted(REFERENCE.glob("*.md")))
    listed = re.findall(r"^::: samekind\.(\w+)$", shown, flags=re.M)
    assert len(listed) == len(set(listed))
    assert set(listed) - {"testing"} == set(samekind.__all__) - {"__version__"}


def test_versions_are_sorted_by_number_and_names_come_last(tmp_path: Path) -> None:
    for version in ("0.9.0", "0.10.0", "dev"):
        (tmp_path / version).mkdir()
        (tmp_path / version / "index.html").touch()
    assert build_site.list_versions(tmp_path) == "0.10.0"
    listed = json.loads((tmp_path / "versions.json").read_text())
    assert [each["version"] for each in listed] == ["0.10.0", "0.9.0", "dev"]
    with pytest.raises(SystemExit, match="Expected a version"):
        build_site.build("../elsewhere", tmp_path)


@needs_site
def test_docstrings_become_readable() -> None:
    import doctest

    from docs import docstrings

    assert doctest.testmod(docstrings).failed == 0
    assert doctest.testmod(build_site).failed == 0
