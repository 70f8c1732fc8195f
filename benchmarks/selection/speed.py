"""Seconds that it takes to choose 500 items to ask about (value mining, IDC's Algorithm 1).

Neighbours are found exactly and by cells; the row tells how many of the true neighbours the cells
find, and how many of the picks are the same.
"""

from __future__ import annotations

import time
from argparse import Namespace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.measuring import arguments, emit, table
from samekind.compute import as_tensor, best_device, one_thread, synchronise
from samekind.neighbours import nearest_cosines
from samekind.simulation.provenance import peak_memory_mib
from samekind.strategies.value.greedy import Greedy
from samekind.strategies.value.mining import closeness, hardness, unit
from samekind.strategies.value.questions import centres_of

Floats = NDArray[Any]
RESULTS = Path(__file__).with_name("speed.jsonl")
SAMPLE = 2_000
"""Items for which true neighbours are always found, to count how many of them the cells find."""


def main() -> None:
    """Make or read vectors, choose items in both ways, report."""
    parser = arguments(__doc__ or "", RESULTS)
    parser.add_argument("--items", type=int, default=60_000)
    parser.add_argument("--width", type=int, default=512)
    parser.add_argument("--groups", type=int, default=20)
    parser.add_argument("--questions", type=int, default=500)
    parser.add_argument("--neighbours", type=int, default=20)
    parser.add_argument("--vectors", type=Path, help="a .npy file (n, d) instead of drawn ones")
    parser.add_argument("--half", action="store_true", help="keep the vectors as float16")
    parser.add_argument("--device", help="cpu or another; else the best there is")
    parser.add_argument("--limit", type=float, default=600, help="seconds that exact may take")
    chosen = parser.parse_args()
    device = best_device(chosen.device)
    z, labels = vectors(chosen)
    row: dict[str, Any] = {
        "benchmark": "selection",
        "seed": chosen.seed,
        "data": chosen.vectors.name if chosen.vectors else "drawn",
        "items": len(z),
        "width": z.shape[1],
        "groups": chosen.groups,
        "questions": chosen.questions,
        "neighbours": chosen.neighbours,
        "device": device.reason,
        "dtype": str(z.dtype),
        "vectors_mb": round(z.nbytes / 2**20, 1),
        **measured(z, labels, chosen, device.device),
        "peak_memory_mb": peak_memory_mib(),
    }
    show(row)
    emit(row, chosen.json)


def vectors(chosen: Namespace) -> tuple[Floats, NDArray[np.intp]]:
    """Unit rows and groups: from a file, or kinds that spread along 24 directions, with noise."""
    if chosen.vectors:
        from sklearn.cluster import MiniBatchKMeans

        z = unit(np.load(chosen.vectors, allow_pickle=False).astype(np.float32))
        found = MiniBatchKMeans(chosen.groups, n_init=1, random_state=chosen.seed).fit(z)
        labels = found.labels_.astype(np.intp)
    else:
        rng = np.random.default_rng(chosen.seed)
        labels = rng.integers(0, chosen.groups, chosen.items)
        middles = rng.standard_normal((chosen.groups, 24), dtype=np.float32)
        turn = rng.standard_normal((24, chosen.width), dtype=np.float32) / np.sqrt(24)
        z = np.empty((chosen.items, chosen.width), dtype=np.float32)
        for start in range(0, len(z), 65_536):
            part = slice(start, start + 65_536)
            inner = middles[labels[part]] + rng.standard_normal((len(labels[part]), 24))
            noise = 0.15 * rng.standard_normal((len(inner), chosen.width), dtype=np.float32)
            z[part] = unit(inner.astype(np.float32) @ turn + noise)
    return (z.astype(np.float16) if chosen.half else z), labels


