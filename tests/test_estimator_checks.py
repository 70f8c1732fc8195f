"""Every clusterer is a scikit-learn estimator."""

from __future__ import annotations

from typing import Any

from sklearn.utils.estimator_checks import parametrize_with_checks

from samekind.registry import registered
from short_members import SHORT, made


def expected_to_fail(estimator: Any) -> dict[str, str]:
    """Checks that a method cannot pass by its nature, with the reason."""
    if type(estimator).__name__ not in ("COBRA", "COBRAS"):
        return {}
    return {"check_clustering": "it groups by answers alone, and the check gives none"}


@parametrize_with_checks(
    [made(name) for name in sorted(registered("method")) if name not in SHORT],
    expected_failed_checks=expected_to_fail,
)
def test_every_clusterer_is_a_scikit_learn_estimator(estimator: Any, check: Any) -> None:
    check(estimator)


def told_three(name: str) -> Any:
    """With a number of groups, for guessing it takes longer than all else; CC has to guess."""
    estimator = made(name)
    return estimator if name in ("cc", "ncp") else estimator.set_params(n_clusters=3)


@parametrize_with_checks([told_three(name) for name in sorted(SHORT)])
def test_every_deep_clusterer_is_a_scikit_learn_estimator(estimator: Any, check: Any) -> None:
    check(estimator)
