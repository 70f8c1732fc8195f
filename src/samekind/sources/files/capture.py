"""When, where and with what a photo was taken, by its EXIF data."""

from __future__ import annotations

import math
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from PIL.Image import Image

_EXIF, _GPS = 0x8769, 0x8825
_TAKEN, _DIGITISED, _CHANGED, _SUBSECONDS = 0x9003, 0x9004, 0x0132, 0x9291
_MAKE, _MODEL = 0x010F, 0x0110
MAX_WORDS = 80
"""Characters of the name of a camera: the tag may hold anything."""


@dataclass(frozen=True)
class Capture:
    """What a camera noted; None and empty where it noted nothing that makes sense.

    Parameters
    ----------
    taken : local time of the camera.
    place : latitude and longitude in degrees, north and east positive.
    """

    taken: datetime | None = None
    place: tuple[float, float] | None = None
    camera: str = ""

    def facts(self) -> dict[str, str]:
        """What is known, in words for a person.

        >>> Capture(datetime(2024, 5, 1, 9, 30), (48.2082, -16.3738), "Pixel 8").facts()
        {'Taken': '2024-05-01 09:30', 'Place': '48.20820° N, 16.37380° W', 'Camera': 'Pixel 8'}
        """
        found = {}
        if self.taken is not None:
            found["Taken"] = f"{self.taken:%Y-%m-%d %H:%M}"
        if self.place is not None:
            latitude, longitude = self.place
            north, east = "SN"[latitude >= 0], "WE"[longitude >= 0]
            found["Place"] = f"{abs(latitude):.5f}° {north}, {abs(longitude):.5f}° {east}"
        if self.camera:
            found["Camera"] = self.camera
        return found


def read_capture(image: Image) -> Capture:
    """Read what the camera noted in a picture; damaged data counts as none."""
    exif: Any = {}
    with suppress(Exception):  # Pillow raises many types on damaged data
        exif = image.getexif()
    return Capture(_taken(exif), _place(exif), _camera(exif))


def _directory(exif: Any, number: int) -> Mapping[int, Any]:
    with suppress(Exception):
        found: Mapping[int, Any] = exif.get_ifd(number)
        return found
    return {}


def _taken(exif: Any) -> datetime | None:
    details = _directory(exif, _EXIF)
    for text in (details.get(_TAKEN), details.get(_DIGITISED), exif.get(_CHANGED)):
        with suppress(ValueError, TypeError):
            taken = datetime.strptime(str(text).strip("\0 ")[:19], "%Y:%m:%d %H:%M:%S")
            return taken.replace(microsecond=_microseconds(details.get(_SUBSECONDS)))
    return None


def _microseconds(text: Any) -> int:
    """The fraction of a second that a camera wrote as digits: photos of a burst differ by it."""
    digits = "".join(c for c in str(text or "") if c in "0123456789")[:6]
    return int(digits.ljust(6, "0")) if digits else 0


def _place(exif: Any) -> tuple[float, float] | None:
    tags = _directory(exif, _GPS)
    latitude = _degrees(tags.get(2), str(tags.get(1)).strip("\0 ").upper() == "S")
    longitude = _degrees(tags.get(4), str(tags.get(3)).strip("\0 ").upper() == "W")
    if latitude is None or longitude is None or (latitude, longitude) == (0.0, 0.0):
        return None
    return (latitude, longitude) if abs(latitude) <= 90 and abs(longitude) <= 180 else None


def _degrees(parts: Any, negative: bool) -> float | None:
    """Degrees from degrees, minutes and seconds."""
    with suppress(TypeError, ValueError, ZeroDivisionError):
        degrees, minutes, seconds = (float(part) for part in parts)
        found = degrees + minutes / 60 + seconds / 3600
        if math.isfinite(found):
            return -found if negative else found
    return None


def _camera(exif: Any) -> str:
    words = []
    for tag in (_MAKE, _MODEL):
        text = exif.get(tag, "") if hasattr(exif, "get") else ""
        if isinstance(text, str):
            words.append("".join(c for c in text if c.isprintable()).strip()[:MAX_WORDS])
    make, model = words if len(words) == 2 else ("", "")
    return model if model.lower().startswith(make.lower()) else f"{make} {model}".strip()
