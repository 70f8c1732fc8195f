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
    "cli/test_bench_command.py", "clusterers/deep/test_deep_bad_input.py", "clusterers/deep/test_fixmatch.py",
    "clusterers/deep/test_idc.py", "encoders/learned/test_learned.py", "cli/test_plot_command.py",
    "cli/test_learn_command.py", "cli/test_predict_command.py", "training/test_distributed.py",
    "training/test_selflearn.py", "web/test_web_page_units.py", "web/test_web_security.py",
    "clusterers/deep/test_deep.py", "clusterers/kmeans/test_placing.py", "reports/plots/test_pictures_of_runs.py",
    "sources/sets/test_demo_tiles.py", "ledger/test_postgres.py", "cli/test_terminal.py", "training/test_loop.py",
    "clusterers/ncp/amortized/test_ncp_training.py", "session/test_review.py", "training/test_strong.py",
    "clusterers/ncp/amortized/test_clusterwise.py", "clusterers/ncp/amortized/test_clusterwise_sampler.py",
    "clusterers/ncp/amortized/test_graph_clustering.py", "clusterers/ncp/amortized/test_graph_encoder.py",
    "clusterers/ncp/amortized/test_labelled_episodes.py", "clusterers/ncp/amortized/test_ordered.py",
    "clusterers/ncp/amortized/test_training_steps.py", "benchmarks/test_gibbs.py",
    "benchmarks/test_idc_vectors.py", "benchmarks/test_live_scale.py",
    "benchmarks/test_ncp_answers.py",
    "benchmarks/test_ncp_large.py", "benchmarks/test_ncp_quality.py", "clusterers/ncp/test_ncp.py",
    "clusterers/ncp/test_ncp_bad_input.py", "clusterers/ncp/test_ncp_calibration.py",
    "clusterers/ncp/test_ncp_clusterwise.py", "cli/test_posterior_command.py",
    "reports/plots/test_posterior_picture.py", "strategies/planner/test_planner.py",
    "strategies/posterior/test_posterior.py", "clusterers/live/test_live.py", "clusterers/live/test_straight.py",
    "strategies/placement/test_live_cover.py", "web/test_web_browser.py", "web/test_web_browser_ask.py",
    "web/test_web_browser_groups.py", "web/test_web_browser_map.py",
    "web/test_web_browser_progress.py", "web/test_web_browser_start.py", "web/test_web_polish.py",
    "web/test_web_opening.py", "web/test_web_killed.py", "web/test_web_jobs.py",
    "clusterers/deep/test_polish.py", "clusterers/live/test_live_portable.py", "clusterers/live/test_plain.py",
    "session/test_acts.py", "workspace/test_layout.py", "web/test_web_acts.py", "web/test_web_events.py",
    "session/test_next_question.py", "test_superinstances.py", "session/test_learning.py", "web/test_web_api.py",
    "web/test_web_finish.py", "clusterers/test_logistic.py", "web/test_web_map.py",
    "web/test_web_compare.py",
    "clusterers/deep/test_propos.py", "clusterers/deep/test_dec.py", "clusterers/deep/test_dcgmm.py",
    "clusterers/deep/test_gcc.py", "clusterers/deep/test_dcc.py", "clusterers/deep/test_sdec.py",
    "clusterers/deep/test_tcl.py", "clusterers/deep/test_spice.py", "clusterers/deep/test_pica.py",
    "clusterers/deep/test_idfd.py", "clusterers/deep/test_mice.py", "clusterers/deep/test_scan.py",
    "clusterers/deep/test_recordable_steps.py",
    "clusterers/deep/test_first_baselines.py", "test_estimator_checks.py", "test_bad_input.py",
    "session/test_quality.py", "clusterers/kmeans/test_kmeans_family.py", "clusterers/kmeans/test_mpckmeans.py",
    "web/test_web_groups_asked.py", "web/test_web_token.py", "web/test_web_whole_path.py",
    "strategies/test_asked_before.py", "ledger/test_bad_ledgers.py", "training/test_finetune.py",
    "objectives/test_objective_loops.py", "benchmarks/test_results_page.py", "simulation/test_runner.py",
    "cli/test_report_command.py", "simulation/test_people_recorded.py", "web/test_web_progress.py",
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
