"""The short form of the attacks: a few rounds of each that needs no database and no minutes."""

from __future__ import annotations

import random
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.checks.statements import CAREFUL, LAZY
from benchmarks.faults import learner, page, quality
from benchmarks.faults.attacks import ATTACKS, Entry
from benchmarks.faults.damage import spoiled
from benchmarks.faults.doors import differing
from benchmarks.faults.kept import RESULTS, read_rows, replaced, write_rows
from benchmarks.faults.outcome import Outcome, Skipped, session_over
from benchmarks.faults.run import run
from samekind.errors import InputError
from samekind.session import Session
from samekind.session.attention import Attention
from samekind.session.precedence import Precedence


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", [name for name, entry in ATTACKS.items() if entry.few])
def test_a_few_rounds_of_an_attack_are_survived(name: str) -> None:
    entry = ATTACKS[name]
    try:
        outcome = entry.load()(entry.few, 1)
    except Skipped as reason:
        pytest.skip(str(reason))
    assert outcome.rounds >= entry.few
    assert outcome.held, outcome.row()


def test_every_attack_can_be_loaded() -> None:
    for entry in ATTACKS.values():
        assert callable(entry.load())


def test_a_round_that_failed_is_counted() -> None:
    outcome = Outcome()
    outcome.note(True)
    assert outcome.held
    outcome.note(False, "lost")
    assert not outcome.held and outcome.row()["survived"] == 1
    assert Outcome(rounds=1, survived=1, lost=1).held is False
    outcome.add(Outcome(rounds=3, survived=2, lost=1, problems=["more"], figures={"answers": 5}))
    outcome.add(Outcome(rounds=1, survived=1, figures={"answers": 2}))
    assert (outcome.rounds, outcome.survived, outcome.lost) == (6, 4, 1)
    assert outcome.problems == ["lost", "more"] and outcome.figures == {"answers": 7}


def test_spoiling_changes_the_bytes() -> None:
    rng = random.Random(0)
    assert all(spoiled(bytes(500), rng) != bytes(500) for _ in range(50))


@pytest.mark.parametrize(
    ("pressed", "kept", "wrong"),
    [
        ("0", ["same", "none"], 0),
        ("0", ["same", "none", "different"], 0),
        ("0", ["same"], 1),
        ("0", ["same", "same"], 1),
        ("0", ["same", "none", "same"], 1),
        ("0", ["same", "none", "none", "none"], 2),
    ],
    ids=["kept", "stored before it was said", "lost", "changed", "invented", "doubled"],
)
def test_answers_at_the_terminal_are_compared_with_the_ledger(
    pressed: str, kept: list[str], wrong: int
) -> None:
    assert differing(["1", "0"], pressed, kept) == wrong


# -- attacks that would notice a broken learner ---------------------------------------------------


def shuffled(session: Session) -> None:
    labels = np.roll(session.clustering.labels, 1)
    session.clustering = replace(session.clustering, labels=labels)


def refuse(*_: object, **__: object) -> None:
    raise InputError("Something is wrong.")


def test_groups_that_break_an_answer_are_found() -> None:
    rng = np.random.default_rng(0)
    session = session_over(rng.normal(size=(60, 4)).astype(np.float32), seed=0)
    learner.answer(session, learner.PEOPLE["at random"], rng)
    contrary = learner.contradict(session, rng)
    session.refit()
    assert learner.broken(session) == [] and len(contrary) == learner.CONTRARY
    shuffled(session)
    found = learner.broken(session)
    assert found[0] == 0 and len(found) > 3, "asked links and implied ones"
    assert not contrary.keys() & set(found), "they contradict others, and are set aside"


@pytest.mark.parametrize(
    ("where", "name", "instead", "person", "words"),
    [
        (Session, "refit", shuffled, "at random", "break answers"),
        (Session, "refit", refuse, "at random", "Something is wrong."),
        (Attention, "notice", property(lambda _: ""), "never sure", "nothing was noticed"),
        (Attention, "notice", property(lambda _: ""), "everything is the same", "noticed"),
        (learner, "contradictions", lambda _: [], "against themselves", "not every contradiction"),
        (learner, "chain", lambda _: [], "against themselves", "where there is none"),
        (learner, "contradict", lambda *_: {99: "same"}, "against themselves", "others are kept"),
    ],
    ids=["labels", "sentence", "unsure", "same", "hidden", "invented", "lost"],
)
def test_a_careless_session_finds_what_is_broken(
    monkeypatch: pytest.MonkeyPatch, where: Any, name: str, instead: Any, person: str, words: str
) -> None:
    assert learner.careless_session("constant vectors", person, 0) == ""
    monkeypatch.setattr(where, name, instead)
    assert words in learner.careless_session("constant vectors", person, 0)


