"""Opening piles on the page: time to the first question, and the error of the time estimates.

``python -m benchmarks.page.opening first`` opens a folder of 500 drawn photos of 6 megapixels.
``python -m benchmarks.page.opening estimates`` compares the time that is announced before a pile is
opened, and what is left by the progress bar at a tenth, a quarter, half and three quarters, with
the truth. ``--data FOLDER`` does so for 300 real pictures instead (``fruits.parquet``).
Each pile has a server and a home of its own, so that no vector is in the cache. The wall time
depends on what else the machine does; the CPU time hardly does.
"""

from __future__ import annotations

import io
import os
import re
import tempfile
import time
from argparse import ArgumentParser
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pyarrow.parquet as pq
from PIL import Image

from benchmarks.page.stage import FIGURES, Server, keep

UNITS = {"s": 1.0, "min": 60.0, "h": 3600.0}
PARTS = (0.1, 0.25, 0.5, 0.75)
POLL_SECONDS = 0.1


def draw_photos(folder: Path, n: int, size: tuple[int, int], seed: int) -> Path:
    """JPEG files with smooth colours and fine noise, which compress about as photos do."""
    rng = np.random.default_rng(seed)
    folder.mkdir()
    noise = rng.integers(-8, 9, (size[1], size[0], 1)).astype(np.int16)
    for k in range(n):
        coarse = rng.integers(0, 256, (6, 9, 3)).astype(np.uint8)
        smooth = np.asarray(Image.fromarray(coarse).resize(size, Image.Resampling.BICUBIC))
        fine = np.roll(noise, int(rng.integers(size[0])), axis=1)
        pixels = np.clip(smooth + fine, 0, 255).astype(np.uint8)
        Image.fromarray(pixels).save(folder / f"IMG_{k:04}.jpg", quality=88)
    return folder


def write_texts(folder: Path, n: int, seed: int) -> Path:
    """A file with a sentence per line."""
    rng = np.random.default_rng(seed)
    words = ["ship", "cat", "bank", "river", "tall", "blue", "quickly", "market", "sings", "old"]
    file = folder.with_suffix(".txt")
    lines = (" ".join(rng.choice(words, int(rng.integers(5, 30)))) for _ in range(n))
    file.write_text("\n".join(f"{k}: {line}" for k, line in enumerate(lines)), encoding="utf-8")
    return file


def extract_photos(folder: Path, table: Path, n: int, seed: int) -> Path:
    """Some pictures of a table as files."""
    stored = pq.read_table(table, columns=["image"])["image"]
    folder.mkdir()
    for k, row in enumerate(np.random.default_rng(seed).permutation(len(stored))[:n]):
        data = stored[int(row)].as_py()
        suffix = str(Image.open(io.BytesIO(data)).format).lower()
        (folder / f"IMG_{k:04}.{suffix}").write_bytes(data)
    return folder


@dataclass
class Page:
    """The API of a server that was started without a pile."""

    server: Server
    client: httpx.Client

    def post(self, address: str, **body: Any) -> Any:
        return self.client.post(address, json=body).raise_for_status().json()

    def job(self, id: str) -> Any:
        return self.client.get(f"/api/jobs/{id}").raise_for_status().json()

    def follow(self, id: str, enough: Callable[[Any], bool]) -> Iterator[tuple[float, Any]]:
        """Yield the seconds since now and the job, until it is enough."""
        begun = time.monotonic()
        while True:
            job = self.job(id)
            yield time.monotonic() - begun, job
            if job["state"] in ("failed", "cancelled"):
                raise RuntimeError(job["words"])
            if enough(job):
                return
            time.sleep(POLL_SECONDS)


@contextmanager
def started(folder: Path) -> Iterator[Page]:
    """``samekind serve`` with two threads and a home of its own."""
    environment = {"OMP_NUM_THREADS": "2", "SAMEKIND_ROOTS": str(folder)}
    words = ("-m", "samekind", "serve", "--port", "0")
    server = Server(folder / "home", *words, environment=environment)
    token = server.entrance.partition("token=")[2]
    headers = {"Authorization": f"Bearer {token}", "Connection": "close"}
    try:
        with httpx.Client(
            base_url=server.origin, headers=headers, timeout=600, trust_env=False
        ) as client:
            yield Page(server, client)
    finally:
        server.stop()


