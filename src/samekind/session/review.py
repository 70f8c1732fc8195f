"""Review: answers worth another look, because the other answers contradict them."""

from __future__ import annotations

from dataclasses import dataclass

from samekind.questions import Question
from samekind.session import Session


@dataclass(frozen=True)
class DoubtfulAnswer:
    """An answer that the learner doubts.

    Parameters
    ----------
    number : of the question. item : its position.
    said, likely : numbers of the groups that the person chose and the learner expects.
    others : how many of the nearest answered items are in the likely group.
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
    labels = session.clustering.labels
    number_of = {  # the group number of each kind that the learner knows, by any of its items
        int(kind): int(labels[item]) for item, kind in zip(doubts.rows, doubts.told, strict=True)
    }
    latest = {i: a.number for a in session.answers if a.links for i in _asked(a.question)}
    found = []
    for place in doubts.doubtful().tolist():
        item, likely = int(doubts.rows[place]), int(doubts.likely[place])
        if item in latest and likely in number_of and number_of[likely] != int(labels[item]):
            others = int(doubts.others[place])
            found.append(
                DoubtfulAnswer(latest[item], item, int(labels[item]), number_of[likely], others)
            )
    return found


def _asked(question: Question) -> tuple[int, ...]:
    """Items whose group the answer states."""
    return question.subjects() if question.many else question.items()[:1]


def describe_doubt(session: Session, answer: DoubtfulAnswer) -> str:
    """One sentence for the person."""
    names = session.clustering.names
    said, likely = (names.get(n) or f"group {n}" for n in (answer.said, answer.likely))
    item = session.collection[answer.item].id
    unnamed = answer.item in session.constraints.unconfirmed
    did = f"left {item} unmarked, so it is in" if unnamed else f"put {item} into"
    return f"You {did} {said}, but {answer.others} of the most similar items are in {likely}."
