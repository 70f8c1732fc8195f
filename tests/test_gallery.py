"""The gallery: every program runs, in a short form, and its page and notebook are made from it."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from docs import build_gallery as gallery
from places import ROOT

pytest.importorskip("matplotlib", reason="pip install 'samekind[plots]'")
pytest.importorskip("palmerpenguins", reason="pip install 'samekind[sets]'")
FOLDER = ROOT / "docs" / "gallery"


NAMES = ["deep", "graph", "photos", "strategy", "table", "texts"]
by_name = pytest.mark.parametrize("name", NAMES)


def program(name: str) -> str:
    return (FOLDER / f"{name}.py").read_text()


def notebook(name: str) -> list[dict[str, Any]]:
    cells: list[dict[str, Any]] = json.loads((FOLDER / f"{name}.ipynb").read_text())["cells"]
    return cells


def test_there_are_six_programs_and_the_overview_leads_to_each() -> None:
    assert gallery.names() == NAMES
    overview = (FOLDER / "index.md").read_text()
    assert set(re.findall(r"\]\((\w+)\.md\)", overview)) == set(NAMES)


@by_name
def test_a_program_runs_with_smaller_numbers(name: str) -> None:
    source = program(name)
    shorter = gallery.shortened(source)
    assert (shorter != source) == ("in the test:" in source)
    outputs = gallery.execute(gallery.read_cells(shorter), name)
    drawn = [picture for output in outputs for picture in output.pictures]
    assert len(drawn) == len(list(FOLDER.glob(f"{name}-*.png"))) > 0
    assert all(picture.startswith(b"\x89PNG") for picture in drawn)
    assert any(output.text for output in outputs)


@by_name
def test_the_page_and_the_notebook_have_the_code_of_the_program(name: str) -> None:
    cells = gallery.read_cells(program(name))
    code = [cell.text for cell in cells if cell.is_code]
    made = notebook(name)
    assert ["".join(cell["source"]) for cell in made] == [cell.text for cell in cells]
    page = (FOLDER / f"{name}.md").read_text()
    assert [block.strip("\n") for block in re.findall(r"```python\n(.*?)```", page, re.S)] == code
    for prose in (cell.text for cell in cells if not cell.is_code):
        assert prose in page
    pictures = re.findall(r"!\[(.+)\]\((.+\.png)\)", page)
    assert all((FOLDER / file).is_file() and len(words) > 20 for words, file in pictures)
    shown = [out for cell in made for out in cell.get("outputs", ())]
    assert sum(out["output_type"] == "display_data" for out in shown) == len(pictures) > 0


def test_the_gallery_stays_small() -> None:
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) < 1_200_000


def test_a_cell_that_fails_names_its_program() -> None:
    cells = gallery.read_cells("# %% [markdown]\n# Words\n# %%\nprint('one')\n1 + 1\n# %%\n1 / 0\n")
    assert gallery.execute(cells[:2])[1].text == "one\n2"
    with pytest.raises(ZeroDivisionError) as problem:
        gallery.execute(cells, "broken")
    assert problem.traceback[-1].frame.code.raw.co_filename == "broken, cell 2"
