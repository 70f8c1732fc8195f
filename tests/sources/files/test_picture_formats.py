"""Formats of phones and cameras: HEIC, AVIF, GIF, TIFF, the preview in a raw file, EXIF data."""

from __future__ import annotations

import io
import logging
import struct
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from samekind.items import Collection
from samekind.sources import item_of_bytes, open_source
from samekind.sources.files.capture import Capture, read_capture
from samekind.sources.files.images import ImageItem, fault_of_bytes
from samekind.sources.files.picture_formats import embedded_jpegs, open_picture

PHONE = Path(__file__).parent / "pictures" / "phone.heic"
"""96 x 64, turned by its EXIF data: red in the corner that is at the top right when upright."""


def corner_picture(size: tuple[int, int] = (240, 160)) -> Image.Image:
    """Blue, with red in the top left quarter."""
    image = Image.new("RGB", size, "#2060c0")
    image.paste("#e02020", (0, 0, size[0] // 2, size[1] // 2))
    return image


def is_red(image: Image.Image, x: float, y: float) -> bool:
    red, _, blue = image.getpixel((int(x * image.width), int(y * image.height)))  # type: ignore[misc]
    return bool(red > 150 > blue)


def encoded(image: Image.Image, format: str, **options: Any) -> bytes:
    out = io.BytesIO()
    image.save(out, format, **options)
    return out.getvalue()


def raw_file(jpegs: list[bytes], orientation: int = 1) -> bytes:
    """A TIFF header as cameras write it, then previews among the data of the sensor."""
    entry = struct.pack("<HHII", 0x0112, 3, 1, orientation)
    header = b"II*\0" + struct.pack("<IH", 8, 1) + entry + b"\0\0\0\0"
    noise = np.random.default_rng(0).integers(0, 255, 4000, dtype=np.uint8).tobytes()
    return header + b"".join(noise + jpeg for jpeg in jpegs) + noise.replace(b"\xff\xd9", b"  ")


def reasons(collection: Collection) -> dict[str, str]:
    return {skipped.id: skipped.reason for skipped in collection.skipped}


def test_pictures_of_phones_and_cameras_are_opened_beside_each_other(tmp_path: Path) -> None:
    picture = corner_picture()
    (tmp_path / "IMG_1.HEIC").write_bytes(PHONE.read_bytes())
    for name, format in (
        ("2.avif", "AVIF"),
        ("3.gif", "GIF"),
        ("4.tiff", "TIFF"),
        ("5.tif", "TIFF"),
    ):
        (tmp_path / name).write_bytes(encoded(picture, format))
    (tmp_path / "6.NEF").write_bytes(raw_file([encoded(picture, "JPEG")]))
    pile = open_source(tmp_path)
    assert not pile.skipped
    assert list(pile.ids()) == ["2.avif", "3.gif", "4.tiff", "5.tif", "6.NEF", "IMG_1.HEIC"]
    for item in pile:
        image = item.load()
        assert image.mode == "RGB" and is_red(image, 0.25, 0.25) == (item.id != "IMG_1.HEIC")
        assert item.preview().mime in ("image/jpeg", "image/png")


def test_a_photo_of_a_phone_is_upright_and_says_when_and_where_it_was_taken() -> None:
    item = ImageItem("phone.heic", str(PHONE), "1")
    image = item.load()
    assert image.size == (64, 96)
    assert is_red(image, 0.75, 0.25) and not is_red(image, 0.25, 0.25)
    assert item.facts() == {
        "Taken": "2024-05-01 12:30",
        "Place": "48.20819° N, 16.37381° E",
        "Camera": "Maker Phone 1",
    }


def test_of_an_animation_the_first_frame_counts(tmp_path: Path) -> None:
    frames = [Image.new("RGB", (40, 30), colour) for colour in ("red", "blue", "green")]
    path = tmp_path / "moving.gif"
    frames[0].save(path, save_all=True, append_images=frames[1:])
    assert is_red(ImageItem("moving.gif", str(path), "1").load(), 0.5, 0.5)


def test_the_largest_preview_of_a_raw_file_is_shown_as_the_camera_was_held() -> None:
    small, large = (encoded(corner_picture(size), "JPEG") for size in ((160, 120), (480, 320)))
    lossless = large.replace(b"\xff\xc0", b"\xff\xc3", 1)  # how sensor data is marked
    data = raw_file([small, lossless, large, small], orientation=6)
    assert sorted(size for _, *size in embedded_jpegs(data)) == [[160, 120], [160, 120], [480, 320]]
    item = item_of_bytes("image", "photo.dng", data, "1")
    image = item.load()  # type: ignore[union-attr]
    assert image.size == (320, 480) and is_red(image, 0.75, 0.25)


@pytest.mark.parametrize("name", ["a.heic", "a.avif", "a.gif", "a.tiff", "a.dng"])
def test_a_file_that_is_cut_off_is_left_out_with_the_reason(tmp_path: Path, name: str) -> None:
    noise = np.random.default_rng(0).integers(0, 255, (160, 240, 3), dtype=np.uint8)
    picture = Image.fromarray(noise)
    formats = {"a.avif": "AVIF", "a.gif": "GIF", "a.tiff": "TIFF"}
    if name == "a.heic":
        data = PHONE.read_bytes()
    elif name == "a.dng":
        data = raw_file([encoded(picture, "JPEG")])[:-5000]
    else:
        data = encoded(picture, formats[name])
    (tmp_path / name).write_bytes(data[: len(data) * 2 // 3])
    (tmp_path / "good.png").write_bytes(encoded(picture, "PNG"))
    pile = open_source(tmp_path)
    assert list(pile.ids()) == ["good.png"]
    assert "cut off" in reasons(pile)[name]


def test_a_raw_file_without_a_preview_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "bare.arw").write_bytes(raw_file([]))
    (tmp_path / "good.png").write_bytes(encoded(corner_picture(), "PNG"))
    assert "no preview" in reasons(open_source(tmp_path))["bare.arw"]


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_damaged_files_never_raise_anything_but_a_reason(data: st.DataObject) -> None:
    good = data.draw(st.sampled_from([PHONE.read_bytes(), RAW, TIFF, GIF]))
    place = data.draw(st.integers(0, len(good) - 1))
    junk = data.draw(st.binary(min_size=1, max_size=40))
    assert isinstance(
        fault_of_bytes(good[:place] + junk + good[place + len(junk) :], raw=good is RAW), str
    )


def test_words_of_pillow_about_damage_are_not_printed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(logging.getLogger(), "handlers", [])
    logging.getLogger("another library").error("heard")
    logging.getLogger("PIL.TiffImagePlugin").error("More samples than can be decoded")
    assert capsys.readouterr().err == "heard\n"


RAW = raw_file([encoded(corner_picture((160, 120)), "JPEG")])
TIFF = encoded(corner_picture((32, 24)), "TIFF")
GIF = encoded(corner_picture((32, 24)), "GIF")


def with_exif(**tags: Any) -> Image.Image:
    exif = Image.Exif()
    exif.get_ifd(0x8769).update(tags.get("details", {}))
    exif.get_ifd(0x8825).update(tags.get("gps", {}))
    return open_picture(io.BytesIO(encoded(corner_picture((32, 24)), "JPEG", exif=exif)))


def test_photos_of_a_burst_differ_by_fractions_of_a_second() -> None:
    image = with_exif(details={0x9003: "2024:05:01 12:30:45", 0x9291: "25"})
    assert read_capture(image).taken == datetime(2024, 5, 1, 12, 30, 45, 250_000)


@pytest.mark.parametrize(
    ("details", "gps"),
    [
        ({0x9003: "0000:00:00 00:00:00"}, {}),
        ({0x9003: "yesterday"}, {1: "N", 2: (0.0, 0.0, 0.0), 3: "E", 4: (0.0, 0.0, 0.0)}),
        ({}, {1: "N", 2: (91.0, 0.0, 0.0), 3: "E", 4: (5.0, 0.0, 0.0)}),
        ({}, {1: "N", 2: (48.0, 12.0, 0.0)}),
    ],
)
def test_what_makes_no_sense_counts_as_unknown(details: Any, gps: Any) -> None:
    assert read_capture(with_exif(details=details, gps=gps)) == Capture()


def test_south_and_west_are_negative() -> None:
    gps = {1: "S", 2: (33.0, 30.0, 0.0), 3: "W", 4: (70.0, 0.0, 36.0)}
    found = read_capture(with_exif(gps=gps))
    assert found.place == pytest.approx((-33.5, -70.01))
    assert found.facts() == {"Place": "33.50000° S, 70.01000° W"}
