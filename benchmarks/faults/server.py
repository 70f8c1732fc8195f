"""Attacks on the server: malformed requests, slow clients, many streams and large bodies."""

from __future__ import annotations

import os
import re
import resource
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import httpx

from benchmarks.faults.outcome import Outcome
from benchmarks.faults.time_and_size import anonymous_megabytes
from samekind.web import connections

MAX_GROWTH = 400
"""Megabytes that a server may take more than before an attack."""
MAX_DESCRIPTORS = 256
"""Files and connections that the attacked server may have open; the usual limit on a Mac."""
HALVES = 300
"""Connections of one attack: more than the server may have open."""
MAX_REPLY_SECONDS = 60.0
"""Time in which another client must get its reply during an attack."""
PATIENCE = 120.0
"""Seconds, beyond the limits of the server itself, in which it must have closed connections."""
WITH_LIMIT = """
import sys
from samekind.cli.main import main
from samekind.web import connections
connections.HEAD_SECONDS = connections.STALL_SECONDS = float(sys.argv[1])
main(sys.argv[2:])
"""
"""``samekind`` with another limit for slow clients."""


@dataclass(frozen=True)
class Served:
    """A server in a process of its own.

    Parameters
    ----------
    origin : the address without the token. printed : the file that the server prints to.
    announced : the lines that it printed before the first request; they contain the token.
    """

    process: subprocess.Popen[str]
    origin: str
    token: str
    printed: Path
    announced: frozenset[str]

    @property
    def host(self) -> str:
        return self.origin.removeprefix("http://")

    @property
    def authorization(self) -> str:
        return f"Authorization: Bearer {self.token}\r\n"

    def get(self, path: str) -> httpx.Response:
        """Ask as a client that has no connection yet."""
        headers = {"Authorization": f"Bearer {self.token}"}
        address = self.origin + path
        return httpx.get(address, headers=headers, timeout=MAX_REPLY_SECONDS, trust_env=False)

    def connect(self) -> socket.socket:
        host, _, port = self.host.partition(":")
        return socket.create_connection((host, int(port)), timeout=30)

    def descriptors(self) -> int:
        """How many files and connections the server has open; 0 where nobody can say."""
        folder = Path(f"/proc/{self.process.pid}/fd")
        return len(list(folder.iterdir())) if folder.is_dir() else 0

    def leaks(self) -> Iterator[str]:
        """Say what the log must not contain."""
        lines = self.printed.read_text().splitlines()
        if any(self.token in line for line in lines if line not in self.announced):
            yield "the token is in the log"
        for words in ("Traceback", "Too many open files"):
            if found := sum(words in line for line in lines):
                yield f"{words} is in the log, {found} times"


