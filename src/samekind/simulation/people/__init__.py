"""People who answer: simulated ones, and recorded ones."""

from samekind.simulation.people.boundary import Boundary
from samekind.simulation.people.changing import CHANGES, Drifting, Two, changed_kinds
from samekind.simulation.people.erring import OVERLOOKED_SHARE, Noisy, Overlooking, Unsure
from samekind.simulation.people.knowing import Matched, Truth
from samekind.simulation.people.persons import (
    PARAMETERS,
    PERSONS,
    judged_labels,
    other_labels,
    person_named,
)
from samekind.simulation.people.recorded import OTHERWISE, Recorded, Replay
from samekind.simulation.people.verbs import AGAIN, BACK, SKIP, STOP

__all__ = [
    "AGAIN",
    "BACK",
    "CHANGES",
    "OTHERWISE",
    "OVERLOOKED_SHARE",
    "PARAMETERS",
    "PERSONS",
    "SKIP",
    "STOP",
    "Boundary",
    "Drifting",
    "Matched",
    "Noisy",
    "Overlooking",
    "Recorded",
    "Replay",
    "Truth",
    "Two",
    "Unsure",
    "changed_kinds",
    "judged_labels",
    "other_labels",
    "person_named",
]
