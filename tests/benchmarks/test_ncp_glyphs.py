"""Glyphs of fonts as kinds: which characters, and how they are drawn."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from matplotlib import get_data_path

from benchmarks.ncp.glyphs import FILLED, SIDE, draw_glyphs, installed_fonts
from samekind.errors import InputError

FONTS = [Path(get_data_path()) / "fonts" / "ttf" / f"DejaVuS{name}.ttf" for name in ("ans", "erif")]


def drawn(text: str, **how: object) -> list[str]:
    """The characters of a text that are kinds."""
    found = draw_glyphs(FONTS, characters=map(ord, text), **how)  # type: ignore[arg-type]
    return sorted({chr(code) for code in found.codes})


def test_each_character_is_drawn_once_by_each_font_in_the_middle() -> None:
    images, codes = draw_glyphs(FONTS, characters=map(ord, "KM"))
    assert images.shape == (4, SIDE, SIDE)
    assert images.dtype == np.uint8
    assert sorted(codes.tolist()) == [ord("K")] * 2 + [ord("M")] * 2
    for image in images:
        rows, columns = (np.flatnonzero(image.any(axis)) for axis in (1, 0))
        sides = np.array([np.ptp(rows) + 1, np.ptp(columns) + 1])
        assert abs(sides.max() - FILLED) <= 1
        assert abs(rows.mean() - (SIDE - 1) / 2) <= 1
        assert abs(columns.mean() - (SIDE - 1) / 2) <= 1


def test_digits_and_what_looks_like_them_are_no_kinds() -> None:
    ze = "\u0417"  # a Cyrillic letter that looks like a 3
    assert drawn(f"03{ze}6KM") == ["K", "M"]
    assert drawn(f"{ze}KM", leave_out="") == ["K", "M", ze]


def test_the_same_shape_of_another_alphabet_is_no_kind_of_its_own() -> None:
    assert drawn("K\u039a\u041aM") == ["K", "M"]


def test_accents_and_what_no_font_has_are_left_out() -> None:
    codes = draw_glyphs(FONTS[:1]).codes
    assert ord("\u00c4") not in codes
    assert ord("5") not in codes
    assert len(np.unique(codes)) > 500
    with pytest.raises(InputError, match="at least 3 fonts have, found none in 2 fonts"):
        drawn("KM", least_fonts=3)


def test_fonts_of_pieces_and_of_other_signs_are_not_used() -> None:
    names = [path.name for path in installed_fonts()]
    assert "DejaVuSans.ttf" in names
    assert not [name for name in names if name.startswith(("cm", "STIXSiz", "LastResort"))]
