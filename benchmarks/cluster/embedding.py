r"""How many items per second `samekind embed` takes, here and on Ray, and bytes per item.

    python -m benchmarks.cluster.embedding --pictures 640 --vectors 300000 --listed 1000000 --json

* pictures: drawn JPEG files of 1024 x 768 pixels, by `pixels` and `efficientnet-lite0`, with one
  and with two threads or workers.
* vectors: an array (.npy) of 128 numbers each, used unchanged: what all but the encoder costs.
* listed: names that are listed, looked up, sampled and written to the work list, without files.

`rate` is items per second between the first and the last look at the chunks, so without listing,
fitting and the start of the workers, which are in `seconds`. `per_cpu_second` divides the same
items by the seconds that cores have worked in this process and all that it started: it holds on a
busy machine, too.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measuring import arguments, emit
from samekind.bulk.embedding import Work, embed
from samekind.bulk.listing import Missing, Sampler
from samekind.bulk.readers import Entry
from samekind.bulk.vector_store import key_of
from samekind.bulk.work_list import WorkList

SAMPLE = 128
SECONDS_BETWEEN_LOOKS = 0.4
"""Looking costs time itself, as all processes are looked at."""
ENCODERS = ("pixels", "efficientnet-lite0")


def main() -> None:
    """Measure each case in a process of its own."""
    parser = arguments(__doc__ or "", Path(__file__).with_name("embedding.jsonl"))
    parser.add_argument("--pictures", type=int, default=0)
    parser.add_argument("--vectors", type=int, default=0)
    parser.add_argument("--listed", type=int, default=0)
    parser.add_argument("--encoders", nargs="*", default=ENCODERS)
    parser.add_argument("--within", type=Path, help="folder for large temporary files")
    parser.add_argument("--one", nargs=4, help="(a process of its own: source, encoder, on, cores)")
    wanted = parser.parse_args()
    if wanted.one:
        print(json.dumps(measured(*wanted.one)))
        return
    folder = Path(tempfile.mkdtemp(dir=wanted.within))
    try:
        cases = []
        if wanted.pictures:
            draw_pictures(folder / "pictures", wanted.pictures)
            cases += [("pictures", encoder) for encoder in wanted.encoders]
        if wanted.vectors:
            draw_vectors(folder / "vectors.npy", wanted.vectors)
            cases.append(("vectors.npy", "vectors"))
        for source, encoder in cases:
            for on in ("local", "ray"):
                for cores in ("1", "2"):
                    row = _in_a_process(str(folder / source), encoder, on, cores)
                    emit({"benchmark": "embedding", "seed": wanted.seed, **row}, wanted.json)
        if wanted.listed:
            row = measured_listing(str(folder / "none.lance"), wanted.listed)
            emit({"benchmark": "embedding", "seed": wanted.seed, **row}, wanted.json)
    finally:
        shutil.rmtree(folder)


def _in_a_process(*case: str) -> dict[str, Any]:
    words = ["-m", "benchmarks.cluster.embedding", "--one", *case]
    environment = {**os.environ, "SAMEKIND_THREADS": case[3], "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, *words], capture_output=True, text=True, check=False, env=environment
    )
    if done.returncode:
        raise SystemExit(done.stderr)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def measured(source: str, encoder: str, on: str, cores: str) -> dict[str, Any]:
    """Embed a source, and remove the store again."""
    out = f"{source}.lance"
    moments: list[tuple[float, int, float]] = []
    cpu = CpuSeconds()
    work = Work(encoder, on=on, workers=int(cores) if on != "local" else None, sample=SAMPLE)

    def report(doing: str, done: int, total: int | None) -> None:
        now = time.perf_counter()
        if doing == "Embedding" and (not moments or now > moments[-1][0] + SECONDS_BETWEEN_LOOKS):
            moments.append((now, done, cpu.total()))

    begun = time.perf_counter()
    outcome = embed(source, out, work, progress=report)
    seconds = time.perf_counter() - begun
    (start, before, worked), (end, after, worked_then) = moments[1], moments[-1]
    size = sum(file.stat().st_size for file in Path(out).rglob("*") if "_samekind" not in str(file))
    shutil.rmtree(out)
    return {
        "source": Path(source).name,
        "encoder": encoder,
        "on": on,
        "workers": int(cores),
        "n": outcome.n_added,
        "rate": round((after - before) / (end - start), 1),
        "seconds": round(seconds, 1),
        "per_cpu_second": round((after - before) / (worked_then - worked), 1),
        "bytes_per_item": round(size / outcome.n_added),
    }


def measured_listing(store: str, n: int) -> dict[str, Any]:
    """List names against a store that has half of them."""
    names = (f"folder {i % 1000}/picture {i}.jpg" for i in range(n))
    entries = (Entry(name, f"/photos/{name}", "123456-1700000000000000000") for name in names)
    half = sorted(
        key_of(f"folder {i % 1000}/picture {i}.jpg", "123456-1700000000000000000")
        for i in range(0, n, 2)
    )
    missing = Missing(np.array(half, np.uint64), np.empty(0, np.uint64), Sampler(10_000))
    begun = time.process_time()
    WorkList(store).fill(missing.among(entries))
    seconds = time.process_time() - begun
    return {"source": "names", "n": n, "cpu_seconds_per_million": round(seconds / n * 1e6, 1)}


class CpuSeconds:
    """Seconds that cores have worked in this process and in all that it started."""

    def __init__(self) -> None:
        self._by_process: dict[int, float] = {}

    def total(self) -> float:
        """Return the seconds until now; those of processes that have ended stay."""
        parents, seconds = {}, {}
        for place in Path("/proc").glob("[0-9]*/stat"):
            try:
                words = place.read_text().rpartition(")")[2].split()
            except OSError:  # it has ended
                continue
            number = int(place.parent.name)
            parents[number] = int(words[1])
            seconds[number] = (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")
        for number, used in seconds.items():
            above = number
            while above not in (0, 1, os.getpid()):
                above = parents.get(above, 0)
            if above == os.getpid():
                self._by_process[number] = used
        return sum(self._by_process.values())


def draw_pictures(folder: Path, n: int, distinct: int = 100) -> None:
    """Write pictures of 1024 x 768 pixels with structure at several scales, as photos have."""
    from PIL import Image

    folder.mkdir(parents=True)
    drawn: list[bytes] = []
    for number in range(min(n, distinct)):
        rng = np.random.default_rng(number)
        whole = np.zeros((768, 1024, 3))
        for side in (4, 16, 64, 256):
            rough = rng.normal(scale=160 / side**0.5, size=(side * 3 // 4, side, 3))
            whole += np.repeat(np.repeat(rough, 1024 // side, axis=0), 1024 // side, axis=1)
        buffer = BytesIO()
        Image.fromarray(np.clip(whole + 128, 0, 255).astype(np.uint8)).save(buffer, "JPEG")
        drawn.append(buffer.getvalue())
    for number in range(n):
        (folder / f"picture {number}.jpg").write_bytes(drawn[number % len(drawn)])


def draw_vectors(path: Path, n: int) -> None:
    """Write an array of random vectors."""
    X = np.random.default_rng(0).normal(size=(n, 128)).astype(np.float32)
    np.save(path, X)


if __name__ == "__main__":
    main()
