"""The connection to a Ray cluster."""

from __future__ import annotations

import socket
from types import SimpleNamespace
from typing import Any

import pytest

from samekind.bulk import cluster
from samekind.errors import InputError


class BusyCluster:
    """Stands for the package of Ray; the first connections are refused by the cluster."""

    def __init__(self, failures: int) -> None:
        self.failures, self.attempts, self.open = failures, 0, False
        context = SimpleNamespace(get_current=SimpleNamespace)
        self.data = SimpleNamespace(DataContext=context)

    def init(self, **settings: Any) -> None:
        self.attempts += 1
        if self.attempts <= self.failures:
            raise ConnectionAbortedError("Starting Ray client server failed.")
        self.open = True

    def is_initialized(self) -> bool:
        return self.open

    def shutdown(self) -> None:
        self.open = False


@pytest.fixture
def address(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(cluster, "SECONDS_BETWEEN_ATTEMPTS", 0.0)
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        yield f"127.0.0.1:{listener.getsockname()[1]}"


def test_a_cluster_that_fails_to_start_its_server_is_asked_again(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    busy = BusyCluster(failures=2)
    monkeypatch.setattr(cluster, "_ray", lambda: busy)
    with cluster.connected(address) as ray:
        assert ray.open
    assert (busy.attempts, busy.open) == (3, False)


def test_a_cluster_that_fails_every_time_is_a_clear_error(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    busy = BusyCluster(failures=99)
    monkeypatch.setattr(cluster, "_ray", lambda: busy)
    words = r"no Ray cluster.*client server failed.*--on local"
    with pytest.raises(InputError, match=words), cluster.connected(address):
        pass
    assert busy.attempts == cluster.ATTEMPTS
