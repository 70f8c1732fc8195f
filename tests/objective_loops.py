"""The equations of the papers, one sum at a time: slow, and written without the library."""

from __future__ import annotations

import itertools
import math
import random

import torch

from samekind.objectives import BatchLinks

Rows = list[list[float]]
Answers = list[list[int]]  # (N, N): 1 same, -1 different, 2 guessed, 0 unknown


def dot(a: list[float], b: list[float]) -> float:
    return sum(x * y for x, y in zip(a, b, strict=True))


def cosine(a: list[float], b: list[float]) -> float:
    return dot(a, b) / math.sqrt(dot(a, a)) / math.sqrt(dot(b, b))


def pcl_paper(X: Rows, answers: Answers, tau: float, lam: float) -> float:
    """PCL Eq. 1-3 as printed, one space; N_+ = unordered pairs; no same-answer: views weigh 1."""
    n2 = len(X)
    n = n2 // 2

    def answer(i: int, j: int) -> int:
        return answers[i % n][j % n]

    n_plus = sum(answers[i][j] == 1 for i in range(n) for j in range(i + 1, n))
    total = 0.0
    for i in range(n2):
        different = sum(answer(i, j) == -1 for j in range(n2))
        mu = n / (n + different)
        bottom = mu * sum(
            (1 + (answer(i, k) == -1)) * math.exp(cosine(X[i], X[k]) / tau) for k in range(n2)
        )
        row, weights = 0.0, 0.0
        for j in range(n2):
            if abs(i - j) == n:
                w = float(n_plus) if n_plus else 1.0
            elif answer(i, j) == 1:
                w = lam * n
            elif answer(i, j) == 2:
                w = float(n_plus) if n_plus else 1.0
            else:
                continue
            row += w * -math.log(math.exp(cosine(X[i], X[j]) / tau) / bottom)
            weights += w
        total += row / weights
    return total / n2


def pcl_reference(X: Rows, answers: Answers, tau: float, lam: float, *, memberships: bool) -> float:
    """What the published program computes in one space."""
    n2 = len(X)
    n = n2 // 2
    rho = max(lam * n / (sum(a == 1 for row in answers for a in row) + 1), 2.0)
    top, weights = 0.0, 0.0
    for i in range(n2):
        sims = [dot(X[i], y) if memberships else cosine(X[i], y) / tau for y in X]
        count = [(k != i) + (answers[i % n][k % n] == -1) for k in range(n2)]
        bottom = n2 / sum(count) * sum(c * math.exp(s) for c, s in zip(count, sims, strict=True))
        for j in range(n2):
            w = float(abs(i - j) == n)
            w += (1 + rho) * (answers[i % n][j % n] == 1) + (answers[i % n][j % n] == 2)
            top += w * -math.log(math.exp(sims[j]) / bottom)
            weights += w
    return top / weights


def occ_rows(
    X: Rows, answers: Answers, tau: float, lam: float, *, include_self: bool
) -> list[float]:
    """OCC Eq. 1-3: l_i^a of all items, then l_i^b."""
    n = len(X) // 2
    C = [[{1: lam, 2: 1.0}.get(a, 0.0) for a in row] for row in answers]
    rows = []
    for own, other in ((X[:n], X[n:]), (X[n:], X[:n])):
        for i in range(n):

            def s(j: int, view: Rows, i: int = i, own: Rows = own) -> float:
                return math.exp(cosine(own[i], view[j]) / tau)

            top = s(i, other) + sum(C[i][j] * (s(j, own) + s(j, other)) for j in range(n))
            bottom = sum(s(j, own) + s(j, other) for j in range(n))
            if not include_self:
                bottom -= s(i, own)
            rows.append(top / (sum(C[i][j] + 1 for j in range(n)) * bottom))
    return rows


def occ_over_pairs(X: Rows, answers: Answers, tau: float, lam: float) -> float:
    """OCC with the mean over all positive pairs of the batch at once."""
    n2 = len(X)
    n = n2 // 2
    top, weights = 0.0, 0.0
    for i in range(n2):
        sims = [cosine(X[i], y) / tau for y in X]
        bottom = sum(math.exp(s) for s in sims)
        for j in range(n2):
            w = float(abs(i - j) == n) + {1: lam, 2: 1.0}.get(answers[i % n][j % n], 0.0)
            top += w * -math.log(math.exp(sims[j]) / bottom)
            weights += w
    return top / weights


def ntxent(X: Rows, tau: float, *, include_self: bool = False) -> float:
    """SimCLR's loss; CC, Eq. 3-4."""
    n2 = len(X)
    total = 0.0
    for i in range(n2):
        bottom = sum(
            math.exp(cosine(X[i], X[k]) / tau) for k in range(n2) if include_self or k != i
        )
        total -= math.log(math.exp(cosine(X[i], X[(i + n2 // 2) % n2]) / tau) / bottom)
    return total / n2


def columns(P: Rows) -> Rows:
    """The memberships by group: view a's columns, then view b's."""
    n = len(P) // 2
    return [[row[k] for row in view] for view in (P[:n], P[n:]) for k in range(len(P[0]))]


def imbalance(P: Rows) -> float:
    """log K minus the entropy of the mean membership."""
    shares = [sum(row[k] for row in P) / len(P) for k in range(len(P[0]))]
    return math.log(len(shares)) + sum(q * math.log(q) for q in shares)


def case(n: int, k: int, seed: int, m: int = 5) -> tuple[torch.Tensor, torch.Tensor, Answers]:
    """Random features (2N, M), memberships (2N, K) and answers, in float64."""
    draw = torch.Generator().manual_seed(seed)
    z = torch.randn(2 * n, m, generator=draw, dtype=torch.float64)
    p = torch.randn(2 * n, k, generator=draw, dtype=torch.float64).softmax(dim=1)
    rng = random.Random(seed)
    answers = [[0] * n for _ in range(n)]
    for i, j in itertools.combinations(range(n), 2):
        answers[i][j] = answers[j][i] = rng.choice([0, 0, 1, -1, 2])
    return z, p, answers


def links_of(answers: Answers) -> BatchLinks:
    """The answers as index tensors, each pair once."""
    n = len(answers)
    found = {1: [], -1: [], 2: [], 0: []}
    for i, j in itertools.combinations(range(n), 2):
        found[answers[i][j]].append((i, j))
    return BatchLinks.from_pairs(found[1], found[-1], found[2])
