"""Progress: counts and time by kind, the curve over the answers, contradictions link by link."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from fastapi.testclient import TestClient

from piles import points
from samekind.ledger.store import MemoryStore
from samekind.protocols import View
from samekind.questions import Question, SamePair, WhichGroup
from samekind.session import Session
from samekind.workspace.quality_curve import Curve, Curves, milestones
from samekind.workspace.workspace import Workspace
from waiting import until


@dataclass(frozen=True)
class Checks:
    """Asks where an item belongs, about items one after the other; every second is a check."""

    def propose(self, view: View, n: int = 1) -> Sequence[Question]:
        k = 8 + view.spent
        asked = WhichGroup(k, ((0,), (1,), (2,), (3,)), why="?")
        return [replace(asked, at_random=True) if view.spent % 2 else asked]


@dataclass(frozen=True)
class Listed:
    """Asks these questions, one after the other, and then nothing."""

    questions: tuple[Question, ...]

    def propose(self, view: View, n: int = 1) -> Sequence[Question]:
        return self.questions[view.spent : view.spent + 1]


def answer(client: TestClient, choice: str, seconds: float | None = None) -> dict[str, Any]:
    asked = client.get("/api/question").json()["question"]
    body = {"number": asked["number"], "choice": choice, "seconds": seconds}
    reply = client.post("/api/answers", json=body)
    assert reply.status_code == 200, reply.text
    done: dict[str, Any] = reply.json()
    return done


def test_answers_and_their_time_are_counted_by_kind_of_question(client: TestClient) -> None:
    for choice, seconds in (("same", 2.0), ("1", 5.0), ("unsure", None), ("none", 6.0)):
        answer(client, choice, seconds)
    report = client.get("/api/progress/report").json()
    kinds = {kind["kind"]: kind for kind in report["kinds"]}
    assert kinds["same-pair"]["answers"] == 2 and kinds["same-pair"]["unsure"] == 1
    assert kinds["same-pair"]["seconds"] == 2.0 and kinds["same-pair"]["timed"] == 1
    assert kinds["which-group"]["median"] == 5.5
    assert (report["answers"], report["seconds"], report["timed"]) == (4, 13.0, 3)
    assert report["choices"] == {
        "Same": 1, "One of the groups": 1, "Not sure": 1, "None of these": 1,
    }  # fmt: skip
    assert report["people"] == {"me": 4}
    assert report["quality"] is None and report["gain"] is None and not report["enough"]


def test_without_answers_the_report_is_empty_and_there_is_no_curve(client: TestClient) -> None:
    report = client.get("/api/progress/report").json()
    assert report["kinds"] == [] and report["seconds"] == 0
    curve = client.get("/api/progress/curve").json()
    assert curve["points"] == [] and curve["message"]


def test_the_quality_comes_with_its_interval(
    make_workspace: Callable[..., Workspace], client_for: Callable[[Workspace], TestClient]
) -> None:
    workspace = make_workspace(strategy=Checks())
    client = client_for(workspace)
    for k in range(12):
        answer(client, str((8 + k) % 4 + 1))
    workspace.session().refit()
    report = client.get("/api/progress/report").json()
    assert report["checks"] == 6 and report["placements"] == 12 >= report["placements_needed"]
    found = report["quality"]
    assert found["placements"] == 12 and found["checks"] == 6
    assert 0 < found["low"] < found["share"] < found["high"] <= 1
    said = f"About {100 * found['share']:.0f} % right ("
    assert report["words"].startswith(said)
    assert client.get("/api/question").json()["progress"]["quality"] == report["words"]


def learning_session(store: MemoryStore) -> Session:
    """Four kinds across three clusters: the groups change with every few answers."""
    n = 48
    X = np.random.default_rng(7).normal(scale=0.1, size=(n, 6))
    X[np.arange(n), np.arange(n) % 4] += 1
    X[:, 4] += np.arange(n) // 4 % 3
    return Session(
        points(n),
        X.astype(np.float32),
        store=store,
        clusterer="propagation",
        strategy=Checks(),
        seed=3,
        refit_every=100,
    )


def tell_kinds(session: Session, times: int) -> None:
    for _ in range(times):
        asked = session.ask()
        assert asked is not None
        session.tell(asked.number, asked.question.truthful(lambda a, b: a % 4 == b % 4))


def complete(curves: Curves, session: Session) -> Curve:
    """Wait for all points of a curve; nobody would compute them without asking."""
    until(lambda: curves.of(session).pending == 0)
    return curves.of(session)


def test_the_curve_ends_with_the_current_groups_and_is_the_same_after_a_restart() -> None:
    store = MemoryStore()
    session = learning_session(store)
    tell_kinds(session, 24)
    session.refit()
    curves = Curves(lambda name: False)
    assert curves.of(session).pending == len(milestones(24))
    curve = complete(curves, session)
    assert [point.answers for point in curve.points] == [0, 5, 10, 15, 20, 24]
    last = curve.points[-1]
    assert last.quality.as_json() == session.progress()["quality"] is not None
    assert curve.points[0].quality.as_json() is None and curve.points[0].settled < last.settled
    assert complete(Curves(lambda name: False), learning_session(store)) == curve


def test_changing_an_early_answer_changes_the_curve_and_a_late_one_keeps_the_past() -> None:
    session = learning_session(MemoryStore())
    tell_kinds(session, 12)
    curves = Curves(lambda name: False)
    complete(curves, session)
    session.edit(session.answers[-1].number, "unsure")
    assert curves.of(session).pending == 1
    complete(curves, session)
    session.edit(session.answers[0].number, "unsure")
    assert curves.of(session).pending == 3, "all but the beginning without any answer"
    complete(curves, session)


def test_a_slow_method_has_no_curve_but_a_reason(
    make_workspace: Callable[..., Workspace], monkeypatch: pytest.MonkeyPatch
) -> None:
    session = make_workspace().session()
    asked = session.ask()
    assert asked is not None
    session.tell(asked.number, "same")
    monkeypatch.setattr(session.clusterer, "get_params", lambda: {"warm_start": True})
    curve = Curves(lambda name: False).of(session)
    assert curve.points == () and "takes long to train" in curve.message


def test_milestones_are_round_few_and_end_with_the_last_answer() -> None:
    for n in (1, 7, 60, 61, 999, 12_345):
        points = milestones(n)
        assert points[0] == 0 and points[-1] == n and len(points) <= 14
        assert all(point % 5 == 0 for point in points[:-1])
    assert milestones(60)[:3] == [0, 5, 10]


def clashing(
    make_workspace: Callable[..., Workspace],
    client_for: Callable[[Workspace], TestClient],
    *told: Any,
) -> TestClient:
    """A client after these (question, choice), which are told whether implied or not."""
    from samekind.protocols import Event

    store = MemoryStore()
    workspace = make_workspace(store=store, strategy=Listed(()))
    session = workspace.session()
    questions = [question.to_json(session.positions.name) for question, _ in told]
    store.append("main", Event("proposed", {"snapshot": 0, "questions": questions}))
    session.ask()
    for k, (_, choice) in enumerate(told):
        session.tell(k + 1, choice)
    return client_for(workspace)


def test_a_contradiction_is_explained_link_by_link_with_the_implied_answers(
    make_workspace: Callable[..., Workspace], client_for: Callable[[Workspace], TestClient]
) -> None:
    client = clashing(
        make_workspace,
        client_for,
        (SamePair(0, 4), "same"),
        (SamePair(9, 4), "same"),
        (SamePair(20, 21), "same"),
        (SamePair(0, 9), "different"),
    )
    (conflict,) = client.get("/api/conflicts").json()["conflicts"]
    steps = [(step["number"], step["same"]) for step in conflict["steps"]]
    assert steps == [(1, True), (2, True), (4, False)]
    path = [conflict["steps"][0]["a"]["id"], *(step["b"]["id"] for step in conflict["steps"][:2])]
    assert path[0] == conflict["steps"][2]["a"]["id"] and path[2] == conflict["steps"][2]["b"]["id"]
    # 0 and 4 look alike, 9 and 4 do not: that answer is asked again first.
    assert conflict["settle"][0] == {"number": 2, "implied": "different"}
    assert {doubt["number"]: doubt["implied"] for doubt in conflict["settle"]} == {
        1: "different", 2: "different", 4: "same",
    }  # fmt: skip


def test_changing_the_doubtful_answer_settles_a_contradiction(
    make_workspace: Callable[..., Workspace], client_for: Callable[[Workspace], TestClient]
) -> None:
    client = clashing(
        make_workspace,
        client_for,
        (WhichGroup(0, ((4,), (5,))), "2"),
        (SamePair(0, 5), "different"),
    )
    (conflict,) = client.get("/api/conflicts").json()["conflicts"]
    doubts = {doubt["number"]: doubt["implied"] for doubt in conflict["settle"]}
    assert doubts == {1: None, 2: "same"}, "another group is not implied by 'not this one'"
    assert conflict["settle"][0]["number"] == 1, "0 is unlike 5"
    assert client.put("/api/answers/1", json={"choice": "1"}).status_code == 200
    assert client.get("/api/conflicts").json() == {"conflicts": []}
