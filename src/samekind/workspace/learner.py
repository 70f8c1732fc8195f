"""What groups a session and what chooses its questions, by their names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from samekind.registry import strategy_of, strategy_words

if TYPE_CHECKING:
    from samekind.session import Session


@dataclass(frozen=True)
class InUse:
    """The learner and the strategy of a session.

    Parameters
    ----------
    learner : name of what learns, which may be another one than the method is named after.
    strategy : its name, and whether it is the method's own.
    parameters : of the method, where they were given.
    """

    learner: str
    strategy: str
    parameters: Mapping[str, Any]


def in_use(session: Session) -> InUse:
    """Name the learner and the strategy of a session."""
    settings, model = session.settings, session.model or session.clusterer
    learner = getattr(model, "learner_name", type(model).__name__)
    strategy = str(settings.get("strategy") or type(session.strategy).__name__)
    method = settings.get("method")
    if method and strategy == strategy_of(method):
        strategy = strategy_words(method)
    return InUse(str(learner), strategy, dict(settings.get("parameters") or {}))
