"""Simulated people who answer the questions, and the benchmarks that are made of their runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from samekind.errors import Infeasible
from samekind.protocols import Progress

if TYPE_CHECKING:
    from samekind.session import Session
    from samekind.simulation.runner import Runner
    from samekind.simulation.settings import Settings
    from samekind.simulation.suite import Person
    from samekind.sources import LabelledSet


def simulate(
    source: str | Path | LabelledSet,
    *,
    orientation: str | None = None,
    method: str = "live",
    strategy: str | None = None,
    parameters: Mapping[str, Any] | None = None,
    encoder: str | None = None,
    questions: int = 50,
    person: str | Person = "shown",
    noise: float = 0.0,
    groups: int | None = None,
    refit_every: int = 5,
    seed: int = 0,
    mapping: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
    on_record: Callable[[Session, int], None] | None = None,
) -> dict[str, Any]:
    """Let a simulated person answer questions, and score the groups against the labels.

    Parameters
    ----------
    source : a labelled set, its name, or the path of a table with labels.
    orientation : the label column that the person has in mind; None takes the first one.
    method, strategy, encoder : names from ``samekind list``; strategy None takes the method's own
        (:func:`~samekind.registry.strategy_of`), encoder None the default.
    parameters : of the method; ``samekind list --method NAME`` shows them.
    person : one of :data:`samekind.simulation.people.PERSONS`, or a
        :class:`~samekind.simulation.suite.Person`. noise : share of wrong answers.
    groups : the number of groups, if the method is to be told.
    refit_every : answers per refit; each refit gives a point of the curve.
    mapping : {label: group}, to make another orientation of the label column.
    on_record : called with the session and the number of answers at each point of the curve.

    Returns
    -------
    Plain JSON: the settings, counts, times, and under ``curve`` the scores by number of answers.

    >>> row = simulate("digits", orientation="digit", questions=5)
    >>> row["questions"], row["curve"][-1]["questions"]
    (5, 5)
    """
    from samekind.registry import strategy_of
    from samekind.simulation.datasets import encoded_dataset, with_mapping
    from samekind.simulation.runner import Runner
    from samekind.simulation.suite import Person, Run

    labelled = _opened(source, orientation)
    column = orientation or next(iter(labelled.orientations))
    who = Person(person, person, noise) if isinstance(person, str) else person
    who.check()
    strategy = strategy or strategy_of(method)
    settings = _settings(method, strategy, parameters or {}, questions, groups, refit_every)
    dataset = encoded_dataset(with_mapping(labelled, column, mapping), encoder, progress)
    run = Run("simulate", labelled.name, column, f"{method}+{strategy}", who, seed, settings)
    runner = Runner(run, dataset, retry=False, on_record=on_record)
    runner.execute()
    if runner.stopped:
        raise Infeasible(runner.stopped)
    return _summary(runner)


def _settings(
    method: str,
    strategy: str,
    parameters: Mapping[str, Any],
    questions: int,
    groups: int | None,
    refit_every: int,
) -> Settings:
    """The protocol of ``samekind simulate``: questions one by one, a score after each refit."""
    from samekind.parameters import read_parameters
    from samekind.registry import make_method
    from samekind.simulation.settings import Settings

    make_method(method, groups, parameters)  # fails early, before any long work
    given = read_parameters(method, parameters)
    return Settings(
        method,
        strategy,
        questions,
        refit_every,
        score_at=tuple(range(refit_every, questions, refit_every)) or (questions,),
        groups="unknown",
        parameters=given if groups is None else {"n_clusters": groups, **given},
    )


def _opened(source: str | Path | LabelledSet, orientation: str | None) -> LabelledSet:
    from samekind.sources import LabelledSet, is_set, open_labelled

    if isinstance(source, LabelledSet):
        return source
    table = not (isinstance(source, str) and is_set(source))
    return open_labelled(source, labels=[orientation] if orientation and table else ())


def _summary(runner: Runner) -> dict[str, Any]:
    """The row as ``samekind simulate --json`` prints it: scores with four decimals."""
    row, person, session = runner.row(), runner.run.person, runner.session
    skipped = ("pairs", "person_seconds", "seconds", "refits", "checks", "groups")
    curve = []
    for point in runner.recorder.points:
        scores = {name: value for name, value in point.items() if name not in skipped}
        other = {name: scores.pop(name) for name in list(scores) if name.startswith("other_")}
        shown = {**scores, "groups": point["groups"], **other}
        shown = {k: v if isinstance(v, int) else round(float(v), 4) for k, v in shown.items()}
        curve.append({**shown, "heldout_acc": shown.get("heldout_acc")})
    names = ("set", "orientation", "encoder", "method", "learner", "strategy")
    copied = (*names, "parameters", "seed", "noise")
    counts = ("items", "questions", "choices", "conflicts", "groups_given")
    return {
        **{key: row[key] for key in copied},
        "person": person.kind,
        "unsure": row["unsure"],
        "second": person.parameters.get("second"),
        "wrong_answers": runner.recorder.wrong_answers(session),
        **{key: row[key] for key in counts},
        "curve": curve,
        **{key: row[key] for key in ("ask_seconds", "tell_seconds", "refit_seconds")},
        "peak_memory_mb": row["memory_mib"],
    }
