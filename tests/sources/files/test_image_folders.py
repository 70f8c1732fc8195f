"""A folder of pictures: what is taken, what is left out, and how it is decoded."""

from __future__ import annotations

import io
import os
import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from samekind.errors import SourceError
from samekind.items import Collection
from samekind.sources import open_source
from samekind.sources.files.images import MAX_PIXELS, ImageItem, open_images


def save(path: Path, size: tuple[int, int] = (20, 12), colour: str = "red", **options: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", size, colour).save(path, **options)
    return path


def noisy_jpeg(path: Path, size: tuple[int, int] = (200, 200)) -> bytes:
    noise = np.random.default_rng(0).integers(0, 255, (*size, 3), dtype=np.uint8)
    Image.fromarray(noise).save(path)
    return path.read_bytes()


def reasons(collection: Collection) -> dict[str, str]:
    return {skipped.id: skipped.reason for skipped in collection.skipped}


def ids(collection: Collection) -> list[str]:
    return list(collection.ids())


def chunk(name: bytes, data: bytes) -> bytes:
    body = name + data
    return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))


def png_with_header(width: int, height: int) -> bytes:
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    data = zlib.compress(b"\0" * 100)
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", data) + chunk(b"IEND", b"")
    )


def test_jpeg_png_and_webp_are_found_at_any_depth_in_natural_order(tmp_path: Path) -> None:
    for name in ("b/10.png", "b/9.JPG", "a.webp", "b/c/1.jpeg", "B2.Png"):
        save(tmp_path / name)
    (tmp_path / "a.webp.xmp").write_text("<tags/>")  # a sidecar belongs to its picture
    pile = open_source(tmp_path)
    assert ids(pile) == ["a.webp", "b/9.JPG", "b/10.png", "b/c/1.jpeg", "B2.Png"]
    assert pile.kind == "image"
    assert pile.skipped == ()
    assert all(item.load().mode == "RGB" for item in pile)


def test_the_order_does_not_depend_on_the_order_of_writing(tmp_path: Path) -> None:
    names = ["z.png", "a 2.png", "a 10.png", "a 1.png", "k/x.png"]
    for name in names:
        save(tmp_path / "one" / name)
    for name in reversed(names):
        save(tmp_path / "two" / name)
    assert ids(open_images(tmp_path / "one")) == ids(open_images(tmp_path / "two"))


def test_a_zero_byte_file_is_reported_and_skipped(tmp_path: Path) -> None:
    save(tmp_path / "good.png")
    (tmp_path / "empty.jpg").touch()
    pile = open_source(tmp_path)
    assert ids(pile) == ["good.png"]
    assert "zero bytes" in reasons(pile)["empty.jpg"]


def test_a_text_behind_an_image_suffix_is_reported_and_skipped(tmp_path: Path) -> None:
    save(tmp_path / "good.png")
    (tmp_path / "text.png").write_text("I am not a picture, whatever my name says.")
    Image.new("RGB", (4, 4)).save(tmp_path / "other.bmp")
    (tmp_path / "other.bmp").rename(tmp_path / "bitmap.jpg")
    pile = open_source(tmp_path)
    assert ids(pile) == ["good.png"]
    assert "is not a picture that samekind can read" in reasons(pile)["text.png"]
    assert "is not a picture that samekind can read" in reasons(pile)["bitmap.jpg"]


@pytest.mark.parametrize("suffix", ["jpg", "png", "webp"])
@pytest.mark.parametrize("kept", [0.1, 0.6, 0.97])
def test_a_truncated_file_is_reported_and_skipped(tmp_path: Path, suffix: str, kept: float) -> None:
    save(tmp_path / "good.png")
    whole = noisy_jpeg(tmp_path / f"cut.{suffix}")
    (tmp_path / f"cut.{suffix}").write_bytes(whole[: int(len(whole) * kept)])
    pile = open_source(tmp_path)
    assert ids(pile) == ["good.png"]
    assert "cut off" in reasons(pile)[f"cut.{suffix}"]


def test_a_jpeg_with_data_after_its_end_is_kept(tmp_path: Path) -> None:
    whole = noisy_jpeg(tmp_path / "phone.jpg")
    (tmp_path / "phone.jpg").write_bytes(whole + b"maker notes" * 50)
    assert ids(open_source(tmp_path)) == ["phone.jpg"]


