r"""What one machine takes for many items: opening a folder, encoding, and the cache of features.

    python -m benchmarks.cluster.one_machine --files 20000 200000 --items 25000 100000 \
        --rows 100000 1000000 --pictures 5000 20000 --json

Each figure comes from a process of its own, because peak memory never falls within a process.

* files: a folder of tiny drawn pictures in a hundred folders, opened for the first time and again.
* items: drawn features of 1,405 numbers, as many as the default encoder gives, through `encode`
  with a cache: for the first time, and again from the cache. Only reading is replaced by a draw.
* rows: a cache of features with so many rows (of 8 numbers) is opened, and each row looked up.
* pictures: JPEGs of 128 x 96 pixels in tar shards of 1,000, decoded to 32 x 32 for a training
  (first), and opened again for 20 steps of a small SimCLR of batches of 128 (again).

`memory` is what the process holds for itself (RssAnon) at its peak, less what it held before;
`mapped` also counts pages of files, which the system takes back when it needs memory.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from inspect import signature
from io import BytesIO
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from benchmarks.measuring import arguments, emit
from samekind.encoders import encode
from samekind.encoders.feature_cache import FeatureCache
from samekind.encoders.reduction import Reduction
from samekind.items import Collection, Item, Preview
from samekind.sources import open_source

WIDTH = 1405
FOLDERS = 100


def main() -> None:
    """Measure what the options name, each in a process of its own."""
    parser = arguments(__doc__ or "", Path(__file__).with_name("one_machine.jsonl"))
    for name in PASSES:
        parser.add_argument(f"--{name}", type=int, nargs="*", default=[])
    parser.add_argument("--within", type=Path, help="folder for large temporary files")
    parser.add_argument("--one", nargs=4, help="(a process of its own: what, n, pass, folder)")
    wanted = parser.parse_args()
    if wanted.one:
        what, n, which, folder = wanted.one
        print(json.dumps(PASSES[what](int(n), which, Path(folder))))
        return
    for what in PASSES:
        for n in getattr(wanted, what):
            folder = Path(tempfile.mkdtemp(dir=wanted.within))
            try:
                for which in ("first", "again"):
                    emit(_in_a_process(what, n, which, folder), wanted.json)
            finally:
                shutil.rmtree(folder)


def _in_a_process(what: str, n: int, which: str, folder: Path) -> dict[str, Any]:
    if what == "files" and which == "first":
        draw_pictures(folder / "pictures", n)
        time.sleep(3)  # files that have just been written are checked twice
    if what == "pictures" and which == "first":
        draw_shards(folder / "shards", n)
    words = ["-m", "benchmarks.cluster.one_machine", "--one", what, str(n), which, str(folder)]
    done = subprocess.run([sys.executable, *words], capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return {"benchmark": "one-machine", "what": what, "n": n, "pass": which, **found}


class ResourceMonitor:
    """Seconds and memory within a context; memory is looked at every few milliseconds."""

    def __enter__(self) -> Self:
        self._begun, self._cpu = time.perf_counter(), time.process_time()
        self._before, self._peak, self._over = _resident(), _resident(), threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.seconds = time.perf_counter() - self._begun
        self.cpu = time.process_time() - self._cpu
        self._over.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._over.wait(0.01):
            self._peak = tuple(map(max, self._peak, _resident()))

    def row(self) -> dict[str, float]:
        """The figures, in seconds and megabytes."""
        own, all_ = (
            (peak - before) / 1e6 for peak, before in zip(self._peak, self._before, strict=True)
        )
        return {
            "seconds": round(self.seconds, 2),
            "cpu": round(self.cpu, 2),
            "memory": round(own),
            "mapped": round(all_),
        }


def _resident() -> tuple[int, ...]:
    """Bytes of this process in memory: its own, and with those of mapped files."""
    lines = Path("/proc/self/status").read_text().splitlines()
    found = {line.split(":")[0]: line.split()[1] for line in lines if line.startswith("Rss")}
    own = int(found["RssAnon"]) * 1024
    return own, own + int(found["RssFile"]) * 1024 + int(found["RssShmem"]) * 1024


def draw_pictures(folder: Path, n: int) -> None:
    """Write so many pictures of 8 x 8 pixels."""
    from PIL import Image

    drawn = []
    for k in range(16):
        pixels = np.random.default_rng(k).integers(0, 256, (8, 8, 3), dtype=np.uint8)
        buffer = BytesIO()
        Image.fromarray(pixels).save(buffer, "PNG" if k % 2 else "JPEG")
        drawn.append((buffer.getvalue(), "png" if k % 2 else "jpg"))
    for k in range(FOLDERS):
        (folder / f"folder {k}").mkdir(parents=True)
    for k in range(n):
        data, suffix = drawn[k % len(drawn)]
        (folder / f"folder {k % FOLDERS}" / f"picture {k}.{suffix}").write_bytes(data)


def opened_folder(n: int, which: str, folder: Path) -> dict[str, Any]:
    """Open a folder of pictures."""
    kept: dict[str, Any] = {}
    if "cache" in signature(open_source).parameters:
        kept["cache"] = folder / "cache"
    with ResourceMonitor() as monitor:
        found = open_source(str(folder / "pictures"), **kept)
    assert len(found) == n
    return monitor.row()


class Drawn(Item):
    """An item whose features are drawn from its number."""

    kind: ClassVar[str] = "text"

    def __init__(self, number: int) -> None:
        self.id = f"item {number}"

    def load(self) -> int:
        return int(self.id[5:])

    def preview(self) -> Preview:
        return Preview("text/plain", self.id.encode())


class Wide:
    """As many numbers as the default encoder reads, reduced in the same way."""

    name: str = "wide"
    kinds: tuple[str, ...] = ("text",)
    width: int | None = WIDTH
    fingerprint = "wide/v1"

    def __init__(self) -> None:
        self._table = np.random.default_rng(0).normal(size=(1009, WIDTH)).astype(np.float32)

    def read(self, items: Sequence[Item]) -> NDArray[np.float32]:
        numbers = np.array([item.load() for item in items])
        return self._table[numbers % 1009] + self._table[numbers * 7 % 1003]

    def fit(self, raw: Any) -> Self:
        self._reduction = Reduction(components=256).fit(raw)
        return self

    def transform(self, raw: Any) -> NDArray[np.float32]:
        return self._reduction.transform(raw)


def encoded_items(n: int, which: str, folder: Path) -> dict[str, Any]:
    """Encode drawn items."""
    import scipy.linalg  # noqa: F401  imported before memory is measured

    os.environ["SAMEKIND_HOME"] = str(folder)
    pile = Collection("drawn", [Drawn(k) for k in range(n)])
    encoder = Wide()
    with ResourceMonitor() as monitor:
        found = encode(pile, encoder, cache=folder / "cache", batch=256)
    row = {
        **monitor.row(),
        "raw": round(n * WIDTH * 4 / 1e6),
        "vectors": round(found.X.nbytes / 1e6),
    }
    return {**row, "sum": float(found.X[::97].astype(np.float64).sum())}


def looked_up(n: int, which: str, folder: Path) -> dict[str, Any]:
    """Write a cache (first), or open it and look up each row (again)."""
    ids, stamps = [f"a/b {k}.jpg" for k in range(n)], [f"{k}-1731660000000000000" for k in range(n)]
    rows = np.random.default_rng(0).normal(size=(n, 8)).astype(np.float32)
    with ResourceMonitor() as monitor:
        cache = FeatureCache.at(folder, "rows", fingerprint="f", width=8)
        if which == "first":
            for k in range(0, n, 256):
                cache.add(ids[k : k + 256], stamps[k : k + 256], rows[k : k + 256])
            cache.close()
    if which == "first":
        return monitor.row()
    with ResourceMonitor() as lookups:
        found = sum(cache.get(*key) is not None for key in zip(ids, stamps, strict=True))
    assert found == n
    return {**monitor.row(), "get": round(lookups.seconds, 2)}


def draw_shards(folder: Path, n: int) -> None:
    """Write so many pictures into archives."""
    from PIL import Image

    drawn = []
    for k in range(64):
        pixels = np.random.default_rng(k).normal(128, 40, (12, 16, 3)).clip(0, 255)
        buffer = BytesIO()
        image = Image.fromarray(pixels.astype(np.uint8)).resize((128, 96))
        image.save(buffer, "JPEG", quality=85)
        drawn.append(buffer.getvalue())
    folder.mkdir()
    for start in range(0, n, 1000):
        with tarfile.open(folder / f"{start:08}.tar", "w") as archive:
            for k in range(start, min(n, start + 1000)):
                member = tarfile.TarInfo(f"{k:08}.jpg")
                member.size = len(drawn[k % 64])
                archive.addfile(member, BytesIO(drawn[k % 64]))


def trained_pictures(n: int, which: str, folder: Path) -> dict[str, Any]:
    """Decode the pictures of shards (first), or train on them for a few steps (again)."""
    from samekind.bulk.pictures import ShardPile
    from samekind.training.selflearn import SelfLearner, SelfSetting

    os.environ["SAMEKIND_HOME"] = str(folder)
    setting = SelfSetting("simclr", channels=4, batch_size=128, device="cpu")
    warm = np.random.default_rng(0).integers(0, 256, (256, 3, 32, 32), dtype=np.uint8)
    SelfLearner(setting, warm).run(1)  # imported and allocated before memory is measured
    with ResourceMonitor() as monitor:
        pixels, skipped = ShardPile.at(str(folder / "shards")).pictures(32)
        if which == "again":
            learner = SelfLearner(setting, pixels)
            learner.run(1, until=20 / (n // 128))
    assert len(pixels) == n
    assert not skipped
    return {**monitor.row(), "decoded": round(pixels.nbytes / 1e6)}


PASSES: dict[str, Callable[[int, str, Path], dict[str, Any]]] = {
    "files": opened_folder,
    "items": encoded_items,
    "rows": looked_up,
    "pictures": trained_pictures,
}


if __name__ == "__main__":
    main()
