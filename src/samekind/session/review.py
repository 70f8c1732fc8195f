"""Review: answers worth another look, because the other answers contradict them.

Where the groups are good, a surprise is probably a slip. Where they are not, right answers surprise
as well, and only those that nearly all others contradict are listed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from samekind.questions import NONE, Answer
from samekind.session import Session

GOOD = 0.85
"""Accuracy from which surprises are taken for slips."""
ODD = 0.1
"""Probability, by the other answers, below which an answer is odd."""
MIN_WITNESSES = 5
"""Of the 15 nearest answered items, those that must be in the likely group."""
KINDS_FOUND = 15
"""Answers after which "none" is surprising."""
FEW = 3
"""Items below which a kind may have been opened by mistake."""


@dataclass(frozen=True)
class DoubtfulAnswer:
    """An answer that the learner doubts.

    Parameters
    ----------
    number : of the question. item : its position.
    said, likely : numbers of the groups that the person chose and the learner expects.
    others : how many of the nearest answered items are in the likely group; 0: nothing like the
        item has come since it was said to belong to no group.
    """

    number: int
    item: int
    said: int
    likely: int
    others: int


def doubtful_answers(session: Session) -> list[DoubtfulAnswer]:
    """Answers that the learner doubts, the most surprising first; none if it trusts all answers.

    The items stay where the person put them until the person changes the answer.
    """
    doubts = getattr(session.model, "reliability_", None)
    if doubts is None:
        return []
    accuracy = session.statement.estimate
    good = accuracy is not None and accuracy.share >= GOOD
    asked = latest_answers(session.answers)
    found = list(_contradicted(session, doubts, asked, good))
    if good:
        listed = {one.number for one in found}
        found += [one for one in _opened_alone(session, asked) if one.number not in listed]
    return found


def latest_answers(answers: Sequence[Answer]) -> dict[int, tuple[int, Answer]]:
    """The latest answer about each item, with its position; one about a grid is about each tile."""
    return {
        item: (position, answer)
        for position, answer in enumerate(answers)
        if answer.links
        for item in answer.question.subjects()[: None if answer.question.many else 1]
    }


def _contradicted(
    session: Session, doubts: Any, asked: dict[int, tuple[int, Answer]], good: bool
) -> Iterator[DoubtfulAnswer]:
    """Answers that the other ones contradict."""
    labels = session.clustering.labels
    number_of = {  # the group number of each kind that the learner knows, by any of its items
        int(kind): int(labels[item]) for item, kind in zip(doubts.rows, doubts.told, strict=True)
    }
    order = doubts.agreed.argsort(kind="stable").tolist()
    strict = set(doubts.doubtful().tolist())
    for place in order:
        item, likely = int(doubts.rows[place]), int(doubts.likely[place])
        if item not in asked or likely not in number_of or likely == int(doubts.told[place]):
            continue
        agreed, others = float(doubts.agreed[place]), int(doubts.others[place])
        odd = place in strict or (good and agreed < ODD and others >= MIN_WITNESSES)
        said = int(labels[item])
        if odd and number_of[likely] != said:
            _, answer = asked[item]
            yield DoubtfulAnswer(answer.number, item, said, number_of[likely], max(others, 1))


def _opened_alone(
    session: Session, asked: dict[int, tuple[int, Answer]]
) -> Iterator[DoubtfulAnswer]:
    """Late answers "none of these" about items that a group was expected for, still alone."""
    labels, known = session.clustering.labels, session.constraints
    for item, (position, answer) in asked.items():
        question, expected = answer.question, answer.question.expected
        if answer.choice != NONE or expected is None or position < KINDS_FOUND:
            continue
        shown = question.exemplars(expected.choice)
        if shown and max(item, shown[0]) < len(labels) and len(known.component(item)) < FEW:
            said, likely = int(labels[item]), int(labels[shown[0]])
            if said != likely:
                yield DoubtfulAnswer(answer.number, item, said, likely, 0)


def describe_doubt(session: Session, answer: DoubtfulAnswer) -> str:
    """One sentence for the person."""
    names = session.clustering.names
    said, likely = (names.get(n) or f"group {n}" for n in (answer.said, answer.likely))
    item = session.collection[answer.item].id
    if not answer.others:
        return (
            f"You put {item} into a group of its own, but it looks like {likely}, and nothing "
            "else has joined it."
        )
    unnamed = answer.item in session.constraints.unconfirmed
    did = f"left {item} unmarked, so it is in" if unnamed else f"put {item} into"
    return f"You {did} {said}, but {answer.others} of the most similar items are in {likely}."
