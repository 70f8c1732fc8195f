"""Attacks on the server: malformed requests, slow clients, many streams and large bodies."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx

from benchmarks.faults.outcome import Outcome
from benchmarks.faults.time_and_size import anonymous_megabytes

MAX_GROWTH = 400
"""Megabytes that a server may take more than before an attack."""


@contextmanager
def served() -> Iterator[tuple[subprocess.Popen[str], str, str, Path]]:
    """A server over a small table: its process, origin, token, and the file that it prints to."""
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
        command = [sys.executable, "-m", "samekind", "serve", str(rows), "--port", "0"]
        with printed.open("w") as out:
            process = subprocess.Popen(command, stdout=out, stderr=out, text=True, env=environment)
        try:
            while not (found := re.search(r"(http://[^/\s]+)/\?token=(\S+)", printed.read_text())):
                if process.poll() is not None:
                    raise RuntimeError(printed.read_text())
                time.sleep(0.1)
            yield process, found[1], found[2], printed
        finally:
            process.kill()
            process.wait()


def crowded(rounds: int, seed: int) -> Outcome:
    """Slow clients, streams that never end, and huge bodies; others are still served."""
    outcome = Outcome()
    with served() as (process, origin, token, printed):
        http = httpx.Client(
            base_url=origin,
            headers={"Authorization": f"Bearer {token}"},
            timeout=60,
            trust_env=False,
        )
        http.get("/api/session")
        before = anonymous_megabytes(process.pid)
        host, _, port = origin.removeprefix("http://").partition(":")
        for k in range(rounds):
            begun = time.monotonic()
            with ExitStack() as held:
                act = (_slow_clients, _streams, _huge_bodies)[k % 3]
                act(held, http, (host, int(port)), token)
                reply = http.get("/api/session")
                alive = reply.status_code == 200
                alive &= http.get("/api/question").status_code == 200
            seconds = time.monotonic() - begun
            grown = anonymous_megabytes(process.pid) - before
            good = alive and grown < MAX_GROWTH and seconds < 120
            outcome.note(good, f"{act.__name__}: {reply.status_code}, {grown} MB, {seconds:.0f} s")
        outcome.figures["memory, MB"] = [before, anonymous_megabytes(process.pid)]
        said = printed.read_text()
        if said.count(token) > said.count(f"?token={token}") or "Traceback" in said:
            outcome.problems.append("the token or a traceback is in the log")
    return outcome


def _slow_clients(
    held: ExitStack, http: httpx.Client, address: tuple[str, int], token: str
) -> None:
    """150 connections that have sent half a request."""
    for _ in range(150):
        line = held.enter_context(socket.create_connection(address, timeout=30))
        line.sendall(b"POST /api/answers HTTP/1.1\r\nHost: " + address[0].encode())


def _streams(held: ExitStack, http: httpx.Client, address: tuple[str, int], token: str) -> None:
    """150 streams of events that nobody reads; too many of them are refused."""
    for _ in range(150):
        line = held.enter_context(socket.create_connection(address, timeout=30))
        host = f"{address[0]}:{address[1]}"
        head = f"GET /api/events HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\n\r\n"
        line.sendall(head.encode())


def _huge_bodies(held: ExitStack, http: httpx.Client, address: tuple[str, int], token: str) -> None:
    """Ten bodies of 20 MB, announced and not."""
    for announced in (True, False) * 5:
        body = (b" " * 65_536 for _ in range(320))
        try:
            content = b"".join(body) if announced else body
            headers = {"Content-Type": "application/json"}
            reply = http.post("/api/answers", content=content, headers=headers)
            assert reply.status_code in (400, 413, 422), reply.status_code
        except httpx.HTTPError:
            pass  # the server has hung up, as it may


def malformed(rounds: int, seed: int) -> Outcome:
    """Requests that no page would send, made from the description of the API and by hand."""
    from benchmarks.page import malformed as requests
    from benchmarks.page.stage import demo

    outcome = Outcome()
    with tempfile.TemporaryDirectory() as folder, demo(cwd=Path(folder)) as server:
        row = requests.malformed(server, Path(folder), rounds, seed)
    bad = row["faults_5xx_hangs_or_foreign_files"] + row["tracebacks"]
    outcome.rounds, outcome.survived = row["requests"], row["requests"] - bad
    outcome.problems = row["first_faults"][:5]
    outcome.figures = {"reply, ms": row["reply_ms"], "alive after": row["alive_after"]}
    return outcome