def test_a_png_with_a_damaged_middle_is_reported_and_skipped(tmp_path: Path) -> None:
    save(tmp_path / "good.png")
    data = bytearray(noisy_jpeg(tmp_path / "hurt.png"))
    data[len(data) // 2] ^= 0xFF
    (tmp_path / "hurt.png").write_bytes(data)
    assert "hurt.png" in reasons(open_source(tmp_path))


@pytest.mark.parametrize("side", [9_500, 60_000])
def test_a_bomb_is_refused_before_it_is_decoded(tmp_path: Path, side: int) -> None:
    assert side**2 > MAX_PIXELS
    save(tmp_path / "good.png")
    (tmp_path / "bomb.png").write_bytes(png_with_header(side, side))
    pile = open_source(tmp_path)
    assert ids(pile) == ["good.png"]
    assert "80 million" in reasons(pile)["bomb.png"]


def test_a_file_that_grew_into_a_bomb_is_refused_when_it_is_loaded(tmp_path: Path) -> None:
    path = tmp_path / "later.png"
    path.write_bytes(png_with_header(9_300, 9_300))
    with pytest.raises(SourceError, match="80 million"):
        ImageItem("later.png", str(path), "").load()


def test_damage_that_only_decoding_finds_raises_an_error_that_names_the_file(
    tmp_path: Path,
) -> None:
    save(tmp_path / "a" / "gone.png")
    item = open_source(tmp_path)[0]
    (tmp_path / "a" / "gone.png").write_bytes(b"\x89PNG\r\n\x1a\nnothing")
    with pytest.raises(SourceError, match=r"a/gone\.png"):
        item.load()
    (tmp_path / "a" / "gone.png").unlink()
    with pytest.raises(SourceError, match=r"a/gone\.png"):
        item.preview()


def test_other_files_are_reported_one_line_each_and_hidden_ones_are_not(tmp_path: Path) -> None:
    save(tmp_path / "good.png")
    (tmp_path / "notes.pdf").write_bytes(b"%PDF")
    (tmp_path / "README").write_text("x")
    (tmp_path / ".hidden.jpg").write_text("x")
    save(tmp_path / ".thumbnails" / "small.png")
    pile = open_source(tmp_path)
    assert set(reasons(pile)) == {"notes.pdf", "README"}
    assert ".pdf" in reasons(pile)["notes.pdf"]


def test_links_that_lead_out_of_the_folder_are_not_followed(tmp_path: Path) -> None:
    outside = save(tmp_path / "outside" / "secret.png")
    inside = tmp_path / "inside"
    save(inside / "good.png")
    (inside / "way out.png").symlink_to(outside)
    (inside / "folder out").symlink_to(outside.parent)
    (inside / "nowhere.png").symlink_to(tmp_path / "nothing.png")
    (inside / "again.png").symlink_to(inside / "good.png")
    (inside / "circle").symlink_to(inside)
    pile = open_source(inside)
    assert ids(pile) == ["again.png", "good.png"]
    told = reasons(pile)
    assert "leads out" in told["way out.png"]
    assert "leads out" in told["folder out"]
    assert "is a broken link" in told["nowhere.png"]
    assert "link to a folder" in told["circle"]


def test_a_folder_reached_through_a_link_works(tmp_path: Path) -> None:
    save(tmp_path / "real" / "good.png")
    (tmp_path / "alias").symlink_to(tmp_path / "real")
    assert ids(open_source(tmp_path / "alias")) == ["good.png"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_named_like_a_picture_is_reported_instead_of_waited_for(tmp_path: Path) -> None:
    save(tmp_path / "good.png")
    os.mkfifo(tmp_path / "pipe.jpg")
    assert "not a regular file" in reasons(open_source(tmp_path))["pipe.jpg"]


def test_odd_names_work(tmp_path: Path) -> None:
    names = ["naïve café.png", "日本 2.png", "a\nb.png", "quote'\".png", "%20.png", "²3.png"]
    for name in names:
        save(tmp_path / name)
    with open(os.fsencode(tmp_path) + b"/\xff.png", "wb") as stream:
        Image.new("RGB", (3, 3)).save(stream, "PNG")
    pile = open_source(tmp_path)
    assert set(ids(pile)) == {*names, "\\xff.png"}
    assert all(pile.position(id) == i for i, id in enumerate(pile.ids()))
    assert len(pile.fingerprint) == 16
    assert all(item.load().mode == "RGB" for item in pile)


@pytest.mark.parametrize("orientation", range(1, 9))
def test_exif_orientation_is_honoured(tmp_path: Path, orientation: int) -> None:
    """A picture with a red left half on its side must come out with red where the camera saw it."""
    upright = np.zeros((16, 32, 3), dtype=np.uint8)
    upright[:, :16, 0] = 255
    turns = {
        1: lambda a: a,
        2: np.fliplr,
        3: lambda a: np.rot90(a, 2),
        4: np.flipud,
        5: lambda a: a.transpose(1, 0, 2),
        6: lambda a: np.rot90(a, 1),
        7: lambda a: np.rot90(a.transpose(1, 0, 2), 2),
        8: lambda a: np.rot90(a, -1),
    }
    stored = Image.fromarray(np.ascontiguousarray(turns[orientation](upright)))
    exif = Image.Exif()
    exif[0x0112] = orientation
    stored.save(tmp_path / "photo.jpg", exif=exif, quality=95)
    item = open_source(tmp_path)[0]
    for image in (item.load(), Image.open(io.BytesIO(item.preview().data))):
        assert image.size == (32, 16)
        left, right = np.asarray(image)[:, :12, 0].mean(), np.asarray(image)[:, 20:, 0].mean()
        assert left > 220 and right < 35


def test_transparency_is_laid_on_white(tmp_path: Path) -> None:
    Image.new("RGBA", (8, 8), (255, 0, 0, 0)).save(tmp_path / "a-clear.png")
    Image.new("LA", (8, 8), (0, 0)).save(tmp_path / "b-grey.png")
    palette = Image.new("P", (8, 8), 0)
    palette.putpalette([10, 20, 30] * 256)
    palette.save(tmp_path / "c-palette.png", transparency=0)
    Image.new("RGBA", (8, 8), (0, 0, 0, 128)).save(tmp_path / "d-half.webp", lossless=True)
    pixels = [item.load().getpixel((4, 4)) for item in open_source(tmp_path)]
    assert pixels[:3] == [(255, 255, 255)] * 3
    assert all(abs(part - 127) <= 2 for part in pixels[3])


def test_sixteen_bits_palettes_greys_and_cmyk_come_out_as_rgb(tmp_path: Path) -> None:
    deep = np.linspace(0, 65535, 64, dtype=np.uint16).reshape(8, 8)
    Image.fromarray(deep).save(tmp_path / "a-deep.png")
    palette = Image.new("P", (8, 8), 1)
    palette.putpalette([0, 0, 0, 0, 200, 0] + [0] * 762)
    palette.save(tmp_path / "b-palette.png")
    Image.new("CMYK", (8, 8), (255, 0, 0, 0)).save(tmp_path / "c-print.jpg", quality=100)
    Image.new("L", (8, 8), 77).save(tmp_path / "d-grey.png")
    Image.new("1", (8, 8), 1).save(tmp_path / "e-bits.png")
    images = [item.load() for item in open_source(tmp_path)]
    assert all(image.mode == "RGB" for image in images)
    grey = np.asarray(images[0])[..., 0].ravel()
    assert grey[0] == 0 and grey[-1] == 255 and 120 < grey[31] < 135
    assert images[1].getpixel((0, 0)) == (0, 200, 0)
    red, green, blue = images[2].getpixel((4, 4))
    assert red < 30 and green > 150 and blue > 200
    assert images[3].getpixel((0, 0)) == (77, 77, 77)
    assert images[4].getpixel((0, 0)) == (255, 255, 255)


def test_a_preview_is_encoded_afresh_and_at_most_512_pixels(tmp_path: Path) -> None:
    exif = Image.Exif()
    exif[0x010E] = "secret place"
    save(tmp_path / "large.jpg", (3000, 1500), exif=exif)
    save(tmp_path / "small.png", (30, 20), pnginfo=None)
    large, small = (item.preview() for item in open_source(tmp_path))
    assert large.mime == "image/jpeg" and small.mime == "image/png"
    assert Image.open(io.BytesIO(large.data)).size == (512, 256)
    assert Image.open(io.BytesIO(small.data)).size == (30, 20)
    assert b"secret place" not in large.data


def test_a_large_jpeg_can_be_decoded_at_reduced_size(tmp_path: Path) -> None:
    save(tmp_path / "large.jpg", (4000, 2000))
    item = open_source(tmp_path)[0]
    assert item.load().size == (4000, 2000)
    reduced = item.load(250)  # type: ignore[call-arg]
    assert reduced.size == (500, 250)


def test_the_fingerprint_changes_when_a_file_changes(tmp_path: Path) -> None:
    save(tmp_path / "a.png")
    before = open_source(tmp_path).fingerprint
    assert open_source(tmp_path).fingerprint == before
    os.utime(tmp_path / "a.png", ns=(1, 1))
    assert open_source(tmp_path).fingerprint != before


def test_opening_a_folder_does_not_decode(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("a.jpg", "b.webp"):
        noisy_jpeg(tmp_path / name)

    def refuse(self: object) -> None:
        raise AssertionError("decoded while opening")

    monkeypatch.setattr("PIL.ImageFile.ImageFile.load", refuse)
    assert len(open_source(tmp_path)) == 2