def test_a_sentence_is_right_only_for_what_cannot_be_grouped(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert learner.careless_session("one item", "at random", 0) == ""
    monkeypatch.setitem(learner.REFUSED, "two items", "Expected at least 2 items")
    assert "without a word" in learner.careless_session("two items", "at random", 0)
    monkeypatch.setattr(learner, "session_over", refuse)
    assert learner.careless_session("one item", "at random", 0) == "Something is wrong."


@pytest.mark.parametrize(
    ("where", "name", "words"),
    [
        (Session, "edit", "others are kept"),
        (Session, "undo", "still there"),
        (Precedence, "restore", "not shown"),
    ],
    ids=["edits", "undoing", "restoring"],
)
def test_against_oneself_finds_what_has_no_effect(
    monkeypatch: pytest.MonkeyPatch, where: Any, name: str, words: str
) -> None:
    monkeypatch.setattr(where, name, lambda *_, **__: None)
    outcome = learner.against_oneself(1, 0)
    assert not outcome.held and words in outcome.problems[0]


def test_a_session_that_hangs_is_ended_and_the_next_one_runs() -> None:
    hang: Any = time.sleep
    with learner.Watched() as watched:
        assert watched.run(60, str, "the first one") == "the first one"
        assert "still running" in watched.run(0.2, hang, 10_000)
        assert watched.run(60, str, "the next one") == "the next one"


def test_a_short_form_sees_every_pile_and_the_whole_one_every_pair(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen: list[tuple[str, str]] = []

    def noted(_: object, seconds: float, session: object, *given: Any) -> str:
        seen.append(given[:2])
        return ""

    monkeypatch.setattr(learner.Watched, "run", noted)
    names = set(learner.piles(np.random.default_rng(0)))
    learner.hard_piles(len(names), 0)
    assert {pile for pile, _ in seen} == names
    assert {person for _, person in seen} == set(learner.PEOPLE)
    seen.clear()
    learner.hard_piles(len(names) * len(learner.PEOPLE), 0)
    assert len(set(seen)) == len(seen) == len(names) * len(learner.PEOPLE)


# -- what is said about the quality ---------------------------------------------------------------


def simulated(
    rounds: int, *, wrong: int = 0, missed: int = 0, off: int = 0, silent: bool = False
) -> list[dict[str, Any]]:
    """Sessions as if simulated, every fourth one of a lazy person."""
    point: dict[str, Any] = {"answers": 30, "truth": 0.97, "share": 0.96, "low": 0.9, "high": 0.99}
    rows = []
    for k in range(rounds):
        lazy = k % 4 == 3
        now = {**point, "notice": "", "enough": not lazy and not silent}
        if silent:
            now["share"] = None
        if lazy and k // 4 >= missed:
            now["notice"] = "Please look at them again."
        if not lazy and k < off:
            now["truth"] = 0.5
        later = {**now, "answers": 50, "truth": now["truth"] + (0.05 if k < wrong else 0)}
        person = LAZY[0] if lazy else CAREFUL[0]
        rows.append({"person": person, "pile": "drawn", "points": [now, now, later]})
    return rows


@pytest.mark.parametrize(
    ("faults", "words"),
    [
        ({}, []),
        ({"wrong": 1, "missed": 2, "off": 4}, []),
        ({"wrong": 20}, ["stopping was suggested too early"]),
        ({"missed": 25}, ["lazy people are not noticed"]),
        ({"missed": 10}, ["lazy people are not noticed"]),
        ({"off": 60}, ["the interval holds the truth less often than it says"]),
        ({"silent": True}, ["nothing is stated, or nobody is advised to stop"]),
    ],
    ids=["good", "bad luck", "advice", "nobody noticed", "few noticed", "intervals", "silent"],
)
def test_statements_that_do_not_hold_as_promised_are_found(
    monkeypatch: pytest.MonkeyPatch, faults: dict[str, Any], words: list[str]
) -> None:
    monkeypatch.setattr(quality, "_simulated", lambda *_: iter(simulated(100, **faults)))
    found = quality.statements(100, 0).problems
    assert sorted({one.split(": ")[-1] for one in found}) == words


def test_one_of_few_sessions_proves_nothing_and_the_same_share_of_many_does() -> None:
    few, many = quality.Count(), quality.Count()
    few.add(8, 10)
    many.add(800, 1000)
    assert not few.undercuts(0.9) and many.undercuts(0.9)
    assert not many.undercuts(0.9, independent=10), "their cases hold or fail together"
    assert not quality.Count(95, 100).undercuts(0.95)


def test_the_page_shows_the_kept_rows() -> None:
    rows = read_rows(RESULTS)
    assert {row["attack"] for row in rows} <= set(ATTACKS)
    assert page.tables(rows) in Path(page.PAGE).read_text(encoding="utf-8")


def test_a_whole_run_replaces_no_longer_one_and_short_ones_are_not_kept(tmp_path: Path) -> None:
    def row(attack: str, wanted: int, seed: int = 0, mark: str = "old") -> dict[str, Any]:
        counts = {"rounds": wanted, "survived": wanted, "lost": 0, "seconds": 1.0}
        shown = {"attack": attack, "about": "", "seed": seed, "wanted": wanted, "commit": mark}
        return {**shown, **counts}

    held = [row("damage", 600), row("damage", 5000), row("damage", 900, seed=3), row("clock", 10)]
    rows: list[Any] = []
    for one in reversed(held):
        rows = replaced(rows, one)
    assert rows == held, "in the order of the attacks, longer runs behind"
    assert replaced(rows, row("damage", 599, mark="new")) == held
    rows = replaced(rows, row("damage", 600, seed=7, mark="new"))
    rows = replaced(rows, row("damage", 1000, seed=3, mark="new"))
    changed = [(r["attack"], r["wanted"], r["seed"]) for r in rows if r["commit"] == "new"]
    assert changed == [("damage", 600, 7), ("damage", 1000, 3)] and len(rows) == 4
    write_rows(tmp_path / "rows.jsonl", rows)
    assert read_rows(tmp_path / "rows.jsonl") == rows
    whole, _, longer = page.tables(rows).partition("longer run of")
    assert "5,000" in longer and "5,000" not in whole and "| `damage` | 3 | 1,000 |" in longer


def test_an_attack_that_breaks_is_a_row_that_did_not_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(rounds: int, seed: int) -> Outcome:
        raise RuntimeError("damaged")

    monkeypatch.setattr(Entry, "load", lambda self: broken)
    row = run("clock", None, 0)
    assert (row["rounds"], row["survived"]) == (1, 0)
    assert row["problems"] == ["It ended with RuntimeError('damaged')."]
