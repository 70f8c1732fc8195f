"""The server is killed, started again, and nothing is lost."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
from PIL import Image

from waiting import PATIENCE, until

SLOWLY = """
import sys, time
from pathlib import Path
from waiting import PATIENCE
from samekind.encoders.pixels import Pixels
log, gate = Path(sys.argv[1]), Path(sys.argv[1]).with_suffix(".gate")
whole = Pixels.read
def read(self, items):
    with log.open("a") as file:
        file.writelines(item.id + "\\n" for item in items)
    while gate.exists() and len(log.read_text().splitlines()) >= 64:
        time.sleep(0.01)
    return whole(self, items)
Pixels.read = read
from samekind.cli.main import main
main(["serve", "--port", "0", *sys.argv[2:]])
"""
"""``samekind serve`` with an encoder that logs what it reads, and stops at 64 items if gated."""


class Server:
    """``samekind serve`` in a process of its own."""

    def __init__(self, home: Path, log: Path, *arguments: str) -> None:
        environment = {
            **os.environ,
            "SAMEKIND_HOME": str(home),
            "OMP_NUM_THREADS": "1",
            "PYTHONPATH": os.pathsep.join(sys.path),
        }
        self.process = subprocess.Popen(
            [sys.executable, "-c", SLOWLY, str(log), *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=environment,
        )
        assert self.process.stdout is not None
        said = ""
        while not (found := re.search(r"(http://127\.0\.0\.1:\d+)(\S*)", said)):
            line = self.process.stdout.readline()
            assert line, f"the server ended: {said}"
            said += line
        threading.Thread(target=self.process.stdout.read, daemon=True).start()
        self.client = httpx.Client(
            base_url=found[1], timeout=PATIENCE, trust_env=False, follow_redirects=True
        )
        self.client.get("/" + found[2].lstrip("/"))  # the printed address lets the browser in

    def get(self, path: str) -> Any:
        reply = self.client.get(path)
        assert reply.status_code == 200, reply.text
        return reply.json()

    def post(self, to: str, **body: Any) -> Any:
        reply = self.client.post(to, json=body)
        assert reply.status_code in (200, 202), reply.text
        return reply.json()

    def wait(self, job: dict[str, Any]) -> dict[str, Any]:
        def ended() -> bool:
            job.update(self.get(f"/api/jobs/{job['id']}"))
            return job["state"] not in ("queued", "running")

        until(ended)
        return job

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()


Start = Callable[..., Server]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    servers: list[Server] = []

    def make(*arguments: str) -> Server:
        servers.append(Server(tmp_path / "home", tmp_path / "read.log", *arguments))
        return servers[-1]

    yield make
    for server in servers:
        server.kill()


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    folder = tmp_path / "photos"
    folder.mkdir()
    rng = np.random.default_rng(0)
    for k in range(160):
        shade = [(200, 20, 20), (20, 20, 200), (20, 180, 20)][k % 3]
        picture = np.clip(np.array(shade) + rng.normal(0, 20, (16, 16, 3)), 0, 255)
        Image.fromarray(picture.astype(np.uint8)).save(folder / f"{k:03}.png")
    return folder


def test_killed_while_encoding_it_continues_where_it_was(
    start: Start, photos: Path, tmp_path: Path
) -> None:
    log, gate = tmp_path / "read.log", tmp_path / "read.gate"
    gate.touch()
    server = start()
    job = server.post("/api/start/open", path=str(photos), encoder="pixels")
    until(lambda: log.exists() and len(log.read_text().splitlines()) >= 64)
    server.kill()
    assert len(log.read_text().splitlines()) < 160, "it was killed in the middle"
    gate.unlink()
    server = start()
    [cut] = server.get("/api/jobs")["jobs"]
    assert (cut["id"], cut["state"], cut["can_go_on"]) == (job["id"], "interrupted", True)
    [known] = server.get("/api/start")["recent"]
    assert not known["finished"] and known["pile"] == job["pile"]
    done = server.wait(server.post(f"/api/jobs/{cut['id']}/again"))
    assert done["state"] == "finished", done["words"]
    assert server.get(f"/api/session?pile={job['pile']}")["items"] == 160
    read = log.read_text().splitlines()
    assert set(read) == {f"{k:03}.png" for k in range(160)}
    assert len(read) <= 160 + 2 * 16, "only the batch that was under way is read again"
    # What was cut off has been done, so it is not offered a second time.
    assert all(one["state"] != "interrupted" for one in server.get("/api/jobs")["jobs"])


def test_killed_between_answers_it_loses_and_doubles_none(start: Start, photos: Path) -> None:
    told: dict[int, str] = {}
    server = start()
    job = server.wait(server.post("/api/start/open", path=str(photos), encoder="pixels"))
    pile = job["pile"]
    answer_some(server, told, f"?pile={pile}")
    server.kill()
    server = start()
    assert server.wait(server.post("/api/start/again", pile=pile))["state"] == "finished"
    assert kept_answers(server, f"&pile={pile}") == told
    answer_some(server, told, f"?pile={pile}")
    server.kill()
    # A pile that is named on the command line needs no address of its own.
    server = start(str(photos), "--encoder", "pixels")
    assert kept_answers(server) == told and len(told) == 14
    about = server.get("/api/start")
    assert about["pile"] == pile and [known["pile"] for known in about["recent"]] == [pile]
    assert server.get("/api/session")["items"] == 160
    assert server.get(f"/api/session?pile={pile}")["items"] == 160


def kept_answers(server: Server, where: str = "") -> dict[int, str]:
    found = server.get(f"/api/answers?limit=100{where}")["answers"]
    return {answer["number"]: answer["choice"] for answer in found}


def answer_some(server: Server, told: dict[int, str], where: str) -> None:
    """Answer seven questions, across refits, which happen every five answers."""
    for _ in range(7):
        number, choice = answer(server, where)
        told[number] = choice


def answer(server: Server, where: str) -> tuple[int, str]:
    """Answer the open question by colour; number and choice, once the server has confirmed."""
    question: dict[str, Any] = {}

    def asked() -> bool:
        question.update(server.get(f"/api/question{where}")["question"] or {})
        return bool(question)

    until(asked)

    def kind(item: dict[str, Any]) -> int:
        return int(item["id"].removesuffix(".png")) % 3

    own = kind(question["items"][0])
    choices = {one["value"]: one["exemplars"] for one in question["choices"]}
    choice = next((c for c, shown in choices.items() if shown and kind(shown[0]) == own), "")
    if not choice:
        same = all(kind(item) == own for item in question["items"])
        wanted = ("same", "all") if same else ("different", "none", "unsure")
        choice = next((c for c in wanted if c in choices), "unsure")
    server.post(f"/api/answers{where}", number=question["number"], choice=choice)
    return question["number"], choice