@contextmanager
def served(descriptors: int | None = None, limit: float | None = None) -> Iterator[Served]:
    """Serve a small table, with few file descriptors or another limit for slow clients."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rows = folder / "rows.csv"
        rows.write_text("name,a,b\n" + "\n".join(f"<b>{k}</b>,{k % 7},{k % 3}" for k in range(90)))
        printed = folder / "printed"
        environment = {
            **os.environ,
            "SAMEKIND_HOME": str(folder / "home"),
            "OMP_NUM_THREADS": "1",
            "PYTHONPATH": os.pathsep.join(sys.path),
        }
        program = ["-m", "samekind"] if limit is None else ["-c", WITH_LIMIT, str(limit)]
        command = [sys.executable, *program, "serve", str(rows), "--port", "0"]

        def restrict() -> None:
            if descriptors is not None:
                resource.setrlimit(resource.RLIMIT_NOFILE, (descriptors, descriptors))

        with printed.open("w") as out:
            process = subprocess.Popen(
                command, stdout=out, stderr=out, text=True, env=environment, preexec_fn=restrict
            )
        try:
            while not (
                found := re.search(r"(http://[^/\s]+)/\?token=(\S+)\s", said := printed.read_text())
            ):
                if process.poll() is not None:
                    raise RuntimeError(printed.read_text())
                time.sleep(0.1)
            yield Served(process, found[1], found[2], printed, frozenset(said.splitlines()))
        finally:
            process.kill()
            process.wait()


def crowded(rounds: int, seed: int) -> Outcome:
    """Slow clients, more than descriptors, endless streams, huge bodies; others are still served.

    If not every act has a turn, the server gives slow clients two seconds only.
    """
    outcome = Outcome()
    limit = 2.0 if rounds < len(ACTS) else None
    slowest = longest = most = 0.0
    with served(MAX_DESCRIPTORS, limit) as server:
        server.get(f"/?token={server.token}")  # an access log would contain it
        memory, descriptors = anonymous_megabytes(server.process.pid), server.descriptors()
        for k in range(rounds):
            act = ACTS[k % len(ACTS)]
            with ExitStack() as held:
                try:
                    lines = act(held, server)
                    begun = time.monotonic()
                    codes = [server.get(p).status_code for p in ("/api/session", "/api/question")]
                    waited = time.monotonic() - begun
                except (httpx.HTTPError, OSError) as fault:
                    outcome.note(False, f"{act.__name__}: {type(fault).__name__}")
                    continue
                most = max(most, server.descriptors())
                released = _seconds_until(lambda: _all_closed(lines), limit)  # noqa: B023
            back = _seconds_until(lambda: server.descriptors() < descriptors + 20, limit)
            slowest, longest = max(slowest, waited), max(longest, released or 0.0)
            grown = anonymous_megabytes(server.process.pid) - memory
            good = codes == [200, 200] and waited < MAX_REPLY_SECONDS and grown < MAX_GROWTH
            good = good and released is not None and back is not None
            outcome.note(good, f"{act.__name__}: {codes}, {grown} MB, {waited:.0f} s, {released}")
        outcome.figures |= {
            "memory, MB": [memory, anonymous_megabytes(server.process.pid)],
            "connections at a time": HALVES,
            "descriptors": {"allowed": MAX_DESCRIPTORS, "most": int(most)},
            "slowest replies to another client, s": round(slowest, 2),
            "half requests held at most, s": round(longest, 1),
            "log, bytes": server.printed.stat().st_size,
        }
        outcome.problems.extend(server.leaks())
    return outcome


def _seconds_until(condition: Callable[[], bool], limit: float | None) -> float | None:
    """Wait; None if it took far more than the server gives slow clients."""
    begun = time.monotonic()
    patience = PATIENCE + (limit or connections.STALL_SECONDS)
    while not condition():
        if time.monotonic() - begun > patience:
            return None
        time.sleep(0.1)
    return time.monotonic() - begun


def _all_closed(lines: list[socket.socket]) -> bool:
    """Whether the server has closed all of these; removes them from the list."""
    while lines:
        lines[-1].setblocking(False)
        try:
            while lines[-1].recv(65_536):
                pass
        except BlockingIOError:
            return False
        except ConnectionError:
            pass
        lines.pop()
    return True


def half_heads(held: ExitStack, server: Served, n: int = HALVES) -> list[socket.socket]:
    """Hold connections that have sent half a request, without a token."""
    half = f"POST /api/answers HTTP/1.1\r\nHost: {server.host}\r\n"
    return [_send(held, server, half) for _ in range(n)]


def _half_bodies(held: ExitStack, server: Served) -> list[socket.socket]:
    """Hold connections that announce a body and send none, with the token and without."""
    kind = "Content-Type: application/json\r\nContent-Length: 60000\r\n"
    head = f"POST /api/answers HTTP/1.1\r\nHost: {server.host}\r\n{kind}"
    both = ("", server.authorization)
    return [_send(held, server, f"{head}{own}\r\n") for own in both for _ in range(HALVES)]


def _requests_ahead(held: ExitStack, server: Served) -> list[socket.socket]:
    """Hold connections that send many requests without a token, and read no reply."""
    request = f"GET /api/session HTTP/1.1\r\nHost: {server.host}\r\n\r\n"
    return [_send(held, server, request * 500) for _ in range(HALVES)]


def _send(held: ExitStack, server: Served, text: str) -> socket.socket:
    line = held.enter_context(server.connect())
    with suppress(ConnectionError):  # the server has hung up, as it may
        line.sendall(text.encode())
    return line


def _streams(held: ExitStack, server: Served) -> list[socket.socket]:
    """Hold 150 streams of events that nobody reads; too many of them are refused."""
    head = f"GET /api/events HTTP/1.1\r\nHost: {server.host}\r\n{server.authorization}\r\n"
    for _ in range(150):
        _send(held, server, head)
    return []  # streams may stay


def _huge_bodies(held: ExitStack, server: Served) -> list[socket.socket]:
    """Send ten bodies of 20 MB, announced and not."""
    headers = {"Authorization": f"Bearer {server.token}", "Content-Type": "application/json"}
    for announced in (True, False) * 5:
        body = (b" " * 65_536 for _ in range(320))
        content = b"".join(body) if announced else body
        address = f"{server.origin}/api/answers"
        with suppress(httpx.HTTPError):  # the server has hung up, as it may
            reply = httpx.post(
                address, content=content, headers=headers, timeout=60, trust_env=False
            )
            assert reply.status_code in (400, 413, 422), reply.status_code
    return []


Act = Callable[[ExitStack, Served], list[socket.socket]]
"""Attacks a server, and returns the connections that it must close by itself."""
ACTS: tuple[Act, ...] = (half_heads, _half_bodies, _requests_ahead, _streams, _huge_bodies)


def malformed(rounds: int, seed: int) -> Outcome:
    """Requests that no page would send, made from the description of the API and by hand."""
    from benchmarks.page import malformed as requests
    from benchmarks.page.stage import demo

    outcome = Outcome()
    with tempfile.TemporaryDirectory() as folder, demo(cwd=Path(folder)) as server:
        row = requests.malformed(server, Path(folder), rounds, seed)
    bad = row["faults_5xx_hangs_or_foreign_files"] + row["tracebacks"]
    outcome.rounds, outcome.survived = row["requests"], row["requests"] - bad
    outcome.problems = row["first_faults"][:5] + row["wrong"]
    outcome.figures = {
        "reply, ms": row["reply_ms"],
        "alive after": row["alive_after"],
        "without the token": row["without_token"],
    }
    return outcome
