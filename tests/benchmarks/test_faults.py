"""The short form of the attacks: a few rounds of each that needs no server and no minutes."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from benchmarks.faults import page
from benchmarks.faults.damage import spoiled
from benchmarks.faults.doors import differing
from benchmarks.faults.outcome import Outcome, Skipped
from benchmarks.faults.run import ATTACKS, RESULTS


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


def test_the_page_shows_the_kept_rows() -> None:
    rows = [json.loads(line) for line in RESULTS.read_text(encoding="utf-8").splitlines()]
    assert {row["attack"] for row in rows} <= set(ATTACKS)
    assert page.table(rows) in Path(page.PAGE).read_text(encoding="utf-8")
