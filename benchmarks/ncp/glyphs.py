"""Glyphs of fonts as images: thousands of kinds, each drawn by several fonts.

A kind is a character. Its members are the same character in different fonts, so that what they
have in common is its shape. Digits are left out, and so is whatever looks like one: the kinds that
a network is tested on must be new to it.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from samekind.errors import InputError

SIDE = 28
"""Pixels per side."""
FILLED = 20
"""Pixels that the longer side of a glyph fills, as in the common sets of written digits."""
DRAWN = 40
"""Size of the font in which a glyph is drawn before it is scaled."""
ALIKE = 0.9
"""Cosine from which two characters count as the same shape."""
LIKE_BANNED = 0.85
"""Cosine from which a character is too like one that is left out, turned or mirrored or not."""
DIGITS = "0123456789"
OTHER_SIGNS = ("LastResort", "cm", "STIXSiz", "STIXNonUni", "DejaVuSansDisplay", "DejaVuMath")
"""Fonts that draw other signs in place of letters, or only pieces of signs."""


class Glyphs(NamedTuple):
    """Images (M, SIDE, SIDE), white on black, and the character (its code) of each."""

    images: NDArray[np.uint8]
    codes: NDArray[np.int32]


def installed_fonts() -> list[Path]:
    """The font files of matplotlib and of the usual folders of Linux, in order of their names."""
    from matplotlib import get_data_path

    folders = [Path(get_data_path()) / "fonts" / "ttf", Path("/usr/share/fonts/truetype")]
    found = {path.name: path for folder in folders for path in sorted(folder.rglob("*.ttf"))}
    return [found[name] for name in sorted(found) if not name.startswith(OTHER_SIGNS)]


def draw_glyphs(
    fonts: Iterable[str | Path],
    *,
    least_fonts: int = 1,
    leave_out: str = DIGITS,
    characters: Iterable[int] | None = None,
) -> Glyphs:
    """Draw the characters of some fonts.

    Parameters
    ----------
    least_fonts : a character that fewer of the fonts have is left out.
    leave_out : characters that are left out, with all that look like them.
    characters : codes of those to draw; None: all that are letters or symbols.
    """
    pages = [_characters(Path(font)) for font in fonts]
    if not pages:
        raise InputError("Expected at least one font to draw glyphs of, got none.")
    wanted = set.union(*(set(page.codes) for page in pages))
    wanted &= set(characters) if characters is not None else {c for c in wanted if _is_kind(c)}
    drawn: dict[int, list[NDArray[np.uint8]]] = {}
    for page in pages:
        for code in sorted(wanted & page.codes):
            image = _glyph(page.font, code)
            if image is not None:
                drawn.setdefault(code, []).append(image)
    missing = _missing(pages)
    drawn = {code: _different(images, missing) for code, images in sorted(drawn.items())}
    kept = {code: images for code, images in drawn.items() if len(images) >= least_fonts}
    banned = [_glyph(page.font, ord(one)) for page in pages for one in leave_out]
    names = _distinct(kept, [one for one in banned if one is not None])
    if not names:
        raise InputError(
            f"Expected characters that at least {least_fonts} fonts have, found none in "
            f"{len(pages)} fonts. Give more fonts, or a smaller least_fonts."
        )
    images = [image for code in names for image in kept[code]]
    codes = [code for code in names for _ in kept[code]]
    return Glyphs(np.stack(images), np.array(codes, dtype=np.int32))


class _Page(NamedTuple):
    font: Any
    codes: set[int]


def _characters(path: Path) -> _Page:
    from fontTools.ttLib import TTFont
    from PIL import ImageFont

    with TTFont(str(path), lazy=True) as tables:
        codes = set(tables.getBestCmap() or ())
    return _Page(ImageFont.truetype(str(path), DRAWN), codes)


def _is_kind(code: int) -> bool:
    """Whether a character is a letter or a symbol of its own: no digit, space, mark or control."""
    category = unicodedata.category(chr(code))
    if category[0] not in "LSP":
        return False
    # An accent or a circle makes the same shape with an addition; a digit may be inside.
    return not unicodedata.decomposition(chr(code))


def _glyph(font: Any, code: int) -> NDArray[np.uint8] | None:
    """(SIDE, SIDE) a character, its longer side FILLED pixels, in the middle; None if empty."""
    from PIL import Image, ImageDraw

    box = font.getbbox(chr(code))
    width, height = box[2] - box[0], box[3] - box[1]
    if min(width, height) < 1 or max(width, height) > 6 * DRAWN:
        return None
    canvas = Image.new("L", (width, height))
    ImageDraw.Draw(canvas).text((-box[0], -box[1]), chr(code), fill=255, font=font)
    tight = canvas.getbbox()
    if tight is None:
        return None
    canvas = canvas.crop(tight)
    scale = FILLED / max(canvas.size)
    width, height = (max(1, round(side * scale)) for side in canvas.size)
    small = canvas.resize((width, height), Image.Resampling.LANCZOS)
    page = Image.new("L", (SIDE, SIDE))
    page.paste(small, ((SIDE - width) // 2, (SIDE - height) // 2))
    return np.asarray(page)


def _missing(pages: Sequence[_Page]) -> list[NDArray[np.uint8]]:
    """What fonts draw in place of a character that they do not have."""
    return [one for page in pages if (one := _glyph(page.font, 0x10FFFD)) is not None]


def _different(
    images: list[NDArray[np.uint8]], missing: list[NDArray[np.uint8]]
) -> list[NDArray[np.uint8]]:
    """Without repeats, and without the box that stands for a missing character."""
    seen = {one.tobytes() for one in missing}
    found = []
    for image in images:
        if image.tobytes() not in seen:
            seen.add(image.tobytes())
            found.append(image)
    return found


def _distinct(
    kept: dict[int, list[NDArray[np.uint8]]], banned: list[NDArray[np.uint8]]
) -> list[int]:
    """Characters whose usual look is not that of an earlier one, nor of a banned one."""
    if not kept:
        return []
    usual = _directions([np.mean(images, axis=0) for images in kept.values()])
    turned = [np.rot90(one, k) for image in banned for one in (image, image.T) for k in range(4)]
    like_banned = (usual @ _directions(turned).T).max(1, initial=-1.0) > LIKE_BANNED
    alike = usual @ usual.T > ALIKE
    taken = np.zeros(len(usual), dtype=bool)
    for k in range(len(usual)):
        taken[k] = not like_banned[k] and not (alike[k] & taken).any()
    return [code for code, mine in zip(kept, taken, strict=True) if mine]


def _directions(images: Sequence[NDArray[Any]]) -> NDArray[np.float32]:
    """(n, pixels) blurred images as unit vectors."""
    from scipy.ndimage import gaussian_filter

    if not images:
        return np.zeros((0, SIDE * SIDE), dtype=np.float32)
    soft = np.stack([gaussian_filter(image.astype(np.float32), 1.0).ravel() for image in images])
    soft -= soft.mean(1, keepdims=True)
    return np.asarray(soft / np.linalg.norm(soft, axis=1, keepdims=True).clip(1e-6), np.float32)
