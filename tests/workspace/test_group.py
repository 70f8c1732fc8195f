"""group: from data and answers to labels in one call."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import samekind
from samekind import InputError, Question
from samekind.evaluation import ari

rng = np.random.default_rng(0)
kinds = np.arange(90) % 3
X = rng.normal(size=(90, 4)) + 3 * np.eye(4)[kinds]


def test_pairs_that_are_known_are_obeyed() -> None:
    found = samekind.group(X, same=[(0, 4), (1, 5)], different=np.array([[0, 3], [1, 2]]))
    assert found.labels[0] == found.labels[4]
    assert found.labels[0] != found.labels[3]
    assert (found.report.answers, found.report.conflicts) == (4, 0)
    assert np.asarray(found).tolist() == found.labels.tolist()
    assert len(found) == 90


def test_a_callback_is_asked_about_pairs_each_at_most_once() -> None:
    asked: list[tuple[int, int]] = []

    def same(i: int, j: int) -> bool:
        asked.append((i, j))
        return bool(kinds[i] == kinds[j])

    steps: list[int] = []
    found = samekind.group(
        X, answer=same, questions=12, progress=lambda done, total: steps.append(done)
    )
    assert ari(kinds, found.labels) > 0.95
    assert len(asked) == len(set(asked))
    assert steps == list(range(1, 1 + found.report.answers))
    assert found.predict(X[:2]).tolist() == found.labels[:2].tolist()


def test_an_object_answers_whole_questions() -> None:
    class Unsure:
        def answer(self, question: Question) -> str:
            return "unsure"

    found = samekind.group(X, answer=Unsure(), questions=3)
    assert found.report.unsure == 3


def test_contradicting_pairs_are_counted_and_the_first_holds() -> None:
    found = samekind.group(X, same=[(0, 1)], different=[(0, 1)])
    assert found.labels[0] == found.labels[1]
    assert found.report.conflicts == 1


def test_the_number_of_groups_can_be_told() -> None:
    assert samekind.group(X, n_groups=5).n_groups == 5
    assert samekind.group(X, n_groups=5, clusterer="kmeans").n_groups == 5
    with pytest.raises(InputError, match="n_clusters"):
        samekind.group(X, n_groups=5, clusterer=samekind.KMeans())


@pytest.mark.parametrize("given", [{"same": [(0, 90)]}, {"same": [3]}, {"different": [(0, 0)]}])
def test_unusable_pairs_are_refused(given: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="Expected"):
        samekind.group(X, **given)


def test_a_callback_must_say_yes_no_or_nothing() -> None:
    with pytest.raises(InputError, match="Expected True, False or None"):
        samekind.group(X, answer=lambda i, j: "yes", questions=1)  # type: ignore
