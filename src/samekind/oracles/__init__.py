"""Things that answer: simulated persons, a recorded one, and one at the terminal."""

from samekind.oracles.boundary import Boundary
from samekind.oracles.changing import CHANGES, Drifting, Two, changed_kinds
from samekind.oracles.console import KEYS, Console, choice_of
from samekind.oracles.erring import Noisy, Unsure
from samekind.oracles.knowing import Matched, Truth
from samekind.oracles.persons import (
    PARAMETERS,
    PERSONS,
    judged_labels,
    other_labels,
    person_named,
)
from samekind.oracles.recorded import OTHERWISE, Recorded, Replay
from samekind.oracles.verbs import BACK, SKIP, STOP

__all__ = [
    "BACK",
    "CHANGES",
    "KEYS",
    "OTHERWISE",
    "PARAMETERS",
    "PERSONS",
    "SKIP",
    "STOP",
    "Boundary",
    "Console",
    "Drifting",
    "Matched",
    "Noisy",
    "Recorded",
    "Replay",
    "Truth",
    "Two",
    "Unsure",
    "changed_kinds",
    "choice_of",
    "judged_labels",
    "other_labels",
    "person_named",
]
