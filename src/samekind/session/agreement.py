"""Agreement: how far several people mean the same, and how often each of them is probably wrong.

Agreement is measured on questions that two people have answered, by Krippendorff's alpha: 1 is
perfect agreement, 0 is what chance would give. How often a person errs is learnt from all answers:
each is compared with what the answers about other items predict for it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from samekind.questions import UNSURE, Answer
from samekind.questions.wording import plural
from samekind.session.quality import interval
from samekind.session.session import Session

PRIOR_ANSWERS = 10.0
"""How many answers the belief that a person errs as often as everybody else is worth."""
EM_STEPS = 20
MIN_KIND = 3
"""Answered items that a kind needs to be one that a wrong answer may name."""


@dataclass(frozen=True)
class PersonRecord:
    """One person's part in an orientation.

    Parameters
    ----------
    answers : given first. second_opinions : answers to questions that somebody else had answered.
    shared : questions that somebody else answered as well. agreed : those with equal answers.
    error : the learned share of wrong answers; None while too little is known.
    judged : answers that this was learnt from.
    """

    name: str
    answers: int
    second_opinions: int
    shared: int
    agreed: int
    error: float | None
    judged: int


@dataclass(frozen=True)
class Agreement:
    """Agreement between people.

    Parameters
    ----------
    shared : questions with answers of two people or more. agreed : those with equal answers.
    low, high : the 95 % interval of the share that agrees; None without shared questions.
    alpha : Krippendorff's alpha for nominal data; None while it is not defined.
    """

    people: tuple[PersonRecord, ...]
    shared: int
    agreed: int
    low: float | None
    high: float | None
    alpha: float | None


def agreement(session: Session) -> Agreement:
    """Compare the people who answer in a session."""
    first, second = session.answers, session.second_opinions
    units = shared_questions(session)
    equal = {number: len(set(said.values())) == 1 for number, (_, said) in units.items()}
    errors = error_rates(session)
    n_first = Counter(answer.by for answer in first)
    n_second = Counter(answer.by for answer in second)
    records = []
    for name in sorted({*n_first, *n_second}):
        own = [number for number, (_, said) in units.items() if name in said]
        error, judged = errors.get(name, (None, 0))
        counts = (n_first[name], n_second[name], len(own), sum(equal[n] for n in own))
        records.append(PersonRecord(name, *counts, error, judged))
    agreed = sum(equal.values())
    low, high = interval(agreed, len(units)) if units else (None, None)
    alpha = stratified_alpha((kind, list(said.values())) for kind, said in units.values())
    return Agreement(tuple(records), len(units), agreed, low, high, alpha)


def describe_agreement(found: Agreement) -> str:
    """The agreement in words for a person; empty for one person alone."""
    if len(found.people) < 2:
        return ""
    if not found.shared:
        return "No question has been answered by two people yet."
    asked = plural(found.shared, "question")
    were = "was" if found.shared == 1 else "were"
    words = f"{asked} {were} answered by two people, who agreed on {found.agreed}"
    return words + ("." if found.alpha is None else f" (Krippendorff's alpha {found.alpha:.2f}).")


def shared_questions(session: Session) -> dict[int, tuple[str, dict[str, Hashable]]]:
    """Questions that two people have answered: their kind, and what each person meant.

    "Not sure" says nothing, so it does not count.
    """
    said: dict[int, dict[str, Hashable]] = {}
    kinds: dict[int, str] = {}
    for answer in (*session.answers, *session.second_opinions):
        if answer.choice != UNSURE:
            kinds[answer.number] = answer.question.kind
            said.setdefault(answer.number, {})[answer.by] = meaning(session, answer)
    return {n: (kinds[n], people) for n, people in said.items() if len(people) > 1}


def meaning(session: Session, answer: Answer) -> Hashable:
    """What an answer means independently of its place on the screen: a group, or the choice."""
    labels = session.clustering.labels
    shown = answer.question.exemplars(answer.choice)
    if shown and shown[0] < len(labels):
        return int(labels[shown[0]])
    return answer.choice


def krippendorff_alpha(units: Iterable[Sequence[Hashable]]) -> float | None:
    """Krippendorff's alpha for nominal values; None if there is nothing to compare.

    Parameters
    ----------
    units : for each unit the values that people gave it; missing values are left out.

    >>> krippendorff_alpha([["a", "a"], ["b", "b"], ["a", "b"], ["a"]])
    0.4444444444444444
    """
    return stratified_alpha(("", values) for values in units)


def stratified_alpha(units: Iterable[tuple[str, Sequence[Hashable]]]) -> float | None:
    """Krippendorff's alpha of units of several kinds, whose values cannot be confused.

    The disagreement by chance is that within each kind. With one kind it is the usual alpha.
    """
    kinds: dict[str, list[Sequence[Hashable]]] = {}
    for kind, values in units:
        if len(values) > 1:
            kinds.setdefault(kind, []).append(values)
    observed = expected = 0.0
    for own in kinds.values():
        total = Counter(value for values in own for value in values)
        n = total.total()
        observed += sum(_unequal_pairs(Counter(values)) / (len(values) - 1) for values in own)
        expected += _unequal_pairs(total) / (n - 1)
    return 1 - observed / expected if expected else None


def _unequal_pairs(counts: Mapping[Hashable, int]) -> int:
    """Ordered pairs of different values."""
    n = sum(counts.values())
    return n * n - sum(count * count for count in counts.values())


def error_rates(session: Session) -> dict[str, tuple[float, int]]:
    """The learned share of wrong answers of each person, and how many answers that is based on.

    Empty while the learner has too few answers to judge any, or trusts all of them.
    """
    doubts: Any = getattr(session.model, "reliability_", None)
    if doubts is None:
        return {}
    by = {a.question.items()[0]: a.by for a in session.answers if a.links}
    judged = (doubts.agreed < 1.0) & np.isin(doubts.rows, list(by))
    people = np.array([by.get(int(row), "") for row in doubts.rows], dtype=object)
    n_kinds = max(2, int((np.bincount(doubts.told) >= MIN_KIND).sum()))
    found = {}
    for name in sorted(set(people[judged])):
        own = doubts.agreed[judged & (people == name)]
        found[name] = (learned_error(own, n_kinds, doubts.error), len(own))
    return found


def learned_error(agreed: NDArray[Any], n_kinds: int, prior: float) -> float:
    """Estimate a person's share of wrong answers by expectation-maximisation.

    Parameters
    ----------
    agreed : (s,) how strongly the other answers suggest the group that each answer told.
    prior : the share of everybody, from which few answers lead away only a little.
    """
    error = prior
    for _ in range(EM_STEPS):
        wrong = error * (1 - agreed) / (n_kinds - 1)
        right = (1 - error) * agreed
        doubt = wrong / (right + wrong + 1e-12)
        error = float((PRIOR_ANSWERS * prior + doubt.sum()) / (PRIOR_ANSWERS + len(agreed)))
    return error
