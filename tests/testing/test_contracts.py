"""Every member of every shelf keeps the contract of its shelf."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from samekind.encoders import ENCODERS, make_encoder
from samekind.encoders.learned.encoder import METHODS as LEARNT
from samekind.items import Collection
from samekind.questions import (
    KINDS,
    AllLike,
    Belongs,
    Elsewhere,
    OddOnes,
    OneKind,
    OwnKind,
    Question,
    SameGroups,
    SamePair,
    SeparateKinds,
    WhichGroup,
)
from samekind.registry import find, first_line, registered
from samekind.sources import open_source
from samekind.testing import (
    check_clusterer,
    check_encoder,
    check_question,
    check_right_answers_help,
    check_strategy,
)
from short_members import SHORT, made, told_three

WEIGHING = {"pckmeans", "mpckmeans", "seeded", "constrained-seeded"}
"""Methods that weigh answers, or begin with them, and may break some."""


HARMED = {
    "logistic": "Pairs that prove two kinds are taken for all kinds: it is a yardstick.",
    "constrained-seeded": "Begins from single placed items, as published.",
    "mpckmeans": "Learns a metric from few links, as published.",
}
"""Methods that right answers may make worse, each with the reason."""
# Those in SHORT are not asked: what a network learns in two steps says nothing about answers.


EXAMPLES: list[Question] = [
    SamePair(0, 5, why="two"),
    WhichGroup(3, ((1,),), why="one group"),
    WhichGroup(0, ((1, 4), (2,), (3,), (5,), (6,)), why="five groups"),
    SameGroups((0,), (1,), why="one exemplar each"),
    SameGroups((3, 1, 0), (2, 5), why="several exemplars"),
    OddOnes((4,), (2,), why="one item"),
    OddOnes((0, 1), (5, 2, 9, 7), why="four items"),
    OddOnes((20,), tuple(range(12)), why="twelve items"),
    AllLike((0, 1), (5, 2, 9, 7), why="four items"),
    AllLike((24,), tuple(range(24)), why="twenty-four items"),
    OneKind(((4, 7), (2,)), why="put by the person"),
    OwnKind(((4, 7), (2, 5)), why="put by the person"),
    Belongs(((9,), (4, 7), (2,)), why="put by the person"),
    Elsewhere(((4, 1), (7, 8)), why="put by the person"),
    SeparateKinds(((4, 1), (7,), (9, 2, 3)), why="put by the person"),
]


@pytest.mark.parametrize("question", EXAMPLES, ids=lambda q: f"{q.kind}-{len(q.items())}")
def test_every_kind_of_question_keeps_the_contract(question: Question) -> None:
    check_question(question)


def test_no_kind_of_question_is_left_out() -> None:
    assert {q.kind for q in EXAMPLES} == set(KINDS)


@pytest.mark.parametrize("name", sorted(registered("strategy")))
def test_every_strategy_keeps_the_contract(name: str) -> None:
    check_strategy(find("strategy", name)())


@pytest.mark.usefixtures("short_heads")
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.slow) if name in SHORT else name
        for name in sorted(registered("method"))
    ],
)
def test_every_clusterer_keeps_the_contract(name: str) -> None:
    check_clusterer(told_three(name), honours_all=name not in WEIGHING)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.xfail(strict=True, reason=HARMED[name]))
        if name in HARMED
        else name
        for name in sorted(set(registered("method")) - set(SHORT))
    ],
)
def test_right_answers_never_make_a_method_worse(name: str) -> None:
    check_right_answers_help(lambda: made(name))


@pytest.mark.parametrize("name", sorted(set(ENCODERS) - set(LEARNT)))  # those: test_learnt.py
def test_every_encoder_keeps_the_contract(name: str, texts: Collection, table: Collection) -> None:
    encoder = make_encoder(name)
    examples = {"image": open_source("tiles"), "text": texts, "row": table}
    check_encoder(encoder, next(examples[kind] for kind in encoder.kinds if kind in examples))


@pytest.mark.parametrize("kind", ["strategy", "method"])
def test_every_member_says_in_one_line_what_it_is_for(kind: str) -> None:
    for name in registered(kind):
        assert 10 < len(first_line(kind, name)) < 100


@pytest.fixture
def texts(tmp_path: Any) -> Collection:
    for k, words in enumerate(["red fox", "blue whale", "red squirrel", "grey whale"] * 2):
        (tmp_path / f"{k}.txt").write_text(f"a {words} number {k}")
    return open_source(tmp_path)


@pytest.fixture
def table(tmp_path: Any) -> Collection:
    np.save(tmp_path / "x.npy", np.random.default_rng(0).normal(size=(8, 4)).astype(np.float32))
    return open_source(tmp_path / "x.npy")
