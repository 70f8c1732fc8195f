"""Damaged pictures of every format: decoders are native code, and a crash would end the program."""

from __future__ import annotations

import io
import random
import tempfile
from collections import Counter
from pathlib import Path

import numpy as np
from PIL import Image

from benchmarks.faults.long_files import PHONE
from benchmarks.faults.outcome import Outcome
from benchmarks.faults.strangers import READ, read_apart
from samekind.errors import SamekindError
from samekind.sources import open_source

PER_FOLDER = 100
"""Damaged pictures in one folder, which is one round."""
MIN_DIFFERENCE = 16
"""Bytes at the beginning that are damaged most often: what decoders steer by stands there."""
ITEM_TYPE = (0xB0, b"\xffxif")
"""A place in `PHONE` and bytes there, at which pi-heif 1.4 dereferenced a null pointer."""
NAMES = {
    "heic": "",
    "avif": "AVIF",
    "webp": "WEBP",
    "tif": "TIFF",
    "gif": "GIF",
    "png": "PNG",
    "jpg": "JPEG",
}
"""Suffixes, with Pillow's names of the formats that it writes."""


def damaged(rounds: int, seed: int) -> Outcome:
    """Folders of damaged pictures, opened and shown in a process of their own."""
    outcome, tally = Outcome(), Counter[str]()
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory() as name:
        for k in range(rounds):
            suffix = list(NAMES)[k % len(NAMES)]
            folder = Path(name) / str(k)
            folder.mkdir()
            _write(folder, suffix, rng)
            found = read_apart(read_folder, folder)
            good, _, words = found.end.partition(": ")
            outcome.note(good == READ, f"{suffix}, round {k}: {found.end} {found.words}".strip())
            for pair in words.split(", ") if good == READ else ():
                count, _, what = pair.partition(" ")
                tally[what] += int(count)
    outcome.figures = {"pictures": rounds * PER_FOLDER, **dict(sorted(tally.items()))}
    return outcome


def _write(folder: Path, suffix: str, rng: random.Random) -> None:
    whole = encoded(suffix)
    Image.new("RGB", (32, 24)).save(folder / "good.png")
    for k in range(PER_FOLDER):
        (folder / f"{k}.{suffix}").write_bytes(spoiled(whole, rng))
    if suffix == "heic":
        place, junk = ITEM_TYPE
        (folder / "0.heic").write_bytes(whole[:place] + junk + whole[place + len(junk) :])


def encoded(suffix: str) -> bytes:
    """A picture of noise in a format."""
    if not NAMES[suffix]:
        return PHONE.read_bytes()
    noise = np.random.default_rng(0).integers(0, 255, (24, 32, 3), dtype=np.uint8)
    out = io.BytesIO()
    Image.fromarray(noise).save(out, NAMES[suffix])
    return out.getvalue()


def spoiled(data: bytes, rng: random.Random) -> bytes:
    """Bytes changed, removed or repeated, more often near the beginning."""
    out = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 3))):
        place = rng.randrange(min(len(out), rng.choice((MIN_DIFFERENCE, 400, len(out)))))
        length = rng.randint(1, rng.choice((1, 4, 40)))
        act = rng.random()
        if act < 0.8:
            out[place : place + length] = bytes(rng.choices(range(256), k=length))
        elif act < 0.9:
            del out[place : place + length]
        else:
            out[place:place] = out[place : place + length]
        if len(out) < MIN_DIFFERENCE:
            break
    return bytes(out)


def read_folder(folder: Path) -> str:
    """Open a folder and show its pictures; says how many were left out and how many shown."""
    tally = Counter[str]()
    pile = open_source(folder)
    tally["left out"] = len(pile.skipped)
    for item in pile:
        if item.id == "good.png":
            continue
        try:
            item.preview()
            item.facts()
            tally["shown"] += 1
        except SamekindError:
            tally["refused when shown"] += 1
    return f"{READ}: " + ", ".join(f"{count} {what}" for what, count in sorted(tally.items()))