def measured(z: Floats, labels: Any, chosen: Namespace, device: str) -> dict[str, Any]:
    """Seconds of each part, exact and by cells, and how far the two agree."""
    import torch

    rows = as_tensor(z, device)  # once: what is kept between the parts, as a strategy would
    single = rows.cpu().numpy()
    warm_up(single, device)
    started = time.perf_counter()
    hard = hardness(single, centres_of(single, labels, np.unique(labels).tolist()))
    found: dict[str, Any] = {"hardness_seconds": since(started)}
    k, few = chosen.neighbours, np.random.default_rng(1).permutation(len(z))[:SAMPLE]
    true = sampled_cosines(rows, few, k)
    estimate = exact_estimate(single, k, device)
    picks: dict[str, list[int]] = {}
    truly: Floats | None = None
    for name, exact in (("exact", True), ("cells", False)):
        if exact and estimate > chosen.limit:
            found[name] = (
                f"left out: would take about {estimate:.0f} s, judging by a part of the items"
            )
            continue
        started, busy = time.perf_counter(), time.process_time()
        alike = nearest_cosines(single, k, exact=exact, device=device)
        seconds = {"neighbours_seconds": since(started)}
        started = time.perf_counter()
        worth = hard + closeness(alike)
        picks[name] = greedy_picks(rows, worth, chosen.questions)
        synchronise(device)
        seconds["picks_seconds"] = since(started)
        truly = worth if exact else truly
        found[name] = {
            **seconds,
            "total_seconds": round(sum(seconds.values()) + found["hardness_seconds"], 2),
            "processor_seconds": round(time.process_time() - busy, 2),
            "recall": round(float((alike[few] >= true[:, -1:] - 1e-5).mean()), 4),
        }
    if truly is not None and "cells" in picks:
        same = set(picks["exact"]) & set(picks["cells"])
        found["same_picks"] = round(len(same) / chosen.questions, 4)
        found["mean_true_value"] = {
            name: round(float(true_values(single, truly, items).mean()), 4)
            for name, items in picks.items()
        }
    found["threads"] = torch.get_num_threads()
    return found


def greedy_picks(rows: Any, worth: Floats, count: int) -> list[int]:
    """The items in the order of picking."""
    found: list[int] = []
    with one_thread():  # as in select
        greedy = Greedy(rows, worth)
        while len(found) < count and (best := greedy.best()) is not None:
            greedy.take(best[0])
            found.append(best[0])
    return found


def true_values(z: Floats, worth: Floats, items: list[int]) -> Floats:
    """Value (Eq. 1) of each pick when it was picked, by true neighbours."""
    alike = z[items] @ z[items].T
    apart = [max(1 - float(alike[k, :k].max()), 1e-12) if k else 1.0 for k in range(len(items))]
    return np.asarray(worth[items] + np.log(apart))


def sampled_cosines(rows: Any, few: Any, k: int) -> Floats:
    """True cosines of some items to their nearest others."""
    import torch

    found = []
    for some in torch.split(torch.from_numpy(few).to(rows.device), 250):
        alike = rows[some] @ rows.T
        alike.scatter_(1, some[:, None], -9.0)
        found.append(alike.topk(k, dim=1).values)
    return np.asarray(torch.cat(found).cpu().numpy())


def exact_estimate(z: Floats, k: int, device: str) -> float:
    """Seconds that comparing all with all would take, from those of a part of the items."""
    part = z[:16_384]
    started = time.perf_counter()
    nearest_cosines(part, k, exact=True, device=device)
    return (time.perf_counter() - started) * (len(z) / len(part)) ** 2


def warm_up(z: Floats, device: str) -> None:
    """Load libraries and start the device, which is paid once and not for each choice."""
    nearest_cosines(z[:2000], 5, device=device)
    greedy_picks(as_tensor(z[:2000], device), np.zeros(2000), 3)


def since(started: float) -> float:
    """Seconds, rounded."""
    return round(time.perf_counter() - started, 3)


def show(row: dict[str, Any]) -> None:
    """The table for people."""
    size = f"{row['items']:,} x {row['width']}"
    print(f"{row['questions']} items of {size} on {row['device']}")
    lines = [("neighbours", "find them", "pick", "all, with hardness", "recall")]
    for name in ("exact", "cells"):
        part = row[name]
        if isinstance(part, str):
            lines.append((name, part, "", "", ""))
            continue
        times = (f"{part[f'{what}_seconds']:.2f} s" for what in ("neighbours", "picks", "total"))
        lines.append((name, *times, f"{part['recall']:.4f}"))
    table(lines)
    if "same_picks" in row:
        values = ", ".join(f"{name} {value}" for name, value in row["mean_true_value"].items())
        print(f"The same picks: {100 * row['same_picks']:.1f} %; mean true value: {values}")


if __name__ == "__main__":
    main()
