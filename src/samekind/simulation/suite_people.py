"""Who answers in a run: the simulated people of a suite, made of the labels of its set."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from samekind.items import Collection
from samekind.ledger.recordings import recorded_answers
from samekind.protocols import Oracle
from samekind.simulation.people import PARAMETERS, person_named
from samekind.simulation.suite import Person

KINDS: dict[str, tuple[str, ...]] = {
    **PARAMETERS,
    "matched": (),  # the first groups are those of the run
    "drifting": (*PARAMETERS["drifting"], "second"),
    "two": (*PARAMETERS["two"], "second"),
    "replay": (*PARAMETERS["replay"], "record", "session"),
}
"""For each kind of person what a suite may say of them beside noise and unsure."""


def make_person(
    person: Person,
    truth: Any,
    *,
    seed: int,
    X: Any,
    groups: Any,
    collection: Collection,
    truth_of: Callable[[str], Any],
) -> Oracle:
    """The person of a run.

    Parameters
    ----------
    truth : (n,) the kinds that they have in mind. X : (n, d) vectors, for those who err between
        kinds. groups : (n,) the first groups, for the published IDC protocol.
    truth_of : the kinds of another orientation, by its name.
    """
    more = dict(person.parameters)
    second = more.pop("second", None)
    record, session = more.pop("record", None), more.pop("session", None)
    if person.kind == "matched":
        more["clusters"] = groups
    return person_named(
        person.kind,
        truth,
        seed=seed,
        X=X.reshape(len(X), -1),
        second=None if second is None else truth_of(str(second)),
        answers=None
        if record is None
        else recorded_answers(str(record), collection, session=session),
        noise=person.noise,
        unsure=person.unsure,
        **more,
    )
