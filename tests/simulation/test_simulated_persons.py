"""Simulated persons: one who looks at what is shown, the published protocol, one who is unsure."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

from piles import clouds
from places import VECTORS
from samekind.cli.simulate import simulate
from samekind.errors import InputError, UnknownName
from samekind.questions import SamePair, WhichGroup
from samekind.simulation import simulate as simulate_run
from samekind.simulation.people import Matched, Noisy, Truth, Unsure
from samekind.simulation.suite import Person

# Cluster 5 holds kinds 0 (three items) and 1 (two); kind 2 is alone in cluster 7.
KINDS = np.array([0, 0, 0, 1, 1, 2, 2])
CLUSTERS = np.array([5, 5, 5, 5, 5, 7, 7])


@pytest.fixture
def things(tmp_path: Path) -> Path:
    X, kinds = clouds(48)
    np.savez(tmp_path / "things.npz", X=X, side=np.where(kinds == 1, "left", "right"))
    return tmp_path / "things.npz"


def test_a_person_judges_a_group_by_who_stands_for_it_and_nothing_else() -> None:
    person = Truth(KINDS)
    assert person.answer(WhichGroup(4, ((0,), (5,)))) == "none", "kind 1 is in that group, unseen"
    assert person.answer(WhichGroup(4, ((3,), (5,)))) == "1"
    assert person.answer(WhichGroup(4, ((0, 3), (5,)))) == "none", "the first item is the group"
    everything_else = np.array([9, 9, 9, 1, 1, 2, 9])
    for question in (WhichGroup(4, ((3,), (5,))), WhichGroup(3, ((5,), (4,)))):
        assert Truth(everything_else).answer(question) == person.answer(question)


def test_the_published_protocol_answers_by_clusters_matched_to_kinds() -> None:
    person = Matched(KINDS, CLUSTERS)
    assert person.cluster_of == {0: 5, 2: 7}, "two kinds of one cluster cannot both be matched"
    assert person.answer(WhichGroup(0, ((3,), (5,)))) == "1", "though item 3 is of another kind"
    assert person.answer(WhichGroup(4, ((3,), (5,)))) == "none", "kind 1 has no cluster"
    assert person.answer(WhichGroup(5, ((0,), (6,)))) == "2"
    assert person.answer(SamePair(3, 4)) == "same", "nobody stands for a cluster in a pair"
    assert person.answer(SamePair(0, 3)) == "different"


def test_the_published_protocol_knows_nothing_of_items_without_a_label() -> None:
    person = Matched(np.array([0, 0, -1, 1]), np.array([1, 1, 1, 2]))
    assert person.cluster_of == {0: 1, 1: 2}
    assert person.answer(WhichGroup(2, ((0,), (3,)))) == "unsure"
    assert person.answer(WhichGroup(0, ((2,), (3,)))) == "1", "item 2 stands for cluster 1"
    assert person.answer(SamePair(0, 2)) == "unsure"
    with pytest.raises(InputError, match="4 labels and 3 clusters"):
        Matched(np.zeros(4, dtype=int), np.zeros(3, dtype=int))


def test_the_published_protocol_is_that_of_the_vectors() -> None:
    vectors = json.loads((VECTORS / "idc.json").read_text())
    truth, labels = np.array(vectors["inputs"]["truth"]), np.array(vectors["kmeans"]["labels"])
    person = Matched(truth, labels)
    assert [person.cluster_of[k] for k in range(3)] == vectors["questions"]["truth_to_cluster"]
    standing = vectors["questions"]["centre_image"]
    for row in (*vectors["questions"]["answers"], *vectors["questions"]["answers_T1"]):
        groups = tuple((standing[k],) for k in row["offered"])
        said = person.answer(WhichGroup(row["sample"], groups))
        expected = str(row["offered"].index(row["chosen"]) + 1) if row["positive"] else "none"
        assert said == expected


def test_unsure_comes_at_the_asked_rate_and_repeats() -> None:
    question = WhichGroup(0, ((1,), (5,)))

    def answers(oracle: Any) -> list[str]:
        return [oracle.answer(question) for _ in range(1000)]

    said = answers(Unsure(Truth(KINDS), 0.3, seed=2))
    assert 0.25 < said.count("unsure") / 1000 < 0.35
    assert set(said) == {"1", "unsure"}
    assert said == answers(Unsure(Truth(KINDS), 0.3, seed=2))
    assert said != answers(Unsure(Truth(KINDS), 0.3, seed=3))
    with pytest.raises(InputError, match=r"from 0 to 1, got 1\.2"):
        Unsure(Truth(KINDS), 1.2)


@pytest.mark.parametrize("outside", ["unsure", "noisy"])
def test_a_person_may_be_unsure_and_wrong(outside: str) -> None:
    truth = Truth(KINDS)
    person = (
        Unsure(Noisy(truth, 0.2, 1), 0.5, 1)
        if outside == "unsure"
        else Noisy(Unsure(truth, 0.5, 1), 0.2, 1)
    )
    said = [person.answer(WhichGroup(0, ((1,), (5,)))) for _ in range(2000)]
    assert 0.45 < said.count("unsure") / 2000 < 0.55
    answered = [choice for choice in said if choice != "unsure"]
    assert 0.15 < np.mean([choice != "1" for choice in answered]) < 0.25


def test_a_simulation_reports_who_answered(things: Path) -> None:
    how = {"orientation": "side", "method": "kmeans", "strategy": "value", "groups": 2}
    row = simulate_run(things, **how, questions=20, seed=1, person=Person("x", unsure=0.4))
    assert row["person"] == "shown" and row["unsure"] == 0.4
    assert 3 <= row["choices"]["unsure"] <= 13
    row = simulate_run(things, **how, questions=8, person="matched")
    assert row["person"] == "matched" and row["questions"] == 8
    assert "unsure" not in row["choices"]


def test_a_simulation_refuses_unknown_persons(things: Path) -> None:
    with pytest.raises(UnknownName, match="Did you mean 'matched'"):
        simulate_run(things, orientation="side", person="match")
    with pytest.raises(InputError, match="share of unsure from 0 to 1, got 2"):
        simulate_run(things, orientation="side", person=Person("x", unsure=2))


def test_simulate_takes_the_person_from_its_options(things: Path, tmp_path: Path) -> None:
    app = typer.Typer()
    app.command()(simulate)
    options = ["--method", "kmeans", "--strategy", "value", "--groups", "2", "--questions", "10"]
    person = ["--person", "matched", "--unsure", "0.5", "--json"]
    home = {"SAMEKIND_HOME": str(tmp_path / "home")}
    done = CliRunner().invoke(app, [str(things), *options, *person], env=home)
    assert done.exit_code == 0, done.output
    row = json.loads(done.stdout)
    assert (row["person"], row["unsure"], row["questions"]) == ("matched", 0.5, 10)
    assert row["choices"]["unsure"] >= 1
    wrong = CliRunner().invoke(app, [str(things), *options, "--unsure", "1.5"], env=home)
    assert wrong.exit_code == 2
