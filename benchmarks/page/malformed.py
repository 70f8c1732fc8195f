"""Requests that no page would send, and what a server must make of them: a refusal in words."""

from __future__ import annotations

import itertools
import random
import re
import secrets
import socket
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx

from benchmarks.measuring import percentiles
from benchmarks.page.stage import Server

PATIENCE = 15.0
"""Seconds after which a request without an answer counts as a hang."""
METHODS = ("TRACE", "PROPFIND", "FOO", "CONNECT", "get", "OPTIONS", "HEAD", "PATCH", "A" * 200)
STEPS = ("../", "..%2f", "%2e%2e/", "%2e%2e%2f", "..\\", "..%5c", "....//", "%252e%252e%252f")
PLACES = ("/", "/assets/", "/api/items/", "/api/export/", "/api/groups/", "/api/map/", "/start/")
BODIES = (
    b"",
    b"{",
    b"null",
    b"[]",
    b'"x"',
    b"NaN",
    b"[" * 30_000,
    b'{"a":' * 5_000,
    b'{"number": 1e400, "choice": "same"}',
    b'{"number": 1, "choice": "\\ud800"}',
    b'{"number": 99999999999999999999999999, "choice": "same"}',
    b'{"items": [-1, 0, 1e9], "group": {}, "to": null}',
    b'{"path": "../../../../etc/passwd", "target": "\\u0000"}',
    b'{"name": "\\u202e\\u0000<script>"}',
    b"\xff\xfe\x00\x01",
    b'{"x": "' + b"a" * 70_000 + b'"}',
)
HEADERS = (
    b"Host: evil.example",
    b"Host:",
    b"Cookie: " + b"a=b; " * 2_000,
    b"Cookie: =;;\x01;=",
    b"Authorization: Bearer " + b"x" * 3_000,
    b"X-Long: " + b"y" * 100_000,
    b"Content-Length: -1",
    b"Content-Length: 18446744073709551616",
    b"Transfer-Encoding: chunked, chunked",
    b"Transfer-Encoding: gzip",
    b"Range: bytes=0-,5-,99999999999-",
    b"If-None-Match: " + b'"' * 500,
    b"Accept-Encoding: " + b"gzip," * 1_000,
    b"Origin: null",
    b"Sec-Fetch-Site: cross-site",
    b"Upgrade: websocket\r\nConnection: upgrade",
    b"Expect: 100-continue",
    b"no colon at all",
    b"\x00: \x00",
)
QUERIES = (
    "%",
    "%zz",
    "%00=%00",
    "=&=&",
    "session=%00",
    "session=" + "a" * 5_000,
    "session=main&session=other",
    "offset=-1",
    "offset=0x10",
    "limit=1e9",
    "limit=NaN",
    "positions=" + "1," * 3_000,
    "positions=-1",
    "version=99999999999999999999",
    "pile=../..",
    "order[]=x",
    "token=wrong",
)


class Tally:
    """What came back."""

    def __init__(self, secret: str) -> None:
        self.secret = secret.encode()
        self.codes: Counter[str] = Counter()
        self.bad: list[str] = []
        self.seconds: list[float] = []

    def note(self, what: str, code: int | None, body: bytes, seconds: float) -> None:
        self.codes[str(code) if code else "closed"] += 1
        self.seconds.append(seconds)
        if code is not None and code >= 500:
            self.bad.append(f"{code}: {what}")
        if seconds >= PATIENCE:
            self.bad.append(f"hang: {what}")
        if self.secret in body or b"root:x:" in body:
            self.bad.append(f"a file outside was read: {what}")


