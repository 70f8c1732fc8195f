"""Settings of a training on a pile: size of pictures and of the network, with reasons."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import Any

from samekind.encoders.learned.encoder import METHODS
from samekind.encoders.learned.piles import TrainingPile, pile_of
from samekind.encoders.learned.weights import count
from samekind.errors import InputError, UnknownName
from samekind.items import Collection

FEWEST = 8
"""Fewest pictures that can be compared."""
SIDES = ((48, 32), (80, 64), (112, 96))
"""Shorter side of the pictures up to (first), and the size that they are brought to (second)."""
LARGEST = 128
SMALL_STEM = 40
"""Up to this size the network must not shrink the picture in its first layers."""
MANY = 5_000
"""Pictures from which on the network of the papers is not too large."""
SMALL = 16
"""Channels without a GPU: more than six times as quick as the 64 of the papers (at 96 pixels)."""
SENSIBLE = 200
"""Epochs that a training for good features takes at least; the papers take up to 1,000."""


@dataclass(frozen=True)
class Choice:
    """Settings of a training, and why.

    Parameters
    ----------
    size, stem : pixels a side, and how the network begins ("3x3": small pictures, "7x7": photos).
    channels : width of the network's first layer; the papers have 64.
    device : where, and `device_reason` that in words.
    reasons : lines for a person.
    """

    encoder: str
    groups: int | None
    size: int
    stem: str
    channels: int
    batch_size: int
    seed: int
    device: str
    device_reason: str
    reasons: tuple[str, ...]

    def settings(self) -> dict[str, Any]:
        """Settings that identify a training; the device and the duration do not."""
        names = ("groups", "size", "stem", "channels", "batch_size", "seed")
        return {name: getattr(self, name) for name in names}


def choose(
    encoder: str,
    pictures: Collection | TrainingPile,
    *,
    groups: int | None = None,
    size: int | None = None,
    device: str | None = None,
    seed: int = 0,
) -> Choice:
    """Settings for a pile on this machine; what cannot be learnt from is told in one sentence."""
    pile = pile_of(pictures)
    _check(encoder, pile, groups)
    where, why = _device(device)
    if size is None:
        sides = list(pile.sides())
        side = median(sides) if sides else float(LARGEST)
        size = next((small for most, small in SIDES if side <= most), LARGEST)
        reason = f"their shorter side has {side:.0f} pixels"
    else:
        reason = "as asked"
    stem = "3x3" if size <= SMALL_STEM else "7x7"
    fast, n = where != "cpu", len(pile)
    channels = (64 if n >= MANY else 32) if fast else SMALL
    reasons = (
        f"Pictures are brought to {size} x {size} pixels ({reason}).",
        _network_reason(channels, fast, n),
    )
    batch = 1 << max(n // 8, 1).bit_length() - 1  # at least eight steps per epoch
    batch = min(n, max(32, min(batch, 512 if fast else 128)))
    return Choice(encoder, groups, size, stem, channels, batch, seed, where, why, reasons)


def _check(encoder: str, pile: TrainingPile, groups: int | None) -> None:
    if encoder not in METHODS:
        raise UnknownName("encoder that learns", encoder, METHODS)
    if pile.kind != "image":
        raise InputError(
            f"The encoder {encoder!r} learns from pictures, but {pile.name!r} holds "
            f"{pile.kind} items. Give pictures: a folder, .parquet files or .tar files."
        )
    if len(pile) < FEWEST:
        raise InputError(
            f"{pile.name!r} holds {len(pile)} pictures. Learning compares pictures "
            f"with each other and needs at least {FEWEST} (thousands, to learn much). Without "
            "--encoder a frozen network is used, which needs no more pictures."
        )
    if METHODS[encoder].needs_groups and groups is None:
        raise InputError(
            f"The encoder {encoder!r} learns groups beside its features, so it must know how many. "
            "Say --groups K, rather too many than too few; or take 'simclr' or 'byol'."
        )
    if groups is not None and not 2 <= groups <= len(pile):
        raise InputError(
            f"{groups} groups cannot be learnt from {len(pile)} pictures. "
            f"Choose --groups from 2 to {len(pile)}."
        )


def _device(wanted: str | None) -> tuple[str, str]:
    """Where to learn, and that in words."""
    import torch

    from samekind.compute import best_device

    compute = best_device(wanted)
    try:
        torch.empty(1, device=compute.device)
    except (RuntimeError, AssertionError) as problem:
        raise InputError(
            f"There is no device {compute.device!r} here. Omit --device (and SAMEKIND_DEVICE) "
            "to use the best there is, or say cpu."
        ) from problem
    if compute.device == "cpu":
        threads = torch.get_num_threads()
        return "cpu", f"CPU ({threads} thread{'s' if threads > 1 else ''})"
    return compute.device, compute.reason.partition(",")[0]


def _network_reason(channels: int, fast: bool, n: int) -> str:
    if channels == 64:
        return "The network is that of the papers (ResNet-18)."
    why = f"{n:,} pictures are few" if fast else "without a GPU a larger one learns too slowly"
    return f"The network is a ResNet-18 with {channels} channels instead of 64: {why}."


def forecast(n: int, epochs: float, minutes: float, seconds_per_epoch: float, where: str) -> str:
    """Describe the cost and the expected result of a training, from the measured speed.

    >>> forecast(384, 14, 10, 43, "CPU (2 threads)").splitlines()[0]
    'About 14 epochs in 10 min on CPU (2 threads): 43 s for one look at all 384 pictures.'
    """
    one = f"{duration(seconds_per_epoch)} for one look at all {n:,} pictures"
    lines = [f"About {count(epochs)} epochs in {duration(60 * minutes)} on {where}: {one}."]
    if epochs < SENSIBLE:
        lines.append(
            f"Published trainings take {SENSIBLE} to 1,000 epochs: here {SENSIBLE} would take "
            f"{duration(SENSIBLE * seconds_per_epoch)}."
        )
    if n < MANY:
        lines.append(
            f"They also have tens of thousands of pictures. From {n:,} expect features of colour, "
            "texture and layout, hardly of objects: the frozen network (no --encoder) has seen "
            "a million pictures and may well do better. Try both."
        )
    elif epochs < SENSIBLE / 10:
        lines.append("So few teach colour and texture, not objects. Give it more time.")
    elif epochs < SENSIBLE:
        lines.append("Enough to see whether it helps; the same command again goes on from there.")
    else:
        lines.append("That is as long as published trainings.")
    return "\n".join(lines)


def duration(seconds: float) -> str:
    """A time in the unit that a person would take.

    >>> [duration(s) for s in (0.25, 43, 600, 8000, 300000)]
    ['0.25 s', '43 s', '10 min', '2.2 h', '3.5 days']
    """
    if seconds < 99:  # from here on, a rounded minute is within a fifth of the time
        return f"{seconds:.2g} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h" if seconds < 172800 else f"{seconds / 86400:.1f} days"
