"""Routes of the posterior: how sure the groups are, and what else is plausible.

An answer given here takes the path of every other answer: the question is asked and told.
"""

from __future__ import annotations

from fastapi import APIRouter

from samekind.errors import InputError
from samekind.questions import SamePair
from samekind.questions.wording import short_label
from samekind.session import Session, members
from samekind.web.dependencies import CurrentPerson, CurrentSession, CurrentWorkspace
from samekind.web.rendering import (
    item_view,
    open_question_view,
    question_view,
    representative_views,
)
from samekind.web.routes.groups import perform
from samekind.web.schemas import core, groups, posterior
from samekind.workspace.alternatives import Alternative, Change, alternatives, choose_kinds
from samekind.workspace.posterior import describe_basis, describe_n_groups, posterior_report
from samekind.workspace.workspace import Workspace

router = APIRouter(prefix="/api", responses=core.ERRORS)

MIN_SHARE = 0.005
"""Numbers of groups that are less probable are not listed."""
SHOWN_ITEMS = 6
SHOWN_TARGET_ITEMS = 3


@router.get("/posterior")
def get_posterior(workspace: CurrentWorkspace, session: CurrentSession) -> posterior.Posterior:
    """Return how many groups there probably are, and which pairs are uncertain."""
    found = posterior_report(session)
    if found is None:
        return posterior.Posterior(posterior=None)
    counts = [
        posterior.GroupCount(groups=number, share=round(share, 4))
        for number, share in found.n_groups.items()
        if share >= MIN_SHARE
    ]
    view = posterior.PosteriorView(
        snapshot=session.clustering.snapshot,
        groups=found.groups,
        counts=counts,
        words=describe_n_groups(found.n_groups),
        basis=describe_basis(found),
        pairs=[pair_view(workspace, session, SamePair(pair.a, pair.b)) for pair in found.pairs],
    )
    return posterior.Posterior(posterior=view)


@router.get("/posterior/alternatives")
def list_alternatives(
    workspace: CurrentWorkspace, session: CurrentSession
) -> posterior.AlternativeList:
    """List other plausible groupings, and what each would change."""
    found = alternatives(session)
    return posterior.AlternativeList(
        snapshot=session.clustering.snapshot,
        alternatives=[alternative_view(workspace, session, one) for one in found],
    )


@router.post("/posterior/answers")
def answer_pair(
    told: posterior.PairAnswer,
    workspace: CurrentWorkspace,
    session: CurrentSession,
    person: CurrentPerson,
) -> groups.ActResult:
    """Ask whether two items are the same kind, and answer it."""
    a, b = told.items
    check_items(session, told.items)
    number = workspace.tell_now(session, SamePair(a, b), told.choice, person or told.by, person)
    now = open_question_view(workspace, session, person)
    message = f"Saved: {short_label(told.choice)}."
    return groups.ActResult(number=number, message=message, now=now)


@router.post("/acts/kinds")
def choose(
    act: posterior.ChosenKinds,
    workspace: CurrentWorkspace,
    session: CurrentSession,
    person: CurrentPerson,
) -> groups.ActResult:
    """Choose a grouping: each of some sets of items is a kind of its own."""
    kinds = tuple(tuple(dict.fromkeys(items)) for items in act.kinds)
    check_items(session, [i for items in kinds for i in items])
    return perform(workspace, session, choose_kinds(kinds), act, person)


def check_items(session: Session, items: list[int]) -> None:
    """Refuse positions outside the collection, and fewer than two items."""
    n = len(session.collection)
    wrong = next((i for i in items if i >= n), None)
    if wrong is not None:
        raise InputError(f"Expected item positions from 0 to {n - 1}, got {wrong}.")
    if len(set(items)) < max(2, len(items)):
        raise InputError("Expected at least 2 different items, each named once.")


def pair_view(
    workspace: Workspace, session: Session, pair: SamePair
) -> posterior.UncertainPairView:
    """Render a pair that can be answered in place."""
    return posterior.UncertainPairView(
        positions=[pair.a, pair.b], question=question_view(workspace, session, 0, pair)
    )


def alternative_view(
    workspace: Workspace, session: Session, found: Alternative
) -> posterior.AlternativeView:
    """Render another plausible grouping."""
    return posterior.AlternativeView(
        share=round(found.share, 4),
        groups=found.n_groups,
        changes=[change_view(workspace, session, change) for change in found.changes],
        more=found.more,
        kinds=[list(items) for items in found.kinds],
        pairs=[pair_view(workspace, session, question) for question in found.questions],
    )


def change_view(workspace: Workspace, session: Session, change: Change) -> posterior.ChangeView:
    """Render some of the items that would move, and where they would go."""
    clustering = session.clustering
    order = members.sureness(clustering)[change.items].argsort(kind="stable")[::-1]
    shown = [item_view(workspace, int(i)) for i in change.items[order][:SHOWN_ITEMS]]
    target = change.target or None
    joined = target is not None and target in clustering.numbers
    return posterior.ChangeView(
        words=change.words,
        count=len(change.items),
        items=shown,
        target=target,
        target_items=representative_views(workspace, clustering, target, SHOWN_TARGET_ITEMS)
        if joined and target is not None
        else [],
    )
