"""must_link and cannot_link beside constraints, as users of scikit-learn expect them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from samekind import COPKMeans, InputError, KMeans, Live, PCKMeans
from samekind.constraints import Constraints
from samekind.registry import find, registered

rng = np.random.default_rng(0)
kinds = np.arange(60) % 3
X = rng.normal(size=(60, 3)) + 2 * np.eye(3)[kinds]
SAME, DIFFERENT = [(0, 3), (1, 4)], [(0, 1), (1, 2)]


@pytest.mark.parametrize("method", [KMeans, PCKMeans, COPKMeans, Live])
def test_links_mean_the_same_in_all_three_forms(method: Any) -> None:
    triples = [(a, b, True) for a, b in SAME] + [(a, b, False) for a, b in DIFFERENT]
    model = method(n_clusters=3, random_state=0)
    folded = clone(model).fit(X, constraints=Constraints.from_links(60, triples)).labels_
    listed = clone(model).fit(X, constraints=triples).labels_
    paired = clone(model).fit(X, must_link=np.array(SAME), cannot_link=DIFFERENT).labels_
    mixed = clone(model).fit(X, constraints=triples[:2], cannot_link=DIFFERENT).labels_
    assert folded.tolist() == listed.tolist() == paired.tolist() == mixed.tolist()
    assert paired[0] == paired[3] != paired[1]


@pytest.mark.parametrize("name", sorted(registered("method")))
def test_every_method_takes_links(name: str) -> None:
    import inspect

    taken = inspect.signature(find("method", name).fit).parameters
    assert {"constraints", "must_link", "cannot_link"} <= set(taken)


@pytest.mark.parametrize(
    "given",
    [{"must_link": [(0, 60)]}, {"must_link": [(0,)]}, {"cannot_link": [3]},
     {"constraints": [(0, 1)]}, {"must_link": [("a", "b")]}],
)  # fmt: skip
def test_unusable_links_are_refused_with_an_example(given: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=r"\[\(0, 3"):
        KMeans(3).fit(X, **given)


@pytest.mark.parametrize("third", [-1, 2, "no", "different", "cannot-link", None, 0.5, np.nan])
@pytest.mark.parametrize("make", [lambda t: t, lambda t: Constraints.from_links(60, t)])
def test_only_true_and_false_say_whether_items_are_the_same_kind(make: Any, third: Any) -> None:
    with pytest.raises(InputError, match="Expected True or False as third value, got"):
        KMeans(3).fit(X, constraints=make([(0, 3, True), (0, 1, third)]))


@pytest.mark.parametrize("third", [False, np.False_, 0, np.int8(0)])
def test_a_zero_says_that_items_are_different(third: Any) -> None:
    labels = KMeans(3, random_state=0).fit(X, constraints=[(0, 1, third)]).labels_
    assert labels[0] != labels[1]
    assert Constraints.from_links(60, [(0, 1, third)]).same(0, 1) is False


def test_methods_work_in_pipelines_and_searches_and_give_tables() -> None:
    frame = pd.DataFrame(X, columns=["a", "b", "c"], index=[f"item {k}" for k in range(60)])
    pipe = make_pipeline(StandardScaler(), KMeans(3, random_state=0)).set_output(transform="pandas")
    distances = clone(pipe).fit(frame, kmeans__must_link=SAME).transform(frame)
    assert list(distances.columns) == ["kmeans0", "kmeans1", "kmeans2"]
    assert list(distances.index) == list(frame.index)
    everything = np.arange(60)
    search = GridSearchCV(
        KMeans(random_state=0),
        {"n_clusters": [2, 3, 6]},
        scoring="adjusted_rand_score",
        cv=[(everything, everything)],
    )
    assert search.fit(X, kinds, must_link=SAME).best_params_ == {"n_clusters": 3}
