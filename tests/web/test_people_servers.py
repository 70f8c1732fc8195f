"""A few people on two servers and one ledger, of which one server is killed in the middle."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from benchmarks.gaussians import write_kinds
from benchmarks.people.checking import compare, summary
from benchmarks.people.crowd import Person, Server
from benchmarks.people.postgres import NoPostgres, new_database, running_postgres
from samekind.ledger.store import open_store
from waiting import PATIENCE, until

NAMES = ["anna", "ben", "cleo", "dan"]
ANSWERS = 16
"""Answers before the server is killed, and as many after it."""


@pytest.fixture(params=["sqlite", "postgresql"])
def ledger(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    if request.param == "sqlite":
        yield str(tmp_path / "answers.samekind")
        return
    pytest.importorskip("psycopg", reason="the PostgreSQL driver is not installed")
    pytest.importorskip("pwd", reason="the server is only started on Unix")
    try:
        with running_postgres() as server:
            yield new_database(server)
    except NoPostgres as missing:
        pytest.skip(str(missing))


def test_people_on_two_servers_lose_and_double_nothing(ledger: str, tmp_path: Path) -> None:
    kinds = write_kinds(tmp_path / "pile.npy", 400, 8, 4, seed=0)
    more = ("--overlap", "0.3", "--seed", "0")
    servers = []
    people: list[Person] = []
    try:
        for _ in range(2):  # one after the other: the first makes the ledger and the token
            servers.append(Server(tmp_path / "home", tmp_path / "pile.npy", ledger, NAMES, *more))
            servers[-1].wait()
        assert servers[0].tokens == servers[1].tokens
        for k, name in enumerate(NAMES):
            own = servers if k % 2 else servers[::-1]
            kind = lambda id: int(kinds[int(id.removeprefix("row-"))])  # noqa: E731
            people.append(Person(name, own, kind, think=0.05, error=0.0, seed=k))
            people[-1].start()

        def confirmed() -> int:
            assert not any(person.problem for person in people)
            return sum(len(person.log.confirmed) for person in people)

        until(lambda: confirmed() >= ANSWERS)
        servers[0].kill()
        at_kill = confirmed()
        until(lambda: confirmed() >= at_kill + ANSWERS)
        for person in people:
            person.stopped.set()
        for person in people:
            person.join(PATIENCE)
        check_what_a_server_knows(servers[1], people)
    finally:
        for server in servers:
            server.kill()
    assert not any(person.problem for person in people)
    logs = {person.name: person.log for person in people}
    counts = compare(open_store(ledger), "main", logs)
    assert summary(counts) == [], counts
    assert counts["confirmed"] >= 2 * ANSWERS and counts["second_opinions"] > 0
    assert all(log.confirmed and not log.refused for log in logs.values())
    assert sum(log.moves > 0 for log in logs.values()) >= 2, "two were on that server"


def check_what_a_server_knows(server: Server, people: list[Person]) -> None:
    """The one that is left has every answer, also those that the other one took."""
    headers = {"Authorization": f"Bearer {server.tokens['anna']}"}
    with httpx.Client(base_url=server.origin, headers=headers, timeout=PATIENCE) as http:
        http.get("/api/question")
        found = http.get("/api/progress/people").json()
    told = {p["name"]: p["answers"] + p["second_opinions"] for p in found["people"]}
    assert all(told[person.name] >= len(person.log.confirmed) for person in people)
    assert found["shared"] == found["agreed"] > 0, "nobody errs here"
