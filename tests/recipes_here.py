"""Runs a recipe as a script would be, but here: another process imports everything again."""

from __future__ import annotations

import io
import runpy
import sys
from contextlib import redirect_stdout

import pytest

from places import ROOT

RECIPES = ROOT / "recipes"


def run_here(recipe: str, *words: str) -> str:
    """What a recipe prints when it is called with these words."""
    file, said = str(RECIPES / f"{recipe}.py"), io.StringIO()
    with pytest.MonkeyPatch.context() as here, redirect_stdout(said):
        here.setattr(sys, "argv", [file, *words])
        here.syspath_prepend(str(RECIPES))
        runpy.run_path(file, run_name="__main__")
    return said.getvalue()
