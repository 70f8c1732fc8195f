"""Summaries of a session as plain JSON: its counts, and the header that begins its ledger."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from samekind import __version__
from samekind.errors import ChangedCollection
from samekind.questions import UNSURE, Question
from samekind.session.quality import Statement, quality_summary
from samekind.session.tally import Tally
from samekind.session.visibility import unseen_summary

if TYPE_CHECKING:
    from samekind.session.session import Session


def summarise(
    session: Session, found: Statement, tally: Tally, moved: float | None
) -> dict[str, Any]:
    """Count answers, groups and conflicts, and state the quality.

    Parameters
    ----------
    found : what the answers say about the quality. tally : their counts.
    moved : the share of items that the latest answers moved.
    """
    clustering = session.clustering
    return {
        "answers": tally.answers,
        "choices": {choice: tally.choices[choice] for choice in sorted(tally.choices)},
        "unsure": tally.choices[UNSURE],
        "seconds": tally.seconds,
        "placed": len(session.constraints.touched),
        "conflicts": len(session.constraints.conflicts),
        "groups": clustering.n_groups,
        "items": len(session.collection),
        "snapshot": clustering.snapshot,
        "until_refit": max(0, session.refit_every - session.changes),
        "gone": missing_items(session),
        "renamed": dict(session.positions.renamed),
        "unseen": unseen_summary(session.model),
        **quality_summary(found, clustering, moved),
    }


def missing_items(session: Session) -> list[str]:
    """The ids of items with answers that are not in the collection.

    Ids of which a refit remembers only the group are left out: they have no stamp by which a
    renamed file could be recognised, so they may well be there, and no answer speaks of them.
    """
    gone = session.positions.gone
    if not gone:
        return []
    answered = {i for answer in session.answers for i in answer.question.items()}
    return sorted(id for id, place in gone.items() if place in answered)


def header_of(session: Session) -> dict[str, Any]:
    """The data of an ``opened`` event."""
    return {
        "version": __version__,
        "collection": session.collection.name,
        "n_items": len(session.collection),
        "fingerprint": session.collection.fingerprint,
        "seed": session.seed,
        "settings": session.settings,
    }


def check_items(session: Session, asked: Iterable[Question]) -> None:
    """Refuse a collection that has none of the items that were asked about."""
    n, questions = len(session.collection), list(asked)
    gone = bool(questions and session.positions.gone)
    if gone and not any(i < n for question in questions for i in question.items()):
        raise ChangedCollection(
            f"Expected items from the {len(questions)} questions of session {session.name!r}, but "
            f"none of them is in {session.collection.name!r}. Open the folder that the answers "
            "belong to, or begin another session. The answers were not changed."
        )
