"""Rows as a benchmark writes them, with curves from a formula: nothing here was measured."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

Row = dict[str, Any]


def synthetic_row(
    system: str = "live",
    seed: int = 0,
    *,
    level: float = 0.9,
    set: str = "digits",
    orientation: str = "digit",
    person: str = "perfect",
    noise: float = 0.0,
    at: Sequence[int] = (0, 10, 20, 30, 40, 50, 60),
    pairs: float = 2.5,
    **other: Any,
) -> Row:
    """A run that rises from .3 towards `level`, a little different for each seed."""
    rng = np.random.default_rng([seed, len(system), len(set)])
    wobble = rng.normal(0, 0.015)
    curve = []
    for q in at:
        ari = 0.3 + (level - noise - 0.3) * (1 - np.exp(-q / 18)) + wobble * min(1, q / 10)
        ari = float(np.clip(ari, -1, 1))
        curve.append(
            {
                "questions": q, "pairs": round(pairs * q), "person_seconds": 3.0 * q,
                "seconds": 0.1 * q, "groups": 10, "refits": q // 10,
                "acc": round((1 + ari) / 2, 5), "nmi": round(ari, 5), "ari": round(ari, 5),
                "fm": round((0.1 + ari) / 1.1, 5), "unasked_ari": round(ari - 0.01, 5),
            }
        )  # fmt: skip
    row: Row = {
        "suite": "synthetic", "set": set, "orientation": orientation, "encoder": "vectors",
        "items": 1797, "width": 64, "kinds": 10, "system": system, "method": system,
        "strategy": "random", "parameters": {}, "strategy_with": {}, "groups_given": None,
        "person": person, "noise": noise, "unsure": 0.0, "seed": seed, "budget": at[-1],
        "questions": at[-1], "curve": curve, "choices": {"same": at[-1]}, "conflicts": 0,
        "ask_seconds": {"p50": 0.002, "p95": 0.009}, "tell_seconds": {"p50": 1e-4, "p95": 2e-4},
        "refit_seconds": {"p50": 0.26, "p95": 0.53}, "seconds": 4.4, "memory_mib": 160.2,
        "protocol": {"score_every": 10}, "complete": True, "command": "samekind bench synthetic",
        "commit": "abc1234", "when": "2026-11-15 21:00:00", "machine": {"cores": 2},
        "versions": {"samekind": "0.1.0"},
    }  # fmt: skip
    row |= other
    row["run"] = "/".join(
        str(row[key])
        for key in ("suite", "set", "orientation", "system", "person", "questions", "seed")
    )
    return row


def synthetic_rows(
    levels: dict[str, float],
    *,
    sets: Iterable[tuple[str, str]] = (("digits", "digit"),),
    people: Iterable[tuple[str, float]] = (("perfect", 0.0),),
    seeds: Iterable[int] = range(3),
    **other: Any,
) -> list[Row]:
    """A full crossing of systems (with the level each rises to), sets, people and seeds."""
    return [
        synthetic_row(
            system,
            seed,
            level=level - 0.03 * place,
            set=name,
            orientation=orientation,
            person=person,
            noise=noise,
            **other,
        )
        for seed in seeds
        for place, (name, orientation) in enumerate(sets)
        for person, noise in people
        for system, level in levels.items()
    ]


def write_rows(path: Path, rows: Iterable[Row]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path
