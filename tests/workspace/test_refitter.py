"""Refits in the background: one at a time per session, and none after closing."""

from __future__ import annotations

import threading
from types import SimpleNamespace

from samekind.workspace.refitter import Refitter
from waiting import PATIENCE


class Slow:
    """A session whose refit waits until it is let go."""

    def __init__(self, name: str = "main") -> None:
        self.name, self.due, self.answers = name, False, ()
        self.clustering = SimpleNamespace(snapshot=0)
        self.go, self.begun = threading.Event(), threading.Event()
        self.refits = self.at_once = self.most_at_once = 0

    def refit(self) -> None:
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        self.begun.set()
        assert self.go.wait(PATIENCE)
        self.refits += 1
        self.at_once -= 1


def test_one_session_is_refitted_once_at_a_time() -> None:
    refitter, slow = Refitter(), Slow()
    for _ in range(5):
        refitter.request(slow)  # type: ignore[arg-type]
    assert slow.begun.wait(PATIENCE) and refitter.busy("main")
    slow.go.set()
    assert refitter.wait("main")
    assert (slow.refits, slow.most_at_once) == (2, 1), "one, and one for all that came meanwhile"


def test_two_sessions_are_refitted_side_by_side() -> None:
    refitter, first, second = Refitter(), Slow("a"), Slow("b")
    refitter.request(first)  # type: ignore[arg-type]
    refitter.request(second)  # type: ignore[arg-type]
    assert first.begun.wait(PATIENCE) and second.begun.wait(PATIENCE)
    first.go.set()
    second.go.set()
    assert refitter.wait("a") and refitter.wait("b")


def test_nothing_is_started_after_closing() -> None:
    refitter, slow = Refitter(), Slow()
    refitter.request(slow)  # type: ignore[arg-type]
    refitter.request(slow)  # type: ignore[arg-type]
    slow.go.set()
    refitter.close()
    refitter.request(slow)  # type: ignore[arg-type]
    assert refitter.wait("main")
    assert slow.refits <= 2 and not refitter.busy("main")


def test_a_session_that_is_not_due_is_left_alone() -> None:
    refitter, slow = Refitter(), Slow()
    refitter.nudge(slow)  # type: ignore[arg-type]
    assert not refitter.busy("main")


def test_of_several_processes_one_refits_and_another_one_if_it_dies() -> None:
    def leads(changes: int) -> bool:
        shared = SimpleNamespace(refit_every=5, changes=changes)
        return Refitter()._leads(shared)  # type: ignore[arg-type]

    assert [n for n in range(60) if leads(n)] == [5, 15, 45]
