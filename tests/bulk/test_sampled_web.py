"""A store of vectors on the page: it is served, inspected, opened as a job, and grows."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("lance", reason="needs the extra cluster: pip install 'samekind[cluster]'")
pytest.importorskip("faiss", reason="needs the extra cluster: pip install 'samekind[cluster]'")

from fastapi.testclient import TestClient

from drawn_store import blobs, new_store
from samekind.bulk.sampled_pile import open_sampled
from samekind.bulk.vector_store import VectorStore
from samekind.web.app import create_app
from samekind.workspace.pile import Request
from samekind.workspace.workspaces import Workspaces

ORIGIN = "http://127.0.0.1:8765"


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> VectorStore:
    monkeypatch.setenv("SAMEKIND_HOME", str(tmp_path / "home"))
    X, _ = blobs(400, kinds=3)
    np.save(tmp_path / "x.npy", X)
    found = new_store(tmp_path / "v.lance", X, source=str(tmp_path / "x.npy"))
    open_sampled(found.path, size=60)
    return found


@pytest.fixture
def workspaces(store: VectorStore) -> Iterator[Workspaces]:
    found = Workspaces.at_home(paths=True)
    yield found
    found.close()


@pytest.fixture
def client(workspaces: Workspaces) -> TestClient:
    app = create_app(workspaces, port=8765)
    return TestClient(app, base_url=ORIGIN, raise_server_exceptions=False)


def wait(workspaces: Workspaces, reply: Any) -> Any:
    assert reply.status_code == 202, reply.text
    job = workspaces.jobs.wait(reply.json()["id"])
    assert job.state == "finished", job.words
    return job


def test_a_served_store_grows_by_items_like_some_and_keeps_its_answers(
    store: VectorStore, workspaces: Workspaces, client: TestClient
) -> None:
    said: list[str] = []
    workspaces.open(Request(store.path, on_notice=said.append).remembered())
    assert "60 of 400 items are used for the questions." in said
    question = client.get("/api/question").json()["question"]
    number, choice = question["number"], question["choices"][0]["value"]
    told = client.post("/api/answers", json={"number": number, "choice": choice})
    assert told.status_code == 200, told.text
    like = open_sampled(store.path).id(5)
    wait(workspaces, client.post("/api/more", json={"like": [like], "count": 20}))
    assert client.get("/api/session").json()["items"] == 80
    assert [a["number"] for a in client.get("/api/answers").json()["answers"]] == [number]
    added = open_sampled(store.path).id(70)
    preview = client.get(f"/api/items/{added}/preview")
    assert preview.status_code == 200 and preview.content


def test_only_items_of_the_collection_and_only_stores_have_more(
    store: VectorStore, workspaces: Workspaces, client: TestClient
) -> None:
    workspaces.open(Request(store.path).remembered())
    reply = client.post("/api/more", json={"like": ["nothing"]})
    assert (reply.status_code, reply.json()["error"]["type"]) == (404, "unknown-item")
    assert client.post("/api/more", json={"like": []}).status_code == 422
    workspaces.open(Request("tiles", encoder="pixels").remembered())
    assert workspaces.first is not None
    item = next(workspaces.find(None).collection.ids())  # type: ignore[union-attr]
    reply = client.post("/api/more", json={"like": [item]})
    assert reply.status_code == 409 and "used for the questions already" in reply.text


def test_a_store_is_inspected_and_opened_as_a_job(
    store: VectorStore, workspaces: Workspaces, client: TestClient
) -> None:
    found = client.post("/api/start/look", json={"path": store.path}).json()
    assert (found["items"], found["encoder"], found["reason"]) == (
        60,
        "vectors",
        "it made these vectors",
    )
    assert [option["name"] for option in found["encoders"]] == ["vectors"]
    time = client.post("/api/start/measure", json={"path": store.path, "encoder": "vectors"})
    assert "there already" in time.json()["words"]
    job = wait(workspaces, client.post("/api/start/open", json={"path": store.path}))
    assert job.words == "60 items are ready."
    assert client.get(f"/api/question?pile={job.pile}").status_code == 200
