"""A recorded person: answers what follows from the record, and never anything else."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

from piles import clouds, points
from samekind.cli.simulate import simulate
from samekind.constraints import Constraints
from samekind.errors import ChangedCollection, ForeignFile, InputError, SourceError, UnknownName
from samekind.ledger.recordings import recorded_answers, write_answers
from samekind.ledger.store import MemoryStore, SqlStore
from samekind.questions import Answer, OddOnes, SamePair, WhichGroup
from samekind.session import Session
from samekind.simulation import simulate as simulate_run
from samekind.simulation.loop import run
from samekind.simulation.people import STOP, Noisy, Recorded, Truth, person_named
from samekind.simulation.suite import Person
from samekind.sources import open_labelled

X, KINDS = clouds(48)


def recorded(
    store: Any, count: int = 25, *, noise: float = 0.0, name: str = "main", prefix: str = "p"
) -> Session:
    """A session in which somebody has answered some questions."""
    session = Session(
        points(48, prefix),
        X,
        store=store,
        name=name,
        clusterer="kmeans",
        strategy="value",
        seed=3,
        refit_every=10,
    )
    run(session, Noisy(Truth(KINDS), noise, 5), count)
    return session


@pytest.mark.parametrize("noise", [0.0, 0.3])
def test_a_recorded_person_never_contradicts_the_record(noise: float) -> None:
    before = recorded(MemoryStore(), noise=noise)
    person = Recorded(48, before.answers)
    known = before.constraints
    answered = 0
    for a, b in combinations(range(48), 2):
        choice = person.answer(SamePair(a, b))
        assert choice == {True: "same", False: "different", None: "unsure"}[known.same(a, b)]
        answered += choice != "unsure"
    assert 0 < answered < 48 * 47 / 2, "something follows, and something does not"
    after = Session(points(48), X, clusterer="kmeans", strategy="random", seed=8, refit_every=50)
    run(after, person, 50)
    assert len(after.constraints.conflicts) == 0
    both = Constraints.from_answers(48, [*before.answers, *after.answers])
    assert len(both.conflicts) == len(known.conflicts), "the new answers clash with nothing"
    choices = {answer.choice for answer in after.answers}
    assert "unsure" in choices and choices & {"same", "different"}


def test_what_was_told_is_told_again_and_implied_answers_of_other_kinds_too() -> None:
    answers = [
        Answer(1, WhichGroup(0, ((1,), (2,))), "2"),
        Answer(2, SamePair(2, 3), "same"),
        Answer(3, SamePair(3, 4), "different"),
        Answer(4, SamePair(5, 6), "unsure"),
    ]
    person = Recorded(8, answers)
    assert [person.answer(a.question) for a in answers] == ["2", "same", "different", "unsure"]
    assert person.answer(OddOnes((0,), (3, 4))) == "2"
    assert person.answer(WhichGroup(4, ((0,), (3,)))) == "none"
    assert person.answer(WhichGroup(4, ((0,), (7,)))) == "unsure"


def test_where_nothing_follows_a_recorded_person_may_stop() -> None:
    answers = [Answer(1, SamePair(0, 1), "same"), Answer(2, SamePair(2, 3), "unsure")]
    person = Recorded(5, answers, otherwise="stop")
    assert person.answer(SamePair(1, 4)) == STOP
    assert person.answer(SamePair(2, 3)) == "unsure", "that they were unsure is on record"
    session = Session(points(48), X, clusterer="kmeans", strategy="random", seed=8)
    log = run(session, person_named("replay", KINDS, answers=[answers[0]], otherwise="stop"), 30)
    assert log.n_answers == 0
    with pytest.raises(InputError, match="'unsure' or 'stop', got 'guess'"):
        Recorded(5, answers, otherwise="guess")
    with pytest.raises(InputError, match="needs a recorded session"):
        person_named("replay", KINDS)


def test_a_ledger_gives_back_the_answers_in_force(tmp_path: Path) -> None:
    file = tmp_path / "me.samekind"
    with SqlStore(file) as store:
        session = recorded(store, 12)
        session.undo(4)
        session.edit(6, "unsure")
        told = session.answers
    assert recorded_answers(file, points(48)) == told
    assert len(told) == 11
    with SqlStore(file) as store:
        assert recorded_answers(store, points(48)) == told


def test_a_ledger_of_several_sessions_needs_the_name_of_one(tmp_path: Path) -> None:
    file = tmp_path / "me.samekind"
    with SqlStore(file) as store:
        told = recorded(store, 5, name="colour").answers
        assert recorded_answers(store, points(48)) == told, "the only one"
        other = recorded(store, 7, name="shape").answers
    assert recorded_answers(str(file), points(48), session="shape") == other
    with pytest.raises(UnknownName, match=r"recorded session 'main'.*colour, shape"):
        recorded_answers(file, points(48))


def test_what_follows_through_an_item_that_is_gone_still_holds(tmp_path: Path) -> None:
    file = tmp_path / "me.jsonl"
    answers = [Answer(1, SamePair(0, 47), "same"), Answer(2, SamePair(47, 1), "same")]
    write_answers(file, answers, points(48).id)
    found = recorded_answers(file, points(40))
    person = Recorded(40, found)
    assert person.answer(SamePair(0, 1)) == "same"
    with pytest.raises(ChangedCollection, match="None of the items"):
        recorded_answers(file, points(48, "other"))


def test_answers_go_through_a_file_of_lines_unchanged(tmp_path: Path) -> None:
    session = recorded(MemoryStore(), 15)
    file = tmp_path / "answers.jsonl"
    write_answers(file, session.answers, session.positions.name)
    back = recorded_answers(file, points(48))
    assert [(a.question, a.choice, a.by, a.seconds) for a in back] == [
        (a.question, a.choice, a.by, a.seconds) for a in session.answers
    ]
    with pytest.raises(FileExistsError):
        write_answers(file, session.answers, session.positions.name)


@pytest.mark.parametrize(
    "line",
    [
        "{",
        "[1]",
        '{"choice": "same"}',
        '{"question": {"kind": "riddle"}, "choice": "same"}',
        '{"question": {"kind": "same-pair", "a": "p0", "b": "p1"}, "choice": "yes"}',
    ],
)
def test_a_line_that_is_no_answer_is_named(tmp_path: Path, line: str) -> None:
    file = tmp_path / "answers.jsonl"
    good = '{"question": {"kind": "same-pair", "a": "p0", "b": "p1"}, "choice": "same"}'
    file.write_text(f"{good}\n\n{line}\n")
    with pytest.raises(SourceError, match="Line 3 of"):
        recorded_answers(file, points(48))


def test_a_record_that_is_not_there_or_of_another_program_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="cannot be read"):
        recorded_answers(tmp_path / "nothing.samekind", points(48))
    assert not (tmp_path / "nothing.samekind").exists()
    (tmp_path / "text.samekind").write_text("hello")
    with pytest.raises(ForeignFile):
        recorded_answers(tmp_path / "text.samekind", points(48))
    (tmp_path / "empty.jsonl").write_text("\n")
    with pytest.raises(SourceError, match="Expected recorded answers"):
        recorded_answers(tmp_path / "empty.jsonl", points(48))


@pytest.fixture
def things(tmp_path: Path) -> Path:
    side, row = np.where(KINDS == 1, "left", "right"), np.arange(48) % 4 // 2
    np.savez(tmp_path / "things.npz", X=X, side=side, row=row)
    return tmp_path / "things.npz"


@pytest.fixture
def ledger(things: Path, tmp_path: Path) -> Path:
    """A session over the things, kept in a file."""
    with SqlStore(tmp_path / "me.samekind") as store:
        collection = open_labelled(things).collection
        session = Session(collection, X, store=store, clusterer="kmeans", strategy="value")
        run(session, Truth(KINDS), 30)
    return tmp_path / "me.samekind"


def simulated(things: Path, home: Path, *options: str) -> Any:
    app = typer.Typer()
    app.command()(simulate)
    common = ["--method", "kmeans", "--strategy", "value", "--groups", "2", "--questions", "12"]
    done = CliRunner().invoke(
        app,
        [str(things), "--orientation", "side", *common, "--json", *options],
        env={"SAMEKIND_HOME": str(home)},
    )
    assert done.exit_code == 0, (done.output, done.exception)
    return json.loads(done.stdout)


def test_simulate_replays_a_ledger(things: Path, ledger: Path, tmp_path: Path) -> None:
    row = simulated(things, tmp_path / "home", "--replay", str(ledger))
    assert (row["person"], row["questions"], row["wrong_answers"]) == ("replay", 12, 0.0)
    stops = simulated(
        things, tmp_path / "home", "--replay", str(ledger), "--otherwise", "stop", "--seed", "5"
    )
    assert "unsure" not in stops["choices"]


def test_simulate_takes_every_person_from_its_options(things: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    drift = ["--person", "drifting", "--second", "row", "--start", "2", "--over", "2"]
    row = simulated(things, home, *drift)
    assert row["second"] == "row" and row["wrong_answers"] > 0
    assert row["curve"][-1]["other_acc"] >= 0.5
    two = simulated(things, home, "--person", "two", "--second", "row", "--share", "0")
    assert two["wrong_answers"] == 0.0, "all questions went to the first"
    assert {"other_acc", "other_ari"} <= two["curve"][0].keys()
    near = simulated(things, home, "--person", "boundary", "--noise", "0.3", "--seed", "2")
    assert near["noise"] == 0.3 and 0 < near["wrong_answers"] < 0.7


@pytest.mark.parametrize(
    ("person", "complaint"),
    [
        (Person("r", "replay"), "needs a recorded session"),
        (Person("s", parameters={"record": "me.samekind"}), "parameter of the person 'shown'"),
        (Person("s", parameters={"second": "row"}), "has one orientation"),
        (Person("s", parameters={"speed": 3}), "parameter of the person 'shown': 'speed'"),
    ],
    ids=str,
)
def test_a_simulation_refuses_parameters_of_other_persons(
    things: Path, person: Person, complaint: str
) -> None:
    with pytest.raises(InputError, match=complaint):
        simulate_run(things, orientation="side", method="kmeans", person=person)
