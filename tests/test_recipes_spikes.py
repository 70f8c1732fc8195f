"""Spike sorting: recordings look like recordings, and the recipe runs from end to end."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from recipes import spikes
from recipes_here import run_here
from samekind.clusterers.ncp.amortized.priors import MFM

QUIET = spikes.Spikes(overlap=0.0, drift=0.0, jitter=0.0)


def waves(kind: spikes.Spikes, n: int = 60, sets: int = 8) -> tuple[np.ndarray, np.ndarray]:
    """(sets, n, channels, samples) and (sets, n) units."""
    x, labels, mask = kind.draw(sets, torch.Generator().manual_seed(3), (n, n))
    assert bool(mask.all())
    return x.unflatten(2, (spikes.CHANNELS, -1)).numpy(), labels.numpy()


def test_noise_has_unit_variance_and_is_shared_by_channels_and_neighbouring_samples() -> None:
    x, _ = waves(replace(QUIET, depth=(1e-6, 2e-6)), 200)
    assert x.var() == pytest.approx(1.0, abs=0.02)
    channels = np.corrcoef(x.transpose(2, 0, 1, 3).reshape(spikes.CHANNELS, -1))
    assert channels[0, 1] == pytest.approx(QUIET.together, abs=0.03)
    assert np.mean(x[..., 1:] * x[..., :-1]) == pytest.approx(4 / 6, abs=0.02)


def test_a_spike_is_a_trough_of_the_given_depth_then_a_hump() -> None:
    x, labels = waves(replace(QUIET, depth=(100.0, 200.0)))
    trough = round(spikes.TROUGH * spikes.RATE)
    for recording, units in zip(x, labels, strict=True):
        for k in np.unique(units):
            mean = recording[units == k].mean(0)
            best = mean[mean.min(axis=1).argmin()]
            assert abs(int(best.argmin()) - trough) <= 1 and 75 < -best.min() < 250
            assert best[trough + 3 :].max() > 3 * abs(best[0])


@pytest.mark.parametrize("change", [{"overlap": 0.3}, {"drift": 0.8}, {"jitter": 0.05}])
def test_overlaps_drift_and_jitter_each_make_spikes_of_a_unit_differ(change: dict) -> None:
    def within(kind: spikes.Spikes) -> float:
        x, labels = waves(kind)
        parts = [a[u == k] for a, u in zip(x, labels, strict=True) for k in np.unique(u)]
        return float(np.mean([part.var(axis=0).mean() for part in parts if len(part) > 5]))

    assert within(replace(QUIET, **change)) > 1.03 * within(QUIET)


def test_overlapping_spikes_are_of_units_that_are_there() -> None:
    alone = replace(QUIET, prior=MFM(rate=1e-9, most=12), overlap=1.0, depth=(50.0, 60.0))
    x, labels = waves(alone)
    assert labels.max() == 0
    template = waves(replace(alone, overlap=0.0))[0].mean(1)
    energy = (x**2).mean((2, 3)) / (template**2).mean((1, 2))[:, None]
    assert 1.3 < np.median(energy) < 4, "one more spike of the same unit"


def test_recordings_follow_the_seed_and_a_mixture_sorts_clear_ones() -> None:
    one, again, other = (spikes.recorded(80, 3, seed) for seed in (2, 2, 4))
    assert np.array_equal(one[0].X, again[0].X) and not np.array_equal(one[0].X, other[0].X)
    x, labels = waves(replace(QUIET, depth=(25.0, 30.0)), 100, 3)
    clear = [spikes.Recording(a.reshape(100, -1), b) for a, b in zip(x, labels, strict=True)]
    row = spikes.scored(spikes.by_mixture, spikes.NCP(), clear)
    assert np.mean(row["ari"]) > 0.6 and min(row["true_units"]) >= 1


def test_the_recipe_trains_sorts_keeps_rows_and_draws(tmp_path: Path) -> None:
    file, rows = tmp_path / "w.safetensors", tmp_path / "rows.jsonl"
    small = ("--seconds", "1", "--batch", "2", "--points", "8", "12", "--width", "16")
    some = ("--sizes", "20", "--recordings", "2", "--methods", "ncp", "dp-gmm")
    picture = tmp_path / "spikes.png"
    said = run_here("spikes", *small, *some, "--device", "cpu", "--out", str(file), "--json",
                    str(rows), "--plot", str(picture))  # fmt: skip
    kept = [json.loads(line) for line in rows.read_text().splitlines()]
    assert [row["method"] for row in kept] == ["ncp", "dp-gmm"] and "nats per spike" in said
    assert kept[0]["sha256"] and kept[1]["sha256"] is None
    assert len(kept[0]["ari"]) == len(kept[0]["true_units"]) == 2
    assert picture.stat().st_size > 10_000


def test_groups_have_the_colour_of_their_unit_and_second_ones_another() -> None:
    units = np.repeat([0, 1, 2], [20, 20, 20])
    found = np.array([1] * 20 + [0] * 20 + [2] * 13 + [3] * 6 + [4])
    assert spikes.matching_colours(units, found) == ["C1", "C0", "C2", "C3", "0.2"]
