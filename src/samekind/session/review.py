"""Answers that are worth another look, because all other answers speak against them."""

from __future__ import annotations

from dataclasses import dataclass

from samekind.session import Session


@dataclass(frozen=True)
class Odd:
    """An answer that surprises, in the words of the groups as they stand.

    Parameters
    ----------
    number : of the question. item : position. said, likely : numbers of the groups.
    others : how many of the nearest answered items are in the likely group.
    """

    number: int
    item: int
    said: int
    likely: int
    others: int


def odd_answers(session: Session) -> list[Odd]:
    """Answers that the learner doubts, the most surprising first; none for learners that trust all.

    Nothing was changed: the items stay where the person put them until the person says otherwise.
    """
    doubts = getattr(session.model, "reliability_", None)
    if doubts is None:
        return []
    labels = session.clustering.labels
    number_of = {  # of each kind that the learner knows, by any item told to be of that kind
        int(kind): int(labels[item]) for item, kind in zip(doubts.rows, doubts.told, strict=True)
    }
    latest = {a.question.items()[0]: a.number for a in session.answers if a.links}
    found = []
    for place in doubts.doubtful().tolist():
        item, likely = int(doubts.rows[place]), int(doubts.likely[place])
        if item in latest and likely in number_of and number_of[likely] != int(labels[item]):
            others = int(doubts.others[place])
            found.append(Odd(latest[item], item, int(labels[item]), number_of[likely], others))
    return found


def in_words(session: Session, odd: Odd) -> str:
    """One sentence for the person."""
    names = session.clustering.names
    said, likely = (names.get(n) or f"group {n}" for n in (odd.said, odd.likely))
    item = session.collection[odd.item].id
    return (
        f"You put {item} into {said}, but {odd.others} of the answered items most like it are in "
        f"{likely}."
    )