def first_question(pile: Path, folder: Path) -> dict[str, float]:
    """Open a pile as the page does, until the first question is there."""
    with started(folder) as page:
        page.client.get("/api/start").raise_for_status()
        cpu, begun = page.server.cpu_seconds(), time.monotonic()
        job = page.post("/api/start/open", path=str(pile))
        for _, seen in page.follow(job["id"], lambda job: job["ready"] or _done(job)):
            key = seen["pile"]
        asked = page.client.get("/api/question", params={"pile": key}).raise_for_status().json()
        if asked["question"] is None:
            raise RuntimeError("There is no question.")
        spent = page.server.cpu_seconds() - cpu
        return {"wall_s": round(time.monotonic() - begun, 2), "cpu_s": round(spent, 2)}


def estimates(pile: Path, folder: Path) -> dict[str, Any]:
    """What is announced, and what comes."""
    with started(folder) as page:
        found = page.post("/api/start/look", path=str(pile))
        announced = page.post("/api/start/measure", path=str(pile), encoder=found["encoder"])
        cpu = page.server.cpu_seconds()
        job = page.post("/api/start/open", path=str(pile))
        told = list(page.follow(job["id"], _done))
        truth, cpu = told[-1][0], page.server.cpu_seconds() - cpu
    ready = next((at for at, seen in told if seen["ready"]), truth)
    named = [
        (seen["share"], seconds, (ready if "to begin with" in seen["words"] else truth) - at)
        for at, seen in told
        if (seconds := _left(seen["words"])) is not None
    ]
    ratios = {}
    for part in PARTS:
        later = [(share, told, left) for share, told, left in named if share >= part and left > 1]
        if later:
            share, seconds, left = later[0]
            ratios[f"{part:.0%}"] = f"{seconds:.0f} s / {left:.0f} s at {share:.0%}"
    return {
        "encoder": found["encoder"],
        "announced_s": round(announced["seconds"], 1),
        "truth_s": round(truth, 1),
        "cpu_s": round(cpu, 1),
        "announced_over_truth": round(announced["seconds"] / truth, 2),
        "left_over_truth": ratios,
    }


def _done(job: Any) -> bool:
    return bool(job["state"] == "finished")


def _left(words: str) -> float | None:
    """The seconds in "about 40 s left"."""
    found = re.search(r"about ([\d.]+) (s|min|h) left", words)
    return float(found[1]) * UNITS[found[2]] if found else None


def piles(folder: Path, seed: int, data: Path | None) -> dict[str, Path]:
    if data is not None:
        fruits = extract_photos(folder / "fruits", data / "fruits.parquet", 300, seed)
        return {"300 pictures of fruits": fruits}
    return {
        "200 photos of 6 megapixels": draw_photos(folder / "photos", 200, (3000, 2000), seed),
        "1,000 pictures of 160 x 120": draw_photos(folder / "small", 1000, (160, 120), seed),
        "4,000 texts": write_texts(folder / "texts", 4000, seed),
    }


def main() -> None:
    parser = ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("what", choices=["first", "estimates"])
    parser.add_argument("--photos", type=int, default=500)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--data", type=Path, help="a folder with fruits.parquet")
    parser.add_argument("--write", action="store_true", help="keep the figures in page.json")
    wanted = parser.parse_args()
    file = FIGURES if wanted.write else None
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        if wanted.what == "first":
            pile = draw_photos(place / "photos", wanted.photos, (3000, 2000), wanted.seed)
            rows = []
            for k in range(wanted.runs):
                (place / str(k)).mkdir()
                rows.append(first_question_in(place / str(k), pile))
            keep("first_question", {"photos": wanted.photos, "runs": rows, **load()}, file)
            return
        for label, pile in piles(place, wanted.seed, wanted.data).items():
            for k in range(wanted.runs):
                row = {"pile": label, "run": k, **estimates_in(place / f"{pile.stem}-{k}", pile)}
                keep(f"estimate: {label}, run {k}", {**row, **load()}, file)


def first_question_in(folder: Path, pile: Path) -> dict[str, float]:
    return first_question(_moved(folder, pile), folder)


def estimates_in(folder: Path, pile: Path) -> dict[str, Any]:
    folder.mkdir()
    return estimates(_moved(folder, pile), folder)


def _moved(folder: Path, pile: Path) -> Path:
    """The pile under a folder of its own: without links, the same files at another path."""
    target = folder / pile.name
    if pile.is_file():
        target.write_bytes(pile.read_bytes())
        return target
    target.mkdir()
    for file in pile.iterdir():
        os.link(file, target / file.name)
    return target


def load() -> dict[str, float]:
    """How many processes wanted a core in the last minute."""
    return {"load_1min": round(os.getloadavg()[0], 1)}


if __name__ == "__main__":
    main()
