"""What groups a session and what chooses its questions, as every interface names them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from fastapi.testclient import TestClient

from piles import clouds
from samekind.session import Session
from samekind.sources import open_source
from samekind.web.app import create_app
from samekind.workspace.learner import in_use
from samekind.workspace.pile import Request
from samekind.workspace.workspaces import Workspaces


@pytest.fixture
def request_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Request:
    monkeypatch.setenv("SAMEKIND_HOME", str(tmp_path / "home"))
    np.save(tmp_path / "clouds.npy", clouds(40)[0])
    return Request(str(tmp_path / "clouds.npy"))


def test_the_page_names_the_learner_of_a_served_pile(request_of: Request) -> None:
    wish = replace(request_of, method="pckmeans", parameters={"n_init": 2, "w": None})
    workspaces = Workspaces.at_home()
    workspaces.open(wish.remembered())
    client = TestClient(create_app(workspaces, port=8765), base_url="http://127.0.0.1:8765")
    assert client.get("/api/progress/learner").json() == {
        "learner": "PCKMeans",
        "strategy": "minmax, PCKMeans's own",
        "parameters": {"n_init": "2", "w": "none"},
    }
    workspaces.close()


def test_another_strategy_is_named_without_a_reason(request_of: Request) -> None:
    request = replace(request_of, method="kmeans", strategy="random").remembered()
    found = in_use(request.session(request.pile(request.items()), request.store()))
    assert (found.learner, found.strategy, found.parameters) == ("KMeans", "random", {})


def test_a_session_of_a_program_is_named_as_any_other(request_of: Request) -> None:
    session = Session(open_source(request_of.path), clouds(40)[0], clusterer="kmeans")
    found = in_use(session)
    assert (found.learner, found.strategy) == ("KMeans", "live, the default")


def test_a_learner_that_stands_in_for_another_is_named(request_of: Request) -> None:
    class Standing:
        learner_name = "SimCLR + head + FixMatch"

    session = Session(open_source(request_of.path), clouds(40)[0], clusterer="kmeans")
    session.model = Standing()
    assert in_use(session).learner == "SimCLR + head + FixMatch"