def malformed(server: Server, outside: Path, most: int, seed: int) -> dict[str, Any]:
    """Send about `most` requests; none may end in a server fault, a hang, or a foreign file."""
    secret = secrets.token_hex(16)
    (outside / "secret.txt").write_text(secret, encoding="utf-8")
    token = server.entrance.partition("token=")[2]
    tally = Tally(secret)
    schema = httpx.get(
        f"{server.origin}/api/openapi.json",
        headers={"Authorization": f"Bearer {token}"},
        trust_env=False,
    ).json()
    begun = time.perf_counter()
    made = from_schema(server, token, schema, most // 3, tally)
    rng = random.Random(seed)
    by_hand = list(hand_made(schema, outside, token))
    rng.shuffle(by_hand)
    wanted = (by_hand * (most // len(by_hand) + 1))[: max(0, most - made)]
    strangers = intruders(server, schema)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda raw: raw_request(server, raw, tally), wanted))
    alive = httpx.get(
        f"{server.origin}/api/session",
        headers={"Authorization": f"Bearer {token}"},
        trust_env=False,
    )
    wrong = []
    if alive.status_code != 200:
        wrong.append(f"afterwards the server answers {alive.status_code}")
    if strangers.keys() != {"403"}:
        wrong.append(f"expected 403 for everyone without the token, got {strangers}")
    return {
        "requests": made + len(wanted) + sum(strangers.values()),
        "from_the_schema": made,
        "by_hand": len(wanted),
        "by_hand_different": len(by_hand),
        "operations": sum(len(methods) for methods in schema["paths"].values()),
        "codes": dict(sorted(tally.codes.items())),
        "faults_5xx_hangs_or_foreign_files": len(tally.bad),
        "first_faults": tally.bad[:20],
        "without_token": strangers,
        "seconds": round(time.perf_counter() - begun, 1),
        "reply_ms": percentiles(tally.seconds),
        "alive_after": alive.status_code,
        "wrong": wrong,
        "tracebacks": sum("Traceback" in line for line in server.faults),
        "last_words": [line.strip()[:200] for line in server.faults[-3:]],
    }


# -- from the description of the interface --------------------------------------------------------


def from_schema(server: Server, token: str, schema: dict[str, Any], most: int, tally: Tally) -> int:
    """Requests that schemathesis makes up: half of them as described, half of them not."""
    import hypothesis
    import requests
    import schemathesis
    from schemathesis import GenerationMode

    described: Any = schemathesis.openapi.from_dict(schema)
    every = [one.ok() for one in described.get_all_operations()]
    # A stream of news does not come to an end.
    operations = [one for one in every if one.path != "/api/events"]
    each = max(2, most // (2 * len(operations)))
    sent = 0
    with requests.Session() as http:
        http.trust_env = False
        for operation, mode in itertools.product(operations, GenerationMode):

            def run(case: Any) -> None:
                nonlocal sent
                begun = time.perf_counter()
                code, body = None, b""
                try:
                    reply = case.call(
                        base_url=server.origin,
                        session=http,
                        headers={"Authorization": f"Bearer {token}"},
                        timeout=PATIENCE,
                    )
                    code, body = reply.status_code, reply.content
                except (requests.RequestException, OSError, UnicodeError, ValueError):
                    pass  # what cannot be sent, or is cut off
                sent += 1
                what = f"{case.method} {case.path} {str(case.query)[:80]} {str(case.body)[:80]}"
                tally.note(what, code, body, time.perf_counter() - begun)

            settings = hypothesis.settings(
                max_examples=each,
                deadline=None,
                derandomize=True,
                database=None,
                suppress_health_check=list(hypothesis.HealthCheck),
            )
            try:
                settings(hypothesis.given(case=operation.as_strategy(mode))(run))()
            except hypothesis.errors.Unsatisfiable:
                continue  # nothing about it can be wrong
    return sent


# -- by hand --------------------------------------------------------------------------------------


def hand_made(schema: dict[str, Any], outside: Path, token: str) -> Iterator[bytes]:
    """Bytes of requests that are wrong in one way or another."""
    ours = b"Authorization: Bearer " + token.encode()
    paths = [re.sub(r"\{[^}]*\}", "1", path) for path in schema["paths"] if "events" not in path]
    targets = (
        "etc/passwd",
        f"{str(outside).lstrip('/')}/secret.txt",
        "secret.txt",
        "pyproject.toml",
    )
    for place, step, depth, target in itertools.product(PLACES, STEPS, (1, 3, 6, 10), targets):
        yield request("GET", place + step * depth + target, ours)
    for path, method in itertools.product([*paths, "/", "/nowhere", "*"], METHODS):
        yield request(method, path, ours)
    for path, body, method in itertools.product(paths, BODIES, ("POST", "PUT")):
        yield request(method, path, ours, b"Content-Type: application/json", body=body)
    for path, header in itertools.product(paths, HEADERS):
        yield request("GET", path, ours, header)
    for path, query in itertools.product(paths, QUERIES):
        yield request("GET", f"{path}?{query}", ours)
    for kind in (
        b"text/plain",
        b"multipart/form-data; boundary=x",
        b"application/json; charset=utf-7",
    ):
        for path in paths:
            yield request("POST", path, ours, b"Content-Type: " + kind, body=b"{}")
    yield from (
        b"\r\n\r\n",
        b"GET\r\n\r\n",
        b"GET / HTTP/9.9\r\nConnection: close\r\n\r\n",
        b"\x16\x03\x01\x02\x00",
        b"\x00" * 99,
    )
    yield request("GET", "/" + "a" * 70_000, ours)


def request(method: str, path: str, *headers: bytes, body: bytes | None = None) -> bytes:
    """The bytes of one request; the host is filled in when it is sent."""
    lines = [f"{method} {path} HTTP/1.1".encode("utf-8", "surrogateescape"), *headers]
    if not any(line.lower().startswith(b"host:") for line in headers):
        lines.insert(1, b"Host: HOST")
    if body is not None:
        lines.append(b"Content-Length: %d" % len(body))
    lines.append(b"Connection: close")
    return b"\r\n".join(lines) + b"\r\n\r\n" + (body or b"")


def raw_request(server: Server, raw: bytes, tally: Tally) -> None:
    """Send bytes as they are, and read until the server closes."""
    host, _, port = server.origin.removeprefix("http://").partition(":")
    begun = time.perf_counter()
    got = b""
    waits = b"Length: 184467" in raw or b"Transfer-Encoding" in raw or not raw.count(b"HTTP/")
    with socket.create_connection((host, int(port)), timeout=PATIENCE) as line:
        try:
            line.sendall(raw.replace(b"HOST", f"{host}:{port}".encode(), 1))
            if waits:  # it announces more than comes: the server may wait until we hang up
                line.settimeout(1.0)
            while (part := line.recv(65536)) and len(got) < 2**20:
                got += part
        except TimeoutError:
            if waits:
                begun = time.perf_counter()
        except OSError:
            pass  # the server has hung up, as it may
    found = re.match(rb"HTTP/1\.1 (\d{3})", got)
    tally.note(repr(raw[:120]), int(found[1]) if found else None, got, time.perf_counter() - begun)


def intruders(server: Server, schema: dict[str, Any]) -> dict[str, int]:
    """How each path answers to those without the token, or with a wrong one: by code."""
    shows: list[dict[str, str]] = [
        {},
        {"Authorization": "Bearer wrong"},
        {"Cookie": "samekind-0=x"},
    ]
    codes: Counter[str] = Counter()
    with httpx.Client(base_url=server.origin, timeout=PATIENCE, trust_env=False) as http:
        for path, headers in itertools.product(schema["paths"], shows):
            codes[str(http.get(re.sub(r"\{[^}]*\}", "1", path), headers=headers).status_code)] += 1
            codes[str(http.post(f"{path}?token=wrong", json={}, headers=headers).status_code)] += 1
    return dict(codes)
