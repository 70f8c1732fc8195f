"""Damaged pictures, tables, arrays and graphs: a sentence for each, and decoders do not crash."""

from __future__ import annotations

import io
import random
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
from PIL import Image

from benchmarks.faults.long_files import PHONE
from benchmarks.faults.outcome import Outcome
from benchmarks.faults.strangers import READ, read_apart
from samekind.errors import SamekindError
from samekind.sources import open_source

PER_FOLDER = 100
"""Damaged files in one folder, which is one round."""
MIN_DIFFERENCE = 16
"""Bytes at the beginning that are damaged most often: what decoders steer by stands there."""
ITEM_TYPE = (0xB0, b"\xffxif")
"""A place in `PHONE` and bytes there, at which pi-heif 1.4 dereferenced a null pointer."""
GOOD = "good.png"
Maker = Callable[[], bytes]


def pictures(rounds: int, seed: int) -> Outcome:
    """Folders of damaged pictures, opened and shown in a process of their own."""
    return _folders(rounds, seed, PICTURES, read_pictures)


def tables(rounds: int, seed: int) -> Outcome:
    """Damaged tables, arrays and graphs, opened one by one in a process of their own."""
    return _folders(rounds, seed, TABLES, read_tables)


def _folders(
    rounds: int, seed: int, formats: Mapping[str, Maker], opener: Callable[[Path], str]
) -> Outcome:
    outcome, tally = Outcome(), Counter[str]()
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory() as name:
        for k in range(rounds):
            suffix = list(formats)[k % len(formats)]
            folder = Path(name) / str(k)
            folder.mkdir()
            whole = formats[suffix]()
            for number in range(PER_FOLDER):
                (folder / f"{number}.{suffix}").write_bytes(spoiled(whole, rng))
            if suffix == "heic":
                place, junk = ITEM_TYPE
                bad = whole[:place] + junk + whole[place + len(junk) :]
                (folder / "0.heic").write_bytes(bad)
            found = read_apart(opener, folder)
            good, _, words = found.end.partition(": ")
            outcome.note(good == READ, f"{suffix}, round {k}: {found.end} {found.words}".strip())
            for pair in words.split(", ") if good == READ else ():
                count, _, what = pair.partition(" ")
                tally[what] += int(count)
    outcome.figures = {"files": rounds * PER_FOLDER, **dict(sorted(tally.items()))}
    return outcome


def read_pictures(folder: Path) -> str:
    """Open a folder and show its pictures; says how many were left out and how many shown."""
    Image.new("RGB", (32, 24)).save(folder / GOOD)
    tally = Counter[str]()
    pile = open_source(folder)
    tally["left out"] = len(pile.skipped)
    for item in pile:
        if item.id == GOOD:
            continue
        try:
            item.preview()
            item.facts()
            tally["shown"] += 1
        except SamekindError:
            tally["refused when shown"] += 1
    return _told(tally)


def read_tables(folder: Path) -> str:
    """Open every file of a folder and show its first items; says how many were refused."""
    tally = Counter[str]()
    for path in sorted(folder.iterdir()):
        try:
            pile = open_source(path)
            for place in range(min(len(pile), 3)):
                pile[place].preview()
            tally["shown"] += 1
        except SamekindError as sentence:
            tally["refused"] += 1
            if path.name not in str(sentence) or len(str(sentence)) > 700:
                raise AssertionError(f"no sentence for a person: {sentence}") from sentence
    return _told(tally)


def _told(tally: Counter[str]) -> str:
    return f"{READ}: " + ", ".join(f"{count} {what}" for what, count in sorted(tally.items()))


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


def encoded(format: str) -> bytes:
    """A picture of noise in one of Pillow's formats."""
    noise = np.random.default_rng(0).integers(0, 255, (24, 32, 3), dtype=np.uint8)
    out = io.BytesIO()
    Image.fromarray(noise).save(out, format)
    return out.getvalue()


def array(*, packed: bool) -> bytes:
    """Vectors as NumPy saves them."""
    out, X = io.BytesIO(), np.random.default_rng(0).normal(size=(12, 4))
    if packed:
        np.savez_compressed(out, X=X, label=np.arange(12))
    else:
        np.save(out, X)
    return out.getvalue()


def parquet() -> bytes:
    """A table with numbers, texts and lists; empty where pyarrow is not installed."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as writer
    except ImportError:
        return bytes(MIN_DIFFERENCE)
    names = [f"row {k}" for k in range(12)]
    columns = {"id": names, "x": np.arange(12.0), "words": names, "lists": [[1.0, 2.0]] * 12}
    out = io.BytesIO()
    writer.write_table(pa.table(columns), out, compression="none")
    return out.getvalue()


def graph(suffix: str) -> bytes:
    """A small graph as networkx writes it."""
    import networkx as nx  # type: ignore[import-untyped]

    out = io.BytesIO()
    write = {"gml": nx.write_gml, "graphml": nx.write_graphml}[suffix]
    write(nx.karate_club_graph(), out)
    return out.getvalue()


PICTURES: dict[str, Maker] = {
    "heic": PHONE.read_bytes,
    "avif": lambda: encoded("AVIF"),
    "webp": lambda: encoded("WEBP"),
    "tif": lambda: encoded("TIFF"),
    "gif": lambda: encoded("GIF"),
    "png": lambda: encoded("PNG"),
    "jpg": lambda: encoded("JPEG"),
}
"""By suffix: pictures that are whole."""
TABLES: dict[str, Maker] = {
    "csv": lambda: b"id,a,b\n" + b"".join(b"%d,%d.5,'n %d'\n" % (k, k, k) for k in range(20)),
    "tsv": lambda: b'a\tb\n1,5\t2\n3\t"x\ny"\n4\t\xc3\xa4\n',
    "txt": lambda: "eins\nzwei\n猫\n".encode(),
    "npy": lambda: array(packed=False),
    "npz": lambda: array(packed=True),
    "parquet": parquet,
    "edges": lambda: b"a b 1\nb c 2\n# no\nc d\na d 0.5\n",
    "gml": lambda: graph("gml"),
    "graphml": lambda: graph("graphml"),
}
"""By suffix: tables, texts, arrays and graphs that are whole."""
