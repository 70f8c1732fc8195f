"""A crowd: servers as processes of their own, and simulated people who answer over HTTP."""

from __future__ import annotations

import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

PATIENCE = 300.0
"""Seconds after which something counts as broken, not slow."""


def environment(home: Path) -> dict[str, str]:
    """Variables for a ``samekind`` process with a home of its own."""
    return {
        **os.environ,
        "SAMEKIND_HOME": str(home),
        "OMP_NUM_THREADS": "1",
        "PYTHONPATH": os.pathsep.join(sys.path),
    }


class Server:
    """``samekind serve`` for some people, in a process of its own."""

    def __init__(self, home: Path, pile: Path, ledger: str, people: Sequence[str], *more: str):
        options = ("--port", "0", "--ledger", ledger, "--people", ",".join(people), *more)
        self.command = [sys.executable, "-m", "samekind", "serve", str(pile), *options]
        self.home = home
        self.said: list[str] = []
        self.tokens: dict[str, str] = {}
        self.origin = ""
        self.people = people
        self.process = self._start()

    def _start(self) -> subprocess.Popen[str]:
        return subprocess.Popen(
            self.command,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=environment(self.home),
        )

    def restart(self) -> None:
        """Kill it, and wait until it serves again; people reconnect by themselves."""
        self.kill()
        self.process = self._start()
        self.wait()

    def wait(self) -> None:
        """Wait until it has printed the address of every person."""
        lines, tokens = self.process.stdout, {}
        while lines is not None and len(tokens) < len(self.people):
            line = lines.readline()
            if not line:
                raise RuntimeError(f"The server ended: {''.join(self.said)}")
            self.said.append(line)
            found = re.match(r"For (.+): (http://[^/]+)/\?token=(\S+)", line)
            if found:
                tokens[found[1]], self.origin = found[3], found[2]
        self.tokens = tokens
        threading.Thread(target=lambda: self.said.extend(lines or ()), daemon=True).start()

    def kill(self) -> None:
        """End it as a power cut would."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def faults(self) -> list[str]:
        """What it has printed since it was ready: warnings and errors."""
        return [line for line in self.said if "token=" not in line and "ERROR" in line]


@dataclass
class AnswerLog:
    """What one person saw and was told."""

    confirmed: list[tuple[int, str]] = field(default_factory=list)
    """Numbers and choices of the answers that a server has confirmed."""
    shown: list[tuple[int, float, float]] = field(default_factory=list)
    """Questions by number, and from when to when each was open."""
    seconds: list[float] = field(default_factory=list)
    """From sending an answer to having the next question."""
    refused: Counter[str] = field(default_factory=Counter)
    waited: int = 0
    """How often there was no question for a moment."""
    moves: int = 0
    """How often the person changed to another server, because theirs did not answer."""


class Person(threading.Thread):
    """Someone who answers until told to stop.

    Parameters
    ----------
    kinds : what each item is. error : share of answers that are wrong.
    think : mean seconds of looking at a question.
    """

    def __init__(
        self,
        name: str,
        servers: Sequence[Server],
        kinds: Callable[[str], int],
        *,
        think: float,
        error: float,
        seed: int,
    ) -> None:
        super().__init__(name=name, daemon=True)
        self.servers, self.kinds = list(servers), kinds
        self.think, self.error, self.rng = think, error, random.Random(seed)
        self.log, self.stopped = AnswerLog(), threading.Event()
        self.problem: BaseException | None = None
        self._http = self._connect()

    def run(self) -> None:
        try:
            while not self.stopped.is_set():
                self._turn()
        except BaseException as problem:
            self.problem = problem
        finally:
            self._http.close()

    def _turn(self) -> None:
        found = self._send("GET", "/api/question").json()["question"]
        while found is not None and not self.stopped.is_set():
            seen = time.monotonic()
            self.stopped.wait(self.think * self.rng.uniform(0.5, 1.5))
            told = {"number": found["number"], "choice": self.choose(found)}
            begun = time.monotonic()
            reply = self._send("POST", "/api/answers", told)
            self.log.shown.append((found["number"], seen, begun))
            if reply.status_code != 200:
                self.log.refused[reply.json()["error"]["type"]] += 1
                return
            self.log.confirmed.append((told["number"], told["choice"]))
            found = reply.json()["now"]["question"]
            if found is not None:
                self.log.seconds.append(time.monotonic() - begun)
        self.log.waited += found is None
        self.stopped.wait(0.2)

    def choose(self, question: dict[str, Any]) -> str:
        """The true choice, or a wrong one now and then."""
        own = self.kinds(question["items"][0]["id"])
        groups = {c["value"]: c["exemplars"] for c in question["choices"] if c["exemplars"]}
        right = [v for v, shown in groups.items() if self.kinds(shown[0]["id"]) == own]
        wrong = [value for value in groups if value not in right]
        if wrong and self.rng.random() < self.error:
            return self.rng.choice(wrong)
        if groups:
            return right[0] if right else "none"
        same = all(self.kinds(item["id"]) == own for item in question["items"])
        return "same" if same else "different"

    def _send(self, method: str, path: str, body: Any = None) -> httpx.Response:
        """Send a request; if the server is gone, send the same to another one."""
        end = time.monotonic() + PATIENCE
        while True:
            try:
                reply = self._http.request(method, path, json=body)
                if reply.status_code < 500:
                    return reply
                self.log.refused[f"status {reply.status_code}"] += 1
            except httpx.HTTPError:
                self.log.moves += 1
                self.servers.append(self.servers.pop(0))
                self._http.close()
                self._http = self._connect()
            if time.monotonic() > end:
                raise RuntimeError(f"No server answers {self.name}.")
            time.sleep(0.1)

    def _connect(self) -> httpx.Client:
        server = self.servers[0]
        headers = {"Authorization": f"Bearer {server.tokens[self.name]}"}
        return httpx.Client(
            base_url=server.origin, headers=headers, timeout=PATIENCE, trust_env=False
        )
