"""Polish: train a network on pictures and answers, and compare it before it is used.

Some answers are held out and never shown to the network, so that the comparison is fair: the random
checks if there are enough of them, or else a part of the answers.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from samekind.clustering import Clustering
from samekind.constraints import Constraints
from samekind.errors import InputError
from samekind.questions.wording import plural
from samekind.registry import with_blocks
from samekind.session.quality import (
    MIN_CHECKS,
    Quality,
    constraints_without,
    interval,
    random_checks,
)
from samekind.session.refit import FittedGroups, answered_weight, fit_clusterer

if TYPE_CHECKING:
    from samekind.items import Collection
    from samekind.questions import Answer
    from samekind.session import Session
    from samekind.training.progress import TrainingReport
    from samekind.workspace.jobs import JobContext
    from samekind.workspace.polish_methods import Training

ASIDE = 0.15
"""Share of the answers that is held out if there are too few random checks."""
FEATURES = 0.6
"""Share of the time for features learnt from the pictures alone."""
MOST_MOVED = 24
"""Items shown as examples of those that change their group."""
Ints = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Aside:
    """Held-out answers, which the network never sees, and the constraints left to learn from."""

    words: str
    learnt: Constraints
    score: Callable[[Ints], tuple[int, int, float, float] | None]


def kept_aside(session: Session, known: Constraints) -> Aside:
    """Hold out the random checks, or a part of all answers if these are too few."""
    n = len(session.collection)
    there = [answer for answer in known.answers if max(answer.question.items()) < n]
    gone = [int(i) for i in known.touched if i >= n]
    checks = random_checks(there)
    if len(checks) >= MIN_CHECKS:
        items = [answer.question.items()[0] for answer in checks]

        def by_checks(labels: Ints) -> tuple[int, int, float, float] | None:
            found = Quality.of(checks, labels)
            return None if found is None else (found.agreed, found.checks, found.low, found.high)

        words = f"{len(checks)} random checks"
        return Aside(words, constraints_without(known, [*items, *gone]), by_checks)
    saying = [answer for answer in there if answer.links]
    rng = np.random.default_rng((session.seed, 7))
    aside = [saying[int(i)] for i in rng.permutation(len(saying))[: int(ASIDE * len(saying))]]
    items = sorted({answer.question.items()[0] for answer in aside})

    def by_answers(labels: Ints) -> tuple[int, int, float, float] | None:
        agreed = sum(_honoured(answer, labels) for answer in aside)
        return (agreed, len(aside), *interval(agreed, len(aside))) if aside else None

    words = f"{len(aside)} held-out answers"
    return Aside(words, constraints_without(known, [*items, *gone]), by_answers)


def _honoured(answer: Answer, labels: Ints) -> bool:
    """Whether the groups agree with an answer."""
    return all((labels[link.a] == labels[link.b]) == link.same for link in answer.links)


def polish(
    session: Session, collection: Collection, wish: Training, minutes: float, context: JobContext
) -> tuple[NDArray[np.float32], dict[str, Any]]:
    """Train a network; return its vectors of all items, and the comparison as plain JSON."""
    from samekind.workspace.polish_methods import fit_in_time

    started = time.monotonic()
    known, before = session.constraints, session.clustering
    aside = kept_aside(session, known)
    start, size = features(collection, FEATURES * minutes, context, end=FEATURES * 0.9)
    pictures = _pictures(collection, size, context)
    tune = max(1.0, 60 * minutes * (1 - FEATURES))
    report = _report(wish.learner, tune, context)
    context.tell(0.6, f"Training {wish.learner} on your answers …")
    model = wish.network(start, tune, session.seed, report, context.stop)
    fit_in_time(model, pictures, aside.learnt, context.stop)
    context.tell(0.93, "Comparing with the current groups …")
    vectors = _unit(model.space_)
    own = fit_clusterer(session.clusterer, session.X, aside.learnt, session.seed).labels_
    from sklearn.base import clone

    alone = with_blocks(clone(session.clusterer), ())  # polished vectors are of one kind
    new = fit_clusterer(alone, vectors, aside.learnt, session.seed).labels_
    context.tell(0.96, "Grouping all items …")
    groups = FittedGroups.of(fit_clusterer(alone, vectors, known, session.seed), vectors)
    after = before.followed_by(*groups, weight=answered_weight(known))
    facts = {
        "method": wish.method,
        "learner": wish.learner,
        "parameters": dict(wish.parameters),
        "answers": len(known.answers),
        "seconds": round(time.monotonic() - started, 1),
        "kept_aside": aside.words,
        "before": aside.score(own),
        "after": aside.score(new),
        **compared(before, after, collection, session.seed),
    }
    return vectors, facts


def compared(
    before: Clustering, after: Clustering, collection: Collection, seed: int
) -> dict[str, Any]:
    """Describe what would change as plain JSON: counts per pair of groups, and some items."""
    changed = np.flatnonzero(before.labels != after.labels)
    pairs, counts = np.unique(
        np.stack([before.labels, after.labels]), axis=1, return_counts=True
    )  # (2, m)
    flows = [[int(a), int(b), int(c)] for (a, b), c in zip(pairs.T, counts, strict=True)]
    some = np.random.default_rng(seed).permutation(changed)[:MOST_MOVED]
    return {
        "changed": len(changed),
        "items": len(before.labels),
        "groups_before": _groups(before),
        "groups_after": _groups(after),
        "flows": sorted(flows, key=lambda flow: -flow[2]),
        "moved": [
            [collection.id(int(i)), int(before.labels[i]), int(after.labels[i])] for i in some
        ],
    }


def _groups(clustering: Clustering) -> list[list[Any]]:
    sizes = clustering.sizes()
    order = sorted(sizes, key=lambda number: -sizes[number])
    return [[number, clustering.name(number), sizes[number]] for number in order]


def features(
    collection: Collection, minutes: float, context: JobContext, *, end: float
) -> tuple[str, int]:
    """Return a network trained on these pictures, now or earlier, and the size of its pictures."""
    from samekind.encoders.learned.weights import find_kept
    from samekind.workspace.inspection import learn_encoder

    kept = find_kept("simclr", collection)
    if kept is None or kept.pile != collection.fingerprint:
        kept = learn_encoder("simclr", collection, minutes, context, end=end)
    return str(kept.path), int(kept.size)


def _pictures(collection: Collection, size: int, context: JobContext) -> NDArray[np.uint8]:
    from samekind.encoders import encode
    from samekind.encoders.pixels import Images
    from samekind.workspace.locations import cache_folder

    progress = context.progress("Read", "pictures", begin=0.55, end=0.6)
    read = encode(collection, Images(size=size), cache=cache_folder(), progress=progress)
    if read.failed:
        first = read.failed[0]
        raise InputError(
            f"{plural(len(read.failed), 'picture')} can no longer be read (the first: "
            f"{first.id!r}: {first.reason}). Open the pile again, then polish."
        )
    pictures: Any = read.X
    return np.asarray(pictures, dtype=np.uint8).reshape(-1, 3, size, size)


def _report(learner: str, seconds: float, context: JobContext) -> Callable[[TrainingReport], None]:
    """Tell the page which learner trains, and how far it is."""
    started = time.monotonic()

    def report(told: TrainingReport) -> None:
        passed = time.monotonic() - started
        share = told.share if told.share is not None else passed / (passed + seconds)
        context.tell(
            0.6 + 0.33 * min(1.0, share), f"Training {learner} on your answers, step {told.step:,}"
        )

    return report


def _unit(space: NDArray[Any]) -> NDArray[np.float32]:
    vectors = np.asarray(space, dtype=np.float32)
    vectors = vectors - vectors.mean(axis=0)
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.maximum(length, 1e-9), dtype=np.float32)


def verdict(before: tuple[int, int] | None, after: tuple[int, int] | None) -> str:
    """Sum up the comparison in one sentence.

    >>> verdict((17, 20), (16, 20))
    'The current groups agree better with the held-out answers: keep them.'
    """
    if before is None or after is None or before[1] < MIN_CHECKS:
        return "There are too few answers to say which is better; look at what would change."
    old, new, of = before[0], after[0], before[1]
    if new < old:
        return "The current groups agree better with the held-out answers: keep them."
    if new == old:
        return "Both agree equally well with the held-out answers; look at what would change."
    if interval(new, of)[0] > old / of:
        return "The polished groups agree clearly better with the held-out answers."
    return (
        "The polished groups agree somewhat better with the held-out answers, "
        "but that may be chance."
    )
