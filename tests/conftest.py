"""For all tests: a private place for files, a small pile, and sessions over it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from piles import clouds, points
from samekind.items import Collection
from samekind.session import Session

LONG = (
    "bench/test_bench_command.py", "clusterers/test_deep_bad_input.py", "clusterers/test_fixmatch.py",
    "clusterers/test_idc.py", "encoders/test_learnt.py", "plots/test_plot_command.py",
    "test_learn_command.py", "test_predict.py", "training/test_distributed.py",
    "training/test_selflearn.py", "web/test_web_page_units.py", "web/test_web_security.py",
    "clusterers/test_deep.py", "clusterers/test_placing.py", "plots/test_pictures_of_runs.py",
    "sources/test_demo_tiles.py", "test_postgres.py", "test_terminal.py", "training/test_loop.py",
    "amortized/test_ncp_training.py", "test_review.py", "training/test_strong.py",
    "amortized/test_clusterwise.py", "amortized/test_clusterwise_sampler.py",
    "amortized/test_graph_clustering.py", "amortized/test_graph_encoder.py",
    "amortized/test_labelled_episodes.py", "amortized/test_ordered.py",
    "amortized/test_training_steps.py", "benchmarks/test_gibbs.py",
    "benchmarks/test_idc_vectors.py", "benchmarks/test_live_scale.py",
    "benchmarks/test_ncp_answers.py",
    "benchmarks/test_ncp_large.py", "benchmarks/test_ncp_quality.py", "clusterers/test_ncp.py",
    "clusterers/test_ncp_bad_input.py", "clusterers/test_ncp_calibration.py",
    "clusterers/test_ncp_clusterwise.py", "plots/test_posterior_command.py",
    "plots/test_posterior_picture.py", "strategies/test_planner.py",
    "strategies/test_posterior.py", "clusterers/test_live.py", "clusterers/test_straight.py",
    "strategies/test_live_cover.py", "web/test_web_browser.py", "web/test_web_browser_ask.py",
    "web/test_web_browser_groups.py", "web/test_web_browser_map.py",
    "web/test_web_browser_progress.py", "web/test_web_browser_start.py", "web/test_web_polish.py",
    "web/test_web_opening.py", "web/test_web_killed.py", "web/test_web_jobs.py",
    "clusterers/test_polish.py", "clusterers/test_live_portable.py", "clusterers/test_plain.py",
    "test_acts.py", "test_layout.py", "web/test_web_acts.py", "web/test_web_events.py",
    "test_session_upcoming.py", "test_superinstances.py", "test_learning.py", "web/test_web_api.py",
    "web/test_web_finish.py", "clusterers/test_logistic.py", "web/test_web_map.py",
    "web/test_web_compare.py",
    "clusterers/test_propos.py", "clusterers/test_dec.py", "clusterers/test_dcgmm.py",
    "clusterers/test_gcc.py", "clusterers/test_dcc.py", "clusterers/test_sdec.py",
    "clusterers/test_tcl.py", "clusterers/test_spice.py", "clusterers/test_pica.py",
    "clusterers/test_idfd.py", "clusterers/test_mice.py", "clusterers/test_scan.py",
    "clusterers/test_recordable_steps.py",
    "clusterers/test_first_baselines.py", "test_estimator_checks.py", "test_bad_input.py",
    "test_checks.py", "clusterers/test_kmeans_family.py", "clusterers/test_mpckmeans.py",
    "web/test_web_groups_asked.py", "web/test_web_token.py", "web/test_web_whole_path.py",
    "strategies/test_asked_before.py", "test_bad_ledgers.py", "training/test_finetune.py",
    "objectives/test_objective_loops.py", "benchmarks/test_results_page.py", "bench/test_bench_runs.py",
    "reports/test_report_command.py", "test_people_recorded.py", "web/test_web_progress.py",
)  # fmt: skip
"""Files whose tests together take long: `make test` runs them, `make check` does not."""


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Do not even read the long files where slow tests are left out: that takes long, too."""
    quick = "not slow" in config.getoption("markexpr")
    return True if quick and collection_path.as_posix().endswith(LONG) else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests of long files as slow."""
    for item in items:
        if item.path.as_posix().endswith(LONG):
            item.add_marker(pytest.mark.slow)


@pytest.fixture(autouse=True)
def private_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test reads or writes the user's own sessions; converted networks are shared by all."""
    monkeypatch.setenv("SAMEKIND_HOME", str(tmp_path_factory.getbasetemp() / "home"))


@pytest.fixture
def pile() -> tuple[Collection, np.ndarray, np.ndarray]:
    X, kinds = clouds()
    return points(len(X)), X, kinds


@pytest.fixture
def make_session(pile: tuple[Collection, np.ndarray, np.ndarray]) -> Callable[..., Session]:
    collection, X, _ = pile

    def make(**settings: Any) -> Session:
        return Session(settings.pop("collection", collection), settings.pop("X", X), **settings)

    return make


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    return tmp_path / "answers.samekind"
