"""Every clusterer is a scikit-learn estimator."""

from __future__ import annotations

from typing import Any

import pytest
from sklearn.utils.estimator_checks import (
    estimator_checks_generator,
    parametrize_with_checks,
)

from samekind.registry import find, registered
from short_members import SHORT, told_three

pytestmark = pytest.mark.usefixtures("short_heads")


def expected_to_fail(estimator: Any) -> dict[str, str]:
    """Checks that a method cannot pass by its nature, with the reason."""
    if type(estimator).__name__ not in ("COBRA", "COBRAS"):
        return {}
    return {"check_clustering": "it groups by answers alone, and the check gives none"}


@parametrize_with_checks(
    [told_three(name) for name in sorted(registered("method")) if name not in SHORT],
    expected_failed_checks=expected_to_fail,
)
def test_every_clusterer_is_a_scikit_learn_estimator(estimator: Any, check: Any) -> None:
    check(estimator)


WHOLE = ("cc", "pcl", "idc", "fixmatch", "scan", "dcc", "ncp", "ncp-graph")
"""Methods with all checks: one of each way to read items, to train and to keep what was learnt."""
ALIKE = tuple(sorted(set(SHORT) - set(WHOLE)))
"""Methods that share their outer part with one of those, as a test below shows."""
OF_EACH_METHOD = {
    "check_no_attributes_set_in_init", "check_parameters_default_constructible",
    "check_get_params_invariance", "check_set_params", "check_estimator_cloneable",
    "check_do_not_raise_errors_in_init_or_set_param", "check_dont_overwrite_attributes",
    "check_estimators_overwrite_params", "check_estimators_pickle", "check_fit_idempotent",
    "check_fit2d_1sample", "check_fit2d_1feature", "check_clustering",
    "check_methods_subset_invariance",
}  # fmt: skip
"""Checks that depend on parameters or on the loss; the others test code that methods share."""


@parametrize_with_checks([told_three(name) for name in WHOLE])
def test_every_deep_clusterer_is_a_scikit_learn_estimator(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.parametrize("name", ALIKE)
def test_a_method_like_another_reads_fits_and_predicts_by_the_same_code(name: str) -> None:
    def outside(method: str) -> list[Any]:
        parts = ("fit", "predict", "transform", "_read", "_install", "__sklearn_is_fitted__")
        return [getattr(find("method", method), part, None) for part in parts]

    assert outside(name) in [outside(other) for other in WHOLE], "add it to WHOLE"


@pytest.mark.parametrize("name", ALIKE)
def test_a_method_like_another_passes_the_checks_of_its_own_part(name: str) -> None:
    checks = list(estimator_checks_generator(told_three(name)))
    mine = [(one, check) for one, check in checks if check.func.__name__ in OF_EACH_METHOD]
    assert len(mine) >= len(OF_EACH_METHOD)
    for estimator, check in mine:
        check(estimator)
