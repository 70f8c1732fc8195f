"""Every clusterer is a scikit-learn estimator."""

from __future__ import annotations

from typing import Any

import pytest
from sklearn.utils.estimator_checks import (
    estimator_checks_generator,
    parametrize_with_checks,
)

from samekind.registry import registered
from short_members import SHORT, made

pytestmark = pytest.mark.usefixtures("short_heads")


def expected_to_fail(estimator: Any) -> dict[str, str]:
    """Checks that a method cannot pass by its nature, with the reason."""
    if type(estimator).__name__ not in ("COBRA", "COBRAS"):
        return {}
    return {"check_clustering": "it groups by answers alone, and the check gives none"}


TOLD = (
    *("copkmeans", "pckmeans", "mpckmeans", "seeded", "constrained-seeded"),
    *(name for name in SHORT if name not in ("cc", "ncp", "ncp-graph")),
)
"""Methods that guess the number of groups like k-means or CC: in the checks, those two do."""


def told_three(name: str) -> Any:
    """With a number of groups where another method guesses it: that takes longer than all else."""
    estimator = made(name)
    return estimator.set_params(n_clusters=3) if name in TOLD else estimator


@parametrize_with_checks(
    [told_three(name) for name in sorted(registered("method")) if name not in SHORT],
    expected_failed_checks=expected_to_fail,
)
def test_every_clusterer_is_a_scikit_learn_estimator(estimator: Any, check: Any) -> None:
    check(estimator)


ALIKE = ("occ", "polish", "byol", "tcl", "propos", "idec")
"""Methods that read items and fit like pcl, fixmatch, simclr or dec, with another loss."""
OF_EACH_METHOD = {
    "check_no_attributes_set_in_init", "check_parameters_default_constructible",
    "check_get_params_invariance", "check_set_params", "check_estimator_cloneable",
    "check_do_not_raise_errors_in_init_or_set_param", "check_dont_overwrite_attributes",
    "check_estimators_overwrite_params", "check_estimators_pickle", "check_fit_idempotent",
    "check_fit2d_1sample", "check_fit2d_1feature", "check_clustering",
    "check_methods_subset_invariance",
}  # fmt: skip
"""Checks that depend on parameters or on the loss; the others test code that methods share."""


@parametrize_with_checks([told_three(name) for name in sorted(SHORT) if name not in ALIKE])
def test_every_deep_clusterer_is_a_scikit_learn_estimator(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.parametrize("name", ALIKE)
def test_a_method_like_another_passes_the_checks_of_its_own_part(name: str) -> None:
    checks = list(estimator_checks_generator(told_three(name)))
    mine = [(one, check) for one, check in checks if check.func.__name__ in OF_EACH_METHOD]
    assert len(mine) >= len(OF_EACH_METHOD)
    for estimator, check in mine:
        check(estimator)
