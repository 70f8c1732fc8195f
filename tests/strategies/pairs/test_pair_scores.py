"""The scores of PCL and OCC against numbers computed independently from the papers."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from places import VECTORS
from samekind.clustering import Clustering
from samekind.constraints import Constraints
from samekind.protocols import View
from samekind.questions import SamePair
from samekind.strategies.pairs.candidates import Candidates
from samekind.strategies.pairs.csd import CSD, discrepancy
from samekind.strategies.pairs.evidence import Evidence
from samekind.strategies.pairs.hardness import divergence, evidence_matrix, hardness
from samekind.strategies.pairs.pcl import PCL, joint
from samekind.strategies.pairs.pcl_reference import (
    PairCosines,
    PCLReference,
    bernoulli_divergence,
    known_answers,
    reference_scores,
)
from samekind.strategies.pairs.uncertainty import Uncertainty, uncertainty


def vectors(name: str) -> Any:
    return json.loads((VECTORS / f"{name}.json").read_text())


def close(found: Any, expected: Any) -> None:
    np.testing.assert_allclose(found, expected, atol=1e-9)


def cases() -> list[tuple[str, Any, Any, Any, float, Any, Any]]:
    """(name, first view, second view, answers, r, printed rule, program's rule)."""
    data = vectors("pcl")
    given, four, six = data["inputs"], data["query"], data["query6"]
    small = (given["Za"], given["Zb"], given["answers"], given["r"])
    found: list[Any] = [("four", *small, four["paper"], four["reference"])]
    for r, rules in six["by_r"].items():
        printed = {"S": rules["paper_S"], "best_pair": rules["paper_best"]}
        program = {"S": rules["reference_S"], "best_pair": rules["reference_best"]}
        found.append((f"six-{r}", six["Za"], six["Zb"], six["answers"], float(r), printed, program))
    return [(name, *map(np.array, rest[:3]), *rest[3:]) for name, *rest in found]


CASES = pytest.mark.parametrize(
    ("first", "second", "answers", "r", "printed", "program"),
    [case[1:] for case in cases()],
    ids=[case[0] for case in cases()],
)


def pairs_of(n: int) -> tuple[Any, Any]:
    return np.triu_indices(n, 1)


def view_of(first: Any, second: Any, answers: Any, r: float) -> View:
    n = len(first)
    snapshot = Clustering.first(
        np.zeros(n), first, views=np.stack([first, second]).astype(np.float32)
    )
    links = [(i, j, answers[i, j] > 0) for i, j in zip(*pairs_of(n), strict=True) if answers[i, j]]
    known = Constraints.from_links(n, [(int(i), int(j), bool(same)) for i, j, same in links])
    spent = round(1000 * (1 - r))
    return View(snapshot, known, np.random.default_rng(0), spent=spent, budget=1000)


def similarities(first: Any, second: Any) -> Any:
    return 0.5 * (first @ first.T + second @ second.T)


@CASES
def test_the_printed_rule_scores_and_chooses_as_the_paper(
    first: Any, second: Any, answers: Any, r: float, printed: Any, program: Any
) -> None:
    a, b = pairs_of(len(first))
    alike = similarities(first, second)
    evidence = evidence_matrix(alike, answers)
    unclear = uncertainty(alike[a, b], 0.2)
    hard = hardness(alike[a, b], np.stack([evidence[a, b], evidence[b, a]]), printed=True)
    score = joint(unclear, hard, r)
    close(score, np.array(printed["S"])[a, b])
    best = np.where(answers[a, b] == 0, score, -np.inf).argmax()
    assert [a[best], b[best]] == printed["best_pair"]
    for name, found in {"S_up": unclear, "S_hp": hard}.items():
        if name in printed:
            close(found, np.array(printed[name])[a, b])
    if "evidence" in printed:
        close(evidence, printed["evidence"])
        off = ~np.eye(len(alike), dtype=bool)
        close(
            divergence(np.array(printed["P"]), np.array(printed["Q"]))[off],
            np.array(printed["kl"])[off],
        )


@CASES
def test_the_reference_rule_scores_and_chooses_as_the_program(
    first: Any, second: Any, answers: Any, r: float, printed: Any, program: Any
) -> None:
    cross = first @ second.T
    alike = PairCosines(first @ first.T, cross, cross.T, similarities(first, second))
    score = reference_scores(alike, answers, r, 0.2)
    np.testing.assert_allclose(score, program["S"], atol=2e-6)  # the six come with six decimals
    if "kl_sum" in program:
        known = answers * alike.same_view
        sums = bernoulli_divergence(alike.same_view, cross + known)
        close(sums + bernoulli_divergence(alike.same_view, cross.T + 2 * known), program["kl_sum"])


@CASES
def test_the_strategies_ask_the_pair_that_the_equations_choose(
    first: Any, second: Any, answers: Any, r: float, printed: Any, program: Any
) -> None:
    view = view_of(first, second, answers, r)
    for strategy, rule in ((PCL(printed=True), printed), (PCLReference(), program)):
        (question,) = strategy.propose(view)
        assert list(question.items()) == rule["best_pair"], strategy


@CASES
def test_evidence_from_the_closure_equals_the_sum_over_all_answers(
    first: Any, second: Any, answers: Any, r: float, printed: Any, program: Any
) -> None:
    view = view_of(first, second, answers, r)
    points = Candidates().bank(view.clustering).astype(np.float64)
    a, b = pairs_of(len(first))
    np.testing.assert_array_equal(known_answers(view.constraints, a, b), answers[a, b])
    whole = evidence_matrix(similarities(first, second), answers)
    expected = np.where(np.abs(answers).sum(1) > 0, whole, np.nan)
    found = Evidence.of(points, view.constraints, summed=True).between(points, a, b)
    np.testing.assert_allclose(found, [expected[a, b], expected[b, a]], atol=1e-6)
    mean = Evidence.of(points, view.constraints).between(points, a, b)
    count = np.maximum(np.abs(answers).sum(1), 1)
    np.testing.assert_allclose(mean, found / np.stack([count[b], count[a]]), atol=1e-6)


def test_hardness_averages_what_is_known_and_is_zero_where_nothing_is() -> None:
    alike = np.array([0.9, 0.9, -0.5, 0.1])
    evidence = np.array([[0.8, -0.8, 0.0, np.nan], [np.nan, -0.4, np.nan, np.nan]])
    score = hardness(alike, evidence)
    # sigma of the evidence runs over the five known numbers, from -0.8 to 0.8.
    expected = np.array([1.0, (0.0 + 0.25) / 2, 0.5])
    raw = divergence((alike[:3] + 0.5) / 1.4, expected)
    close(score[:3], (raw - raw.min()) / (raw.max() - raw.min()))
    assert score[3] == 0 and score.argmax() == 1


def test_csd_ranks_pairs_as_the_paper() -> None:
    data = vectors("occ")["csd"]
    score = discrepancy(np.array(data["s_now"]), np.array(data["s_prev"]))
    close(score, data["score"])
    ranking = data["ranking"]
    before = Clustering.first(np.zeros(4), np.array(data["Z_prev"]))
    now = before.followed_by(before.labels, np.array(data["Z_now"]))
    known = Constraints(4)
    asked: list[list[int]] = []
    top = [pair for pair in ranking if score[tuple(pair)] > 1e-9]
    for _ in top:
        view = View(
            now,
            known,
            np.random.default_rng(0),
            before,
            passed=tuple(SamePair(*pair) for pair in asked),
        )
        asked.append(list(CSD().propose(view)[0].items()))
    assert asked == top


def test_uncertainty_asks_the_pair_nearest_to_epsilon() -> None:
    first = np.array(vectors("pcl")["inputs"]["Za"])
    view = view_of(first, first, np.zeros((4, 4)), 1.0)
    alike = first @ first.T
    for epsilon in (-0.2, 0.2, 0.9):
        a, b = pairs_of(4)
        best = np.abs(alike[a, b] - epsilon).argmin()
        (question,) = Uncertainty(epsilon=epsilon).propose(view)
        assert question.items() == (a[best], b[best])
