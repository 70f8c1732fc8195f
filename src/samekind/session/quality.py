"""Quality: state from the answers alone how well the groups fit what the person means.

One function puts the statement into words, for the page, the terminal and reports:
:func:`describe_quality`. The accuracy comes from :mod:`samekind.session.accuracy`. Answers that
follow no wish are noticed by :mod:`samekind.session.attention`, and then nothing is stated.

The expected gain of more answers is estimated from how many items the latest ones moved, and from
how many are out of place. Everything is computed from the ledger, so a session says the same after
it is opened again.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from samekind.clustering import Clustering
from samekind.constraints import Constraints
from samekind.ledger.fold import LedgerState
from samekind.ledger.records import Refitted
from samekind.questions import UNSURE, Answer
from samekind.questions.wording import plural
from samekind.session.accuracy import (
    N_LATEST_PLACEMENTS,
    Accuracy,
    estimate,
    latest_placements,
)
from samekind.session.attention import Attention, attention
from samekind.session.expectations import clearness
from samekind.session.refit import share_moved
from samekind.session.tally import Tally

MIN_CHECKS = 5
"""Random checks by which two clusterings can be compared."""
N_MORE_ANSWERS = 10
"""Number of further answers for which the gain is estimated."""
N_LATEST_ANSWERS = 10
"""Latest answers whose refits are considered."""
GAIN_PER_MOVE, GAIN_PER_MISPLACED = 0.05, 0.05
"""Items that ten more answers put in place, per item that the latest ten moved, and per item that
is out of place. Measured in simulated sessions (docs/lab-notes.md)."""
MIN_SHARE = 0.93
"""Accuracy from which stopping is suggested at all."""
SETTLED = ((0.84, 0.01), (0.78, 0.003))
"""Lower end of the accuracy, and share of the items that the latest ten answers moved, with which
the groups are settled: in simulations none of those gained more than 1 % in 20 more answers."""


@dataclass(frozen=True)
class Quality:
    """The share of random checks that agree with groups learnt without them; 95 % interval.

    For comparing two clusterings. The statement about a session is :class:`Statement`.
    """

    checks: int
    agreed: int
    low: float
    high: float

    @property
    def share(self) -> float:
        """The estimate."""
        return self.agreed / self.checks

    @classmethod
    def of(cls, checks: Sequence[Answer], labels: NDArray[np.intp]) -> Quality | None:
        """Compare the answers to checks with groups (n,) learnt without them; None: too few checks.

        The Clopper-Pearson interval is exact and never too short.
        """
        if len(checks) < MIN_CHECKS:
            return None
        agreed = sum(_agrees(answer, labels) for answer in checks)
        return cls(len(checks), agreed, *interval(agreed, len(checks)))


def random_checks(answers: Iterable[Answer]) -> list[Answer]:
    """The answers to random checks, without those that are unsure."""
    return [a for a in answers if a.question.at_random and a.choice != UNSURE]


def constraints_without(
    known: Constraints, items: Collection[int], rows: NDArray[np.intp] | None = None
) -> Constraints:
    """The constraints as if these items had never been asked about.

    What they taught about other items stays: which kinds there are, and that these differ. With
    `rows` (ascending, and including all items in answers) positions are those among the rows.
    """
    out = set(items)
    touched = known.touched
    places = touched if rows is None else np.searchsorted(rows, touched)
    first: dict[int, int] = {}
    links: list[tuple[int, int, bool]] = []
    for item, place in zip(touched.tolist(), places.tolist(), strict=True):
        if item in out:
            continue
        component = int(known.components[item])
        if component in first:
            links.append((first[component], place, True))
        first.setdefault(component, place)
    for a, b in known.component_links().tolist():
        if a in first and b in first:
            links.append((first[a], first[b], False))
    return Constraints.from_links(known.n_items if rows is None else len(rows), links)


def _agrees(answer: Answer, labels: NDArray[np.intp]) -> bool:
    """Whether the groups put the item where the person put it."""
    question, choice = answer.question, answer.choice
    own = labels[question.items()[0]]
    same = {
        c: labels[shown[0]] == own for c in question.choices() if (shown := question.exemplars(c))
    }
    return bool(same[choice] if choice in same else not any(same.values()))


def interval(agreed: int, checks: int, error: float = 0.05) -> tuple[float, float]:
    """The Clopper-Pearson interval for a share.

    >>> [round(end, 3) for end in interval(9, 10)]
    [0.555, 0.997]
    """
    from scipy.stats import beta

    low = beta.ppf(error / 2, agreed, checks - agreed + 1) if agreed else 0.0
    high = beta.ppf(1 - error / 2, agreed + 1, checks - agreed) if agreed < checks else 1.0
    return float(low), float(high)


@dataclass(frozen=True)
class Statement:
    """What can be said about a session.

    Parameters
    ----------
    estimate : None while there are too few placements.
    checks, agreed : random checks, and how many were answered as the groups implied.
    left : items that could still be asked about; None: not known.
    """

    estimate: Accuracy | None
    attention: Attention
    checks: int
    agreed: int
    left: int | None = None

    @property
    def accuracy(self) -> Accuracy | None:
        """The estimate, unless the same choice was repeated: then it proves nothing."""
        return None if self.attention.is_monotone else self.estimate

    def as_json(self) -> dict[str, Any] | None:
        """The accuracy as plain JSON; None while nothing can be said."""
        if self.accuracy is None:
            return None
        shares = {name: getattr(self.accuracy, name) for name in ("share", "low", "high", "slips")}
        counts = {"checks": self.checks, "agreed": self.agreed}
        rounded = {name: round(share, 4) for name, share in shares.items()}
        facts = {**counts, "placements": self.accuracy.placements, **rounded}
        return {**facts, "words": describe_share(rounded)}


class Statements:
    """The statement about the answers in a ledger; computed again only when they have changed.

    What that takes does not grow with the number of answers.
    """

    def __init__(self, ledger: LedgerState) -> None:
        self._ledger, self._tally = ledger, Tally()
        self._latest = statement(())

    def now(self) -> tuple[Statement, Tally]:
        """The statement about the answers in force, and their counts."""
        answers = self._ledger.answers.values()
        if self._tally.follow(self._ledger):
            self._latest = _statement(lambda: reversed(answers), len(answers), self._tally)
        return self._latest, self._tally


def statement(answers: Sequence[Answer], n_items: int = 0) -> Statement:
    """State how well the groups of a pile fit, as far as these answers tell.

    Parameters
    ----------
    n_items : in the pile; 0: not known, and so many that the answers fix hardly any.
    """
    return _statement(lambda: reversed(answers), len(answers), Tally.of(answers, n_items))


def _statement(
    latest_first: Callable[[], Iterator[Answer]], n_answers: int, tally: Tally
) -> Statement:
    wanted = min(tally.placements, N_LATEST_PLACEMENTS)
    latest = latest_placements(latest_first(), n_answers, wanted)
    n_items = tally.fixed.n_items
    n_fixed = tally.fixed.count() if n_items else 0
    found = estimate(latest, tally.placements, n_items=n_items, n_fixed=n_fixed)
    judged = attention(latest_first())
    return Statement(found, judged, tally.checks, tally.agreed, tally.left)


def moved_lately(refits: Sequence[Refitted]) -> float | None:
    """Share of the items that the refits of the latest ten answers moved; None: not known yet.

    A refit counts if any of its answers is still in force, as far as the last one knew.
    """
    if not refits or (in_force := refits[-1].answers) < N_LATEST_ANSWERS:
        return None
    answers, moved = 0, 0.0
    for refit, before in pairwise(reversed(refits)):
        if refit.moved is None:  # the groups began anew
            return None
        if min(refit.answers, in_force) > before.answers:
            answers, moved = answers + refit.answers - before.answers, moved + refit.moved
        in_force = min(in_force, before.answers)
        if answers >= N_LATEST_ANSWERS:
            return moved * N_LATEST_ANSWERS / answers
    return None


def quality_summary(
    found: Statement, clustering: Clustering, moved: float | None = None
) -> dict[str, Any]:
    """Summarise the quality as plain JSON.

    ``quality`` is None while nothing can be said. ``moved`` is the share of items that the last
    refit moved. ``gain`` is the expected gain of more answers (see :func:`expected_gain`).
    ``notice`` is a sentence about answers worth another look. ``enough`` suggests to stop.

    Parameters
    ----------
    moved : the share of items that the latest ten answers moved.
    """
    change = share_moved(clustering)
    gain = None
    if not found.attention.notice and found.left != 0:
        gain = expected_gain(moved, found.accuracy, len(clustering.labels))
    return {
        "quality": found.as_json(),
        "moved": None if change is None else round(change, 4),
        "gain": gain,
        "notice": found.attention.notice,
        "enough": bool(gain is not None and gain["little"] and found.attention.is_enough),
    }


def expected_gain(
    moved: float | None, accuracy: Accuracy | None, n_items: int
) -> dict[str, Any] | None:
    """Estimate how many items ten more answers would put in place, as plain JSON; None: unknown.

    ``little`` tells whether that is hardly worth it: see :data:`SETTLED`.
    """
    if moved is None or accuracy is None:
        return None
    share = GAIN_PER_MOVE * moved + GAIN_PER_MISPLACED * (1 - accuracy.share)
    settled = any(accuracy.low >= low and moved <= most for low, most in SETTLED)
    return {
        "answers": N_MORE_ANSWERS,
        "items": _rounded(share * n_items),
        "share": round(share, 4),
        "little": accuracy.share >= MIN_SHARE and settled,
    }


def describe_quality(summary: Mapping[str, Any]) -> str:
    """The summary in words for a person; empty while nothing is known.

    >>> describe_quality({"quality": {"words": "About 97 % right (91 to 99 %)"},
    ...     "gain": {"answers": 10, "items": 2}, "enough": False, "notice": ""})
    'About 97 % right (91 to 99 %). 10 more questions would change about 2 items.'
    >>> describe_quality({"quality": None, "gain": None, "enough": False, "notice": ""})
    ''
    """
    sentences = [summary["notice"]] if summary["notice"] else []
    if summary["quality"] is not None:
        sentences.append(f"{summary['quality']['words']}.")
    if (gain := summary["gain"]) is not None:
        change = f"change about {plural(gain['items'], 'item')}"
        change = change if gain["items"] else "hardly change anything"
        sentences.append(f"{gain['answers']} more questions would {change}.")
    if summary["enough"]:
        sentences.append("You can stop here.")
    return " ".join(sentences)


def describe_share(found: Mapping[str, Any]) -> str:
    """A share and its interval in words, the same wherever a share of right items is stated.

    >>> describe_share({"share": 0.999, "low": 0.957, "high": 0.9999})
    'Over 99 % right (95 to 100 %)'
    """
    low, high = int(100 * found["low"]), min(100, int(np.ceil(100 * found["high"])))
    about = "Over 99" if found["share"] >= 0.995 else f"About {100 * found['share']:.0f}"
    return f"{about} % right ({low} to {high} %)"


def group_fits(clustering: Clustering, accuracy: Accuracy | None) -> dict[int, float | None]:
    """The expected share of members that belong, by group; None while nothing can be said.

    Weighted by their sizes, the shares of all groups are the accuracy.
    """
    if accuracy is None:
        return dict.fromkeys(clustering.numbers)

    def computed() -> dict[int, float | None]:
        columns = np.searchsorted(clustering.numbers, clustering.labels)
        right = accuracy.of_items(clearness(clustering, np.arange(len(columns))))
        shares = np.bincount(columns, right) / np.maximum(np.bincount(columns), 1)
        return {k: float(share) for k, share in zip(clustering.numbers, shares, strict=True)}

    return clustering.memo(("fits", accuracy), computed)


def _rounded(items: float) -> int:
    """Round to one significant digit, which is all that is known."""
    whole = round(items)
    step = 10 ** (len(str(whole)) - 1)
    return int(round(whole / step) * step)
