"""Inspect a path: its items, the encoders that suit them, and how long encoding takes."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from samekind.bulk.sampled_pile import SampledCollection
from samekind.errors import InputError, SourceError, StoreError, UnknownName
from samekind.user_paths import expanded

if TYPE_CHECKING:
    from samekind.encoders.learned.weights import Kept
    from samekind.items import Collection
    from samekind.protocols import Encoder, Store
    from samekind.workspace.jobs import JobContext

N_WARM_UP, N_TIMED = 4, 24
"""Items that an encoder warms up on, and items on which it is timed at least."""
MIN_TIMED_SECONDS, MORE_TIMES = 0.5, 2
"""A shorter time is noise: then so many times as many items are tried."""
LEARN_MINUTES = 10.0
"""How long an encoder learns from the pictures by default."""
FOR_METHODS = ("images", "efficientnet-lite0-features")
"""Encoders for methods that read pictures, or what one network gives, by themselves."""
LEARNERS = ("simclr", "byol")
"""Encoders that are trained on the pictures and need no number of groups."""


def typed(text: str) -> str:
    """Clean up a path that was typed, pasted or dropped.

    >>> typed(' "/home/me/My photos" '), typed("file:///home/me/My%20photos/"), typed("tiles")
    ('/home/me/My photos', '/home/me/My photos/', 'tiles')
    """
    text = text.strip()
    if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'":
        text = text[1:-1]
    if text.lower().startswith("file://"):
        text = unquote(urlsplit(text).path)
    if not text or "\0" in text:
        raise InputError("Expected a path, got nothing. Enter the path of a folder or table.")
    return text


def items_at(path: str) -> Collection:
    """Open the items at a path; errors say why there are none."""
    from samekind.sources import SETS, open_source
    from samekind.workspace.pile import open_items

    if path in SETS:
        return open_source(path)
    place = expanded(path)
    try:
        there = place.exists()
    except OSError as problem:
        raise SourceError(f"{path!r} cannot be opened: {problem.strerror}.") from problem
    if there and not os.access(place, os.R_OK | (os.X_OK if place.is_dir() else 0)):
        raise SourceError(
            f"{path!r} is not readable for samekind (permission denied). Change its permissions, "
            "or choose another path."
        )
    collection = open_items(path)
    if len(collection) < 2:
        raise SourceError(
            f"Expected at least 2 items in {path!r}, got {len(collection)}. Add more files."
        )
    return collection


@dataclass(frozen=True)
class Earlier:
    """Earlier answers about a pile."""

    answers: int
    orientations: tuple[str, ...]
    encoder: str


def earlier(path: str) -> Earlier:
    """Read the ledger of a path, if there is one."""
    from samekind.ledger.fold import last_header
    from samekind.ledger.store import open_store
    from samekind.workspace.locations import ledger_file

    file = ledger_file(path)
    if not file.exists():
        return Earlier(0, (), "")
    try:
        store: Any = open_store(file)
        with closing(store):
            names = store.sessions()
            answers = sum(len(_answered(store, name)) for name in names)
            settings = last_header(store, "main").get("settings", {}) if "main" in names else {}
    except StoreError:
        return Earlier(0, (), "")  # reported when the pile is opened
    return Earlier(answers, tuple(names), str(settings.get("encoder") or ""))


def _answered(store: Store, name: str) -> set[int]:
    answered: set[int] = set()
    asked = 0
    for event in store.read(name):
        if event.kind in ("proposed", "volunteered"):
            asked += len(event.data["questions"])
        if event.kind == "told":
            answered.add(int(event.data["number"]))
        elif event.kind == "volunteered":  # a change by hand: question and answer in one event
            answered.add(asked)
        elif event.kind == "undone":
            answered.discard(int(event.data["number"]))
    return answered


@dataclass(frozen=True)
class EncoderOption:
    """An encoder for some items.

    Parameters
    ----------
    line : describes it.
    learns : whether it has to be trained on the pictures first.
    why_not : why it cannot be used here; empty if it can.
    """

    name: str
    line: str
    learns: bool
    why_not: str


@dataclass(frozen=True, eq=False)
class Inspection:
    """The items at a path, the encoder that would be used and why, and all others that suit."""

    path: str
    key: str
    collection: Collection
    encoder: str
    reason: str
    encoders: list[EncoderOption]
    earlier: Earlier


def inspect(path: str) -> Inspection:
    """Inspect a path without opening it."""
    from samekind.encoders import default_encoder
    from samekind.workspace.locations import ledger_file

    collection = items_at(path)
    before = earlier(path)
    if isinstance(collection, SampledCollection):
        return _inspect_store(path, collection, before)
    encoder, reason = default_encoder(collection)
    # The time is measured on these items; a guess from their number would contradict that.
    name, reason = encoder.name, re.sub(r": about [^:]* the first time$", "", reason)
    if before.encoder:
        name, reason = before.encoder, "as you chose it the last time"
    options = list(encoders_for(collection))
    return Inspection(path, ledger_file(path).stem, collection, name, reason, options, before)


def _inspect_store(path: str, collection: SampledCollection, before: Earlier) -> Inspection:
    """Inspect a store of vectors: only the encoder that made them suits."""
    from samekind.encoders import describe
    from samekind.workspace.locations import ledger_file

    own = collection.store.manifest.encoder
    option = EncoderOption(own, describe().get(own, "one of your own"), False, "")
    key, reason = ledger_file(path).stem, "it made these vectors"
    return Inspection(path, key, collection, own, reason, [option], before)


def check_encoder(name: str | None, path: str) -> None:
    """Allow built-in encoders, and the one chosen for this pile on the command line.

    A class of the user's own is a module to import, which a request must not decide.
    """
    from samekind.encoders import ENCODERS

    if name is not None and name not in ENCODERS and name != earlier(path).encoder:
        raise UnknownName("encoder", name, ENCODERS)


def encoders_for(collection: Collection) -> Iterator[EncoderOption]:
    """List the encoders that suit some items."""
    from samekind.encoders import ENCODERS, describe, make_encoder

    lines = describe()
    ready = bool(getattr(collection, "ready", False))
    for name in ENCODERS:
        learns = name in LEARNERS
        if name in FOR_METHODS or (name in ("cc", "tcl", "propos") and not learns):
            continue  # or in need of a number of groups
        if name == "vectors" and not ready:
            continue
        encoder = make_encoder(name)
        if collection.kind not in encoder.kinds:
            continue
        first = learns and not _learnt(name, collection)
        yield EncoderOption(name, lines[name], first, _why_not(name))


def _learnt(name: str, collection: Collection) -> bool:
    """Whether an encoder was already trained on this pile."""
    from samekind.encoders.learned.weights import find_kept

    return find_kept(name, collection) is not None


def learns_first(name: str | None, collection: Collection) -> bool:
    """Whether an encoder has to be trained on the pictures before it can be used."""
    if isinstance(collection, SampledCollection):
        return False
    return name in LEARNERS and collection.kind == "image" and not _learnt(name, collection)


def _why_not(name: str) -> str:
    """Say why an encoder cannot be used here; empty if it can."""
    if not name.startswith("efficientnet"):
        return ""
    from samekind.encoders.frozen.efficientnet import LITE0, LITE2

    weights = LITE2 if name.endswith("2") else LITE0
    return "" if weights.installed else "its network is not installed"


def learn_encoder(
    name: str, collection: Collection, minutes: float, context: JobContext, *, end: float
) -> Kept:
    """Train an encoder on the pictures; an interrupted training is resumed."""
    from samekind.encoders.learned.training import Learning
    from samekind.training.progress import Monitor, TrainingReport

    report: list[Callable[[TrainingReport], None]] = [lambda told: context.check()]
    monitor = Monitor(report=lambda told: report[0](told), stop=context.stop, every=2)
    reading = context.progress("Read", "pictures", end=end * 0.1)
    learning = Learning.of(name, collection, monitor=monitor, progress=reading)
    context.tell(end * 0.1, "Measuring how fast this machine learns …")
    target = learning.target(minutes=minutes)

    def tell(told: TrainingReport) -> None:
        done = learning.begun
        share = end * (0.1 + 0.9 * done / max(target.epochs, 1e-9))
        context.tell(share, f"Learning from your pictures: epoch {done:.1f} of {target.epochs:.1f}")

    report[0] = tell
    return learning.run(target)


@dataclass(frozen=True)
class Measured:
    """The estimated time of an encoder for a pile, measured on a few items."""

    seconds: float
    per_item: float
    tried: int
    kept: int
    words: str


def measured(collection: Collection, name: str) -> Measured:
    """Time an encoder on a few items; cached items need no time."""
    from samekind.encoders import encode, named_encoder
    from samekind.encoders.cached_items import cached_positions
    from samekind.workspace.locations import cache_folder

    n = len(collection)
    if isinstance(collection, SampledCollection):
        return Measured(0.0, 0.0, 0, n, "A moment: the vectors are there already.")
    if getattr(collection, "matrix", None) is not None:
        return Measured(0.0, 0.0, 0, 0, "A moment: the rows are already numbers.")
    encoder, _ = named_encoder(name, collection)
    kept = cached_positions(collection, encoder, cache_folder())
    known = set(kept or ())
    missing = [i for i in range(n) if i not in known]
    if not missing:
        return Measured(0.0, 0.0, 0, n, _in_words(0.0, n, n, 0))
    picked = missing[:: max(1, len(missing) // (N_WARM_UP + N_TIMED))][: N_WARM_UP + N_TIMED]
    split = min(N_WARM_UP, len(picked) // 2)
    warm, tried = picked[:split], picked[split:]
    started = time.monotonic()
    if warm:
        _tried(collection, encoder, warm)
    loading = time.monotonic() - started
    used, done = set(picked), 0
    while True:
        started = time.monotonic()
        encode(collection.take(tried), encoder, cache=cache_folder())  # it need not be done again
        spent, done = time.monotonic() - started, done + len(tried)
        rest = [i for i in missing if i not in used]
        if spent >= MIN_TIMED_SECONDS or not rest:
            break
        wanted = MORE_TIMES * len(tried)
        tried = rest[:: max(1, len(rest) // wanted)][:wanted]
        used.update(tried)
    per_item = spent / len(tried)
    seconds = loading + per_item * (len(missing) - done)
    words = _in_words(seconds, n, len(known), done)
    return Measured(seconds, per_item, done, len(known), words)


def _tried(collection: Collection, encoder: Encoder, positions: list[int]) -> None:
    from samekind.encoders import encode

    with suppress(SourceError):  # the first few cannot be read; the others decide
        encode(collection.take(positions), encoder)


def _in_words(seconds: float, n: int, kept: int, tried: int) -> str:
    from samekind.encoders.learned.plan import duration

    if kept >= n:
        return "A moment: the vectors are in the cache."
    time_words = "A few seconds" if seconds < 5 else f"About {duration(seconds)}"
    rest = f"; {kept:,} of them are in the cache" if kept else ""
    return f"{time_words} for {n:,} items, measured on {tried} of them here{rest}."
