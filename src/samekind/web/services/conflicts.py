"""Contradictions as the page shows them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from samekind.session.conflicts import Contradiction
from samekind.web import rendering as views
from samekind.web.schemas import progress as models_progress
from samekind.workspace.workspace import Workspace

if TYPE_CHECKING:
    from samekind.session import Session


def contradiction_view(
    workspace: Workspace, session: Session, found: Contradiction
) -> models_progress.ClashView:
    """Render a contradiction."""
    shown = views.conflict(workspace, session, found.conflict)
    return models_progress.ClashView(
        answer=shown.answer,
        clash=shown.clash,
        steps=[
            models_progress.Step(
                number=answer.number,
                a=views.shown_item(workspace, session, link.a),
                b=views.shown_item(workspace, session, link.b),
                same=link.same,
            )
            for answer, link in found.chain
        ],
        settle=[
            models_progress.Doubt(number=answer.number, implied=implied)
            for answer, implied in found.suspects
        ],
    )
