"""Progress: bars, curves for TensorBoard, and people who monitor a training."""

from __future__ import annotations

import copy
import pickle
import sys
import threading
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from samekind.errors import MissingExtra
from samekind.training.progress import Cancelled, Monitor, TrainingReport, bar, tensorboard_log


class FakeWriter:
    made: list[FakeWriter] = []

    def __init__(self, folder: str) -> None:
        self.folder, self.curves, self.calls = folder, [], []
        FakeWriter.made.append(self)

    def add_scalar(self, name: str, value: float, step: int) -> None:
        self.curves.append((name, value, step))

    def flush(self) -> None:
        self.calls.append("flush")

    def close(self) -> None:
        self.calls.append("close")


def test_without_tensorboard_a_sentence_says_what_to_install(monkeypatch: Any) -> None:
    monkeypatch.setitem(sys.modules, "tensorboard", None)
    monkeypatch.delitem(sys.modules, "torch.utils.tensorboard", raising=False)
    with pytest.raises(MissingExtra, match=r"pip install 'samekind\[tensorboard\]'"):
        tensorboard_log("anywhere")


def test_every_number_of_a_report_goes_to_the_writer_under_its_phase(monkeypatch: Any) -> None:
    module = ModuleType("torch.utils.tensorboard")
    module.SummaryWriter = FakeWriter  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", module)
    with tensorboard_log("runs/first") as log:
        monitor = Monitor(log=log)
        monitor.tell(TrainingReport(1, 50, {"loss": 2.0, "balance": 0.5}))
        monitor.tell(TrainingReport(0, 50, {"loss": 1.0}, "tuning", 0.3))
    writer = FakeWriter.made[-1]
    assert writer.folder == "runs/first"
    assert writer.curves == [("loss", 2.0, 50), ("balance", 0.5, 50), ("tuning/loss", 1.0, 50)]
    assert writer.calls == ["flush", "flush", "close"], "written at once, so a kill loses nothing"


def test_tensorboard_itself_reads_the_curve(tmp_path: Path) -> None:
    pytest.importorskip(
        "tensorboard",
        reason="tensorboard is not installed here (pip install 'samekind[tensorboard]')",
    )
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    with tensorboard_log(str(tmp_path)) as log:
        for step in (10, 20):
            Monitor(log=log).tell(TrainingReport(0, step, {"loss": 1 / step}))
    found = EventAccumulator(str(tmp_path))
    found.Reload()
    points = [(event.step, event.value) for event in found.Scalars("loss")]
    assert [step for step, _ in points] == [10, 20]
    assert [value for _, value in points] == pytest.approx([0.1, 0.05])


def test_copies_are_watched_by_the_same_people_and_pickles_by_nobody() -> None:
    stop = threading.Event()
    monitor = Monitor(report=lambda told: None, log=lambda step, values: None, stop=stop, every=7)
    assert copy.copy(monitor) is monitor and copy.deepcopy(monitor) is monitor
    read = pickle.loads(pickle.dumps(monitor))
    assert read == Monitor(every=7)
    stop.set()
    with pytest.raises(Cancelled):
        monitor.check()
    read.check()


@pytest.mark.parametrize(("steps", "begun"), [(20, None), (20, 40), (None, None)])
def test_a_bar_takes_reports_of_any_phase_also_when_it_is_closed(
    steps: int | None, begun: int | None, capsys: pytest.CaptureFixture[str]
) -> None:
    with bar("Training", steps, begun=begun) as report:
        report(TrainingReport(2, 50, {"loss": 1.25}))
        report(TrainingReport(2, 60, {"loss": 1.0}))
        report(TrainingReport(0, 5, {"loss": 0.5}, "tuning", 0.25))
    report(TrainingReport(3, 70, {"loss": 0.75}))
    assert capsys.readouterr().out == "", "standard output belongs to results"


def test_a_bar_counts_from_the_step_at_which_it_began(monkeypatch: Any) -> None:
    import rich.progress

    seen: list[dict[str, Any]] = []
    update = rich.progress.Progress.update

    def spy(self: Any, task: Any, **changes: Any) -> None:
        seen.append(changes)
        update(self, task, **changes)

    monkeypatch.setattr(rich.progress.Progress, "update", spy)
    with bar("Training", 100, begun=200) as report:
        report(TrainingReport(2, 250, {"loss": 1.25}))
        report(TrainingReport(0, 20, {"loss": 0.5}, "tuning", 0.25))
    assert seen[0]["completed"] == 50 and "epoch 2, loss 1.2500" in seen[0]["description"]
    assert seen[1]["completed"] == 0.25 and seen[1]["description"].startswith("Tuning")
