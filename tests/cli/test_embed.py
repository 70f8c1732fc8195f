"""``samekind embed``: what it prints, how it stops, and what it says when something is missing."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from drawn_sources import picture_bytes, write_pictures
from samekind.bulk.vector_store import VectorStore
from samekind.cli.embed import Bars, Lines, Pace
from samekind.cli.main import main
from samekind.workspace.pile import open_pile

needs_lance = pytest.mark.skipif(
    find_spec("lance") is None,
    reason="needs the extra cluster: pip install 'samekind[cluster]'",
)
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    def samekind(*arguments: object) -> tuple[int, str, str]:
        try:
            main([str(argument) for argument in arguments])
            code = 0
        except SystemExit as stop:
            code = int(stop.code or 0)
        out, err = capsys.readouterr()
        return code, out, err

    return samekind


@needs_lance
def test_a_folder_is_embedded_and_continued(tmp_path: Path, run: Run) -> None:
    folder, out = write_pictures(tmp_path / "photos", 30), tmp_path / "v.lance"
    (folder / "cut.png").write_bytes(picture_bytes(1)[:100])
    code, said, noted = run("embed", folder, "--out", out, "--encoder", "pixels")
    assert code == 0
    assert f"{out}: 30 vectors by pixels." in said and f"samekind serve {out}" in said
    assert re.search(r"Could not be read: cut\.png: .*truncated", noted)
    store, pile = VectorStore.open(out), open_pile(folder, encoder="pixels")
    order = [pile.collection.position(id) for id in store.texts(range(30))]
    np.testing.assert_allclose(store.vectors(range(30)), pile.X[order], rtol=1e-5, atol=1e-5)
    write_pictures(folder, 2, first=30)
    (folder / "photo 0.png").unlink()
    code, said, noted = run("embed", folder, "--out", out)
    assert code == 0 and "32 vectors by pixels, 30 of them from before." in said
    assert "1 vector is of items that have changed or are gone" in noted
    code, said, _ = run("embed", folder, "--out", out, "--json")
    found = json.loads(said)
    assert (found["n_before"], found["n_added"], found["broken"][0]["id"]) == (32, 0, "cut.png")


@needs_lance
def test_wrong_requests_are_one_sentence(tmp_path: Path, run: Run) -> None:
    folder, out = write_pictures(tmp_path / "photos", 3), tmp_path / "v.lance"
    assert run("embed", folder, "--out", out, "--encoder", "pixels")[0] == 0
    for arguments, code, words in (
        ((folder, "--out", out, "--encoder", "tfidf"), 2, "Expected the encoder 'pixels'"),
        ((folder, "--out", tmp_path / "v.npy"), 2, "ends in .lance"),
        ((tmp_path / "none", "--out", tmp_path / "w.lance"), 3, "There is no file or folder"),
        ((folder, "--out", tmp_path / "w.lance", "--encoder", "pixel"), 5, "Did you mean"),
        ((folder, "--out", tmp_path / "w.lance", "--on", "127.0.0.1:1"), 2, "no Ray cluster"),
    ):
        found, _, noted = run("embed", *arguments)
        assert (found, words in " ".join(noted.split())) == (code, True), noted
        assert "Traceback" not in noted


def test_without_the_extra_the_pip_line_is_named(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "lance", None)
    folder = write_pictures(tmp_path / "photos", 3)
    code, _, noted = run("embed", folder, "--out", tmp_path / "v.lance")
    assert code == 12 and "pip install 'samekind[cluster]'" in " ".join(noted.split())


@needs_lance
def test_without_ray_only_work_on_a_cluster_is_refused(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    folder, out = write_pictures(tmp_path / "photos", 90), tmp_path / "v.lance"
    arguments = ("embed", folder, "--out", out, "--encoder", "pixels", "--sample", 64)
    code, _, noted = run(*arguments, "--on", "ray")
    assert code == 12 and "pip install 'samekind[cluster]'" in " ".join(noted.split())
    assert not out.exists(), "found out before any work"
    assert run(*arguments)[0] == 0


@needs_lance
def test_ctrl_c_keeps_what_is_done_and_says_how_to_go_on(tmp_path: Path, run: Run) -> None:
    folder, out = write_pictures(tmp_path / "photos", 300), tmp_path / "v.lance"
    places = os.pathsep.join(path for path in sys.path if path)
    environment = {**os.environ, "PYTHONPATH": places, "SLOW_ENCODER_SECONDS": "0.3"}
    command = ["embed", str(folder), "--out", str(out), "--sample", "64"]
    command += ["--encoder", "bulk.slow_encoder:Slow"]
    running = subprocess.Popen(
        [sys.executable, "-m", "samekind", *command],
        env=environment, stderr=subprocess.PIPE, text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # ignored in background
    )  # fmt: skip
    limit = time.monotonic() + 300
    while not VectorStore.exists(out):
        assert running.poll() is None and time.monotonic() < limit
        time.sleep(0.05)
    running.send_signal(signal.SIGINT)
    _, noted = running.communicate(timeout=300)
    assert running.returncode == 130 and "Traceback" not in noted
    assert noted.strip().splitlines()[-1].startswith("Stopped. What is embedded is kept;")
    assert len(VectorStore.open(out)) < 300
    assert run(*command)[0] == 0
    assert len(VectorStore.open(out)) == 300


def test_a_log_gets_a_line_every_few_seconds(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = [100.0]
    monkeypatch.setattr("samekind.cli.embed.monotonic", lambda: now[0])
    lines = Lines()
    for done in range(0, 5001, 100):
        lines("Embedding", done, 10_000)
        now[0] += 0.5
    noted = capsys.readouterr().err.strip().splitlines()
    assert noted == [
        "Embedding: 2,000 of 10,000 (200.0/s, 40 s left)",
        "Embedding: 4,000 of 10,000 (200.0/s, 30 s left)",
    ]


def test_the_rate_forgets_a_slow_start(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr("samekind.cli.embed.monotonic", lambda: now[0])
    pace = Pace()
    assert pace.rate("Embedding", 0) == 0.0
    rates = {}
    for second in range(1, 201):  # nothing happens for half a minute
        now[0] = float(second)
        rates[second] = pace.rate("Embedding", max(0, second - 30) * 10)
    assert rates[30] == 0.0 and 3 < rates[50] < 5 and rates[200] == 10.0
    assert pace.rate("Another", 5) == 0.0


def test_a_terminal_gets_a_bar_for_each_stage(monkeypatch: pytest.MonkeyPatch) -> None:
    from rich.progress import Progress

    now = [0.0]
    monkeypatch.setattr("samekind.cli.embed.monotonic", lambda: now[0])
    progress = Progress(disable=True)
    bars = Bars(progress)
    bars("Listing", 10, None)
    bars("Embedding", 64, 640)
    now[0] = 10.0
    bars("Embedding", 164, 640)
    tasks = {task.description: task for task in progress.tasks}
    assert tasks.keys() == {"Listing", "Embedding"}
    assert (tasks["Embedding"].completed, tasks["Embedding"].total) == (164, 640)
    assert tasks["Embedding"].fields["rate"] == "10/s"
