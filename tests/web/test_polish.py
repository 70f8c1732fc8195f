"""Polishing: estimated, compared on held-out answers, accepted or rejected, and kept."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from fastapi.testclient import TestClient
from PIL import Image

from samekind.encoders.learned.weights import learnt_folder
from samekind.errors import InputError
from samekind.simulation.loop import run
from samekind.simulation.people import Truth
from samekind.web.app import create_app
from samekind.workspace import polish as polish_work
from samekind.workspace import polish_jobs
from samekind.workspace import polished_vectors as polished
from samekind.workspace.pile import Request
from samekind.workspace.polish_methods import OFFERS, Training, choices_of
from samekind.workspace.workspace import Workspace
from samekind.workspace.workspaces import Workspaces

ORIGIN = "http://127.0.0.1:8765"
N = 48
SHAPE = np.arange(N) // 2 % 3
"""What the person means; the colours say something else."""


@pytest.fixture
def request_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Request:
    monkeypatch.setenv("SAMEKIND_HOME", str(tmp_path / "home"))
    folder = tmp_path / "photos"
    folder.mkdir()
    rng = np.random.default_rng(0)
    for k in range(N):
        base = np.array([(210, 40, 40), (40, 40, 210)][k % 2])
        picture = np.clip(base + rng.normal(0, 20, (32, 32, 3)), 0, 255).astype(np.uint8)
        picture[4 : 4 + 8 * (SHAPE[k] + 1), 4:12] = 255
        file = folder / f"{k:02}.png"
        Image.fromarray(picture).save(file)
        os.utime(file, (0, 0))  # the same pictures in every test
    return Request(str(folder), encoder="pixels").remembered()


Opening = Callable[[], tuple[TestClient, Workspaces, Workspace]]


@pytest.fixture
def opening(request_of: Request) -> Iterator[Opening]:
    """Opens the pile, as servers that follow each other do."""
    opened: list[Workspaces] = []

    def open_it() -> tuple[TestClient, Workspaces, Workspace]:
        workspaces = Workspaces.at_home()
        opened.append(workspaces)
        workspace = workspaces.open(request_of)
        app = create_app(workspaces, port=8765)
        client = TestClient(app, base_url=ORIGIN, raise_server_exceptions=False)
        return client, workspaces, workspace

    yield open_it
    for workspaces in opened:
        workspaces.close()


def answered(workspace: Workspace, questions: int) -> None:
    session = workspace.session()
    run(session, Truth(SHAPE), questions)


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """In place of hours of training: a network that sees the shapes, all other work is real."""

    class Seeing:
        def fit(self, pictures: Any, *, constraints: Any) -> None:
            rng = np.random.default_rng(1)
            self.space_ = np.eye(3)[SHAPE] + rng.normal(0, 0.02, (N, 3))

    def features(*arguments: Any, **more: Any) -> tuple[str, int]:
        return "", 32

    monkeypatch.setattr(polish_work, "features", features)
    monkeypatch.setattr(Training, "network", lambda *arguments: Seeing())


@pytest.fixture(scope="module")
def kept_features(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("kept") / "learnt"


@pytest.fixture
def shared_features(request_of: Request, kept_features: Path) -> Iterator[None]:
    """Learn features of the pictures once: the first training does, later ones find them."""
    if kept_features.exists():
        shutil.copytree(kept_features, learnt_folder())
    yield
    if not kept_features.exists():
        shutil.copytree(learnt_folder(), kept_features)


def polish(
    client: TestClient,
    workspaces: Workspaces,
    method: str = "fixmatch",
    minutes: float = 0.1,
    **parameters: Any,
) -> Any:
    wish = {"method": method, "minutes": minutes, "parameters": parameters}
    reply = client.post("/api/polish", json=wish)
    assert reply.status_code == 202, reply.text
    job = workspaces.jobs.wait(reply.json()["id"])
    assert job.state == "finished", job.words
    return client.get("/api/polish").json()


def test_polish_is_offered_with_an_estimate_once_there_is_something_to_learn(
    opening: Opening,
) -> None:
    client, workspaces, workspace = opening()
    about = client.get("/api/polish").json()
    assert not about["offered"] and "at least 10" in about["why_not"]
    refused = client.post("/api/polish", json={"method": "idc"})
    assert refused.status_code == 409 and workspaces.jobs.all() == []
    answered(workspace, 16)
    about = client.get("/api/polish").json()
    assert about["offered"] and f"{N} pictures" in about["estimate"]
    assert about["device"] in about["estimate"]
    assert "answers" in about["advice"] and about["result"] is None
    assert [method["name"] for method in about["methods"]] == list(OFFERS)
    assert client.post("/api/polish", json={"method": "kmeans"}).status_code == 422
    for act in ("accept",):
        assert client.post(f"/api/polish/{act}", json={}).status_code == 409


@pytest.mark.usefixtures("quick")
def test_the_comparison_is_made_on_answers_that_the_network_never_saw(opening: Opening) -> None:
    client, workspaces, workspace = opening()
    answered(workspace, 30)
    before = workspace.session().clustering
    result = polish(client, workspaces)["result"]
    assert result["after"]["of"] == result["before"]["of"] > 0
    assert result["after"]["agreed"] == result["after"]["of"], "it sees what is meant"
    assert result["items"] == N == sum(flow["items"] for flow in result["flows"])
    moving = sum(flow["items"] for flow in result["flows"] if flow["before"] != flow["after"])
    assert result["changed"] == moving
    assert workspace.session().clustering is before, "nothing has changed yet"
    assert result["verdict"] and result["method"] == "fixmatch"


@pytest.mark.usefixtures("quick")
def test_accepted_groups_survive_a_restart_and_are_used_by_the_command_line(
    opening: Opening, request_of: Request
) -> None:
    client, workspaces, workspace = opening()
    answered(workspace, 20)
    workspace.session().rename(workspace.session().clustering.numbers[0], "My kind")
    told = [(a.number, a.choice) for a in workspace.session().answers]
    polish(client, workspaces)
    about = client.post("/api/polish/accept", json={}).json()
    assert about["accepted"] == "FixMatch, gentle" and about["result"] is None
    assert workspace.refitter.wait("main")
    shown = workspace.session().clustering
    assert _same_groups(shown.labels, SHAPE), "the groups are those of the network"
    assert "My kind" in shown.names.values()
    assert [(a.number, a.choice) for a in workspace.session().answers] == told
    workspaces.close()
    client, workspaces, workspace = opening()
    assert client.get("/api/polish").json()["accepted"] == "FixMatch, gentle"
    assert np.array_equal(workspace.session().clustering.labels, shown.labels)
    terminal = request_of.session(request_of.pile(request_of.items()), request_of.store())
    assert np.array_equal(terminal.clustering.labels, shown.labels)
    wish = {"format": "orientation", "target": f"{request_of.path}/x.orientation"}
    assert client.post("/api/finish/plan", json=wish).status_code == 409


@pytest.mark.usefixtures("quick")
def test_polish_is_reverted_and_later_answers_stay(opening: Opening) -> None:
    client, workspaces, workspace = opening()
    answered(workspace, 12)
    polish(client, workspaces)
    plain = workspace.session().X
    client.post("/api/polish/accept", json={})
    workspace.refitter.wait("main")
    assert workspace.session().X.shape != plain.shape
    answered(workspace, 3)
    assert client.post("/api/polish/back", json={}).json()["accepted"] is None
    workspace.refitter.wait("main")
    assert np.array_equal(workspace.session().X, plain)
    assert len(workspace.session().answers) == 15


@pytest.mark.usefixtures("quick")
def test_a_rejected_result_is_not_offered_again(opening: Opening) -> None:
    client, workspaces, workspace = opening()
    answered(workspace, 12)
    assert polish(client, workspaces)["result"] is not None
    labels = workspace.session().clustering.labels.copy()
    about = client.post("/api/polish/reject", json={}).json()
    assert about["result"] is None and about["accepted"] is None
    workspaces.close()
    client, workspaces, workspace = opening()
    assert client.get("/api/polish").json()["result"] is None
    assert np.array_equal(workspace.session().clustering.labels, labels)


@pytest.mark.usefixtures("quick")
def test_an_undecided_result_survives_a_restart(opening: Opening) -> None:
    client, workspaces, workspace = opening()
    answered(workspace, 12)
    result = polish(client, workspaces)["result"]
    workspaces.close()
    client, _, _ = opening()
    kept = client.get("/api/polish").json()["result"]
    assert {k: kept[k] for k in ("id", "changed", "before", "after", "flows")} == {
        k: result[k] for k in ("id", "changed", "before", "after", "flows")
    }


@pytest.mark.usefixtures("quick")
def test_changed_pictures_are_not_grouped_by_old_vectors(
    opening: Opening, request_of: Request
) -> None:
    client, workspaces, workspace = opening()
    answered(workspace, 12)
    polish(client, workspaces)
    client.post("/api/polish/accept", json={})
    workspace.refitter.wait("main")
    workspaces.close()
    Image.new("RGB", (32, 32), (1, 2, 3)).save(Path(request_of.path) / "new.png")
    client, _, workspace = opening()
    assert len(workspace.collection) == N + 1
    assert client.get("/api/groups").status_code == 200
    assert len(workspace.session().X) == N + 1


def test_only_pictures_are_polished(
    make_workspace: Callable[..., Workspace],
    client_for: Callable[[Workspace], TestClient],
    odd_previews: Any,
) -> None:
    client = client_for(make_workspace(collection=odd_previews))
    about = client.get("/api/polish").json()
    assert not about["offered"] and "pictures" in about["why_not"]


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        (None, None, "too few"),
        ((1, 3), (3, 3), "too few"),
        ((9, 10), (8, 10), "better with the held-out answers: keep them"),
        ((8, 10), (8, 10), "equally well"),
        ((8, 10), (9, 10), "may be chance"),
        ((40, 100), (95, 100), "clearly better"),
    ],
)
def test_the_verdict_says_no_more_than_is_known(before: Any, after: Any, words: str) -> None:
    assert words in polish_work.verdict(before, after)


def test_ids_of_polished_groups_never_become_paths(opening: Opening) -> None:
    _, _, workspace = opening()
    for id in ("../../etc/passwd", "", "0" * 15, "g" * 16):
        assert polished.facts_of(id) is None
        assert polished.vectors_of(id, workspace.collection) is None
        with pytest.raises(InputError):
            polished.rewrite(id, {})


def test_polishing_without_a_gpu_says_how_little_can_be_expected(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def estimate_on(device: str) -> str:
        found = SimpleNamespace(device=device, reason=device)
        monkeypatch.setattr("samekind.compute.best_device", lambda: found)
        return polish_jobs.estimate(60_000).words

    words = estimate_on("cpu")
    assert "not even once" in words and "30 minutes" in words
    assert "not even once" not in estimate_on("accelerator")


@pytest.mark.usefixtures("shared_features", "short_heads")
@pytest.mark.parametrize(
    ("method", "parameters", "learner"),
    [
        ("fixmatch", {"sure": 0.9}, "FixMatch, gentle"),
        ("idc", {"profile": "paper"}, "IDC, as printed"),
        ("pcl", {"epochs": 1}, "PCL, repaired"),
        ("pcl", {"profile": "fast"}, "SimCLR + head + FixMatch"),
        ("occ", {"profile": "paper", "epochs": 1}, "OCC, from learnt features"),
    ],
)
def test_a_real_network_is_trained_and_compared(
    opening: Opening, method: str, parameters: dict[str, Any], learner: str
) -> None:
    client, workspaces, workspace = opening()
    answered(workspace, 16)
    about = polish(client, workspaces, method, minutes=0.01, **parameters)
    assert (about["result"]["method"], about["result"]["learner"]) == (method, learner)
    (job,) = workspaces.jobs.all()
    assert job.title == f"Polish main with {learner}" and job.spec["parameters"] == parameters
    assert client.post("/api/polish/accept", json={}).json()["accepted"] == learner
    assert workspace.refitter.wait("main")
    assert len(workspace.session().clustering.labels) == N


def test_the_learner_is_named_after_what_really_trains(opening: Opening) -> None:
    client, _, _ = opening()

    def named(method: str, **parameters: Any) -> Any:
        wish = {"method": method, "parameters": parameters}
        return client.post("/api/polish/learner", json=wish)

    assert named("occ", profile="paper").json() == {"learner": "OCC, from learnt features"}
    assert named("occ").json() == {"learner": "OCC, repaired"}
    assert named("occ", profile="fast").json() == {"learner": "SimCLR + head + FixMatch"}
    assert named("polish").json() == {"learner": "live, then gentle FixMatch"}
    assert named("fixmatch").json() == {"learner": "FixMatch, gentle"}
    paper = named("fixmatch", profile="paper").json()
    assert paper == {"learner": "FixMatch, from learnt features"}
    assert named("idc").json() == {"learner": "IDC, repaired"}
    unknown = named("pcl", profil="paper")
    assert unknown.status_code == 422
    assert "Did you mean 'profile'?" in unknown.json()["error"]["message"]
    assert "a number or none, got 'fast'" in named("pcl", epochs="fast").text
    for name in ("start", "checkpoint", "monitor", "random_state"):
        assert named("pcl", **{name: "/etc/passwd"}).status_code == 422, "no files from the page"


def test_parameters_are_listed_with_the_defaults_that_are_used_here(
    opening: Opening, monkeypatch: pytest.MonkeyPatch
) -> None:
    client, _, _ = opening()
    methods = {each["name"]: each for each in client.get("/api/polish").json()["methods"]}
    profile = next(each for each in methods["occ"]["parameters"] if each["name"] == "profile")
    assert profile["default"] == OFFERS["occ"].parameters["profile"] in profile["choices"]
    assert all(each["line"] for one in methods.values() for each in one["parameters"])
    assert "arXiv 2211.00409" in methods["occ"]["paper"]
    names = {each["name"] for one in methods.values() for each in one["parameters"]}
    assert not names & {"start", "checkpoint", "device", "monitor", "random_state", "tune_seconds"}

    def unlabelled_on(device: str) -> Any:
        found = SimpleNamespace(device=device, reason=device)
        monkeypatch.setattr("samekind.compute.best_device", lambda: found)
        return choices_of("fixmatch")["unlabelled"].default

    assert unlabelled_on("cpu") < unlabelled_on("accelerator") == 448


@pytest.mark.usefixtures("shared_features")
def test_time_ends_a_training_that_does_not_keep_it(opening: Opening) -> None:
    client, workspaces, workspace = opening()
    answered(workspace, 12)
    about = polish(client, workspaces, "pcl", minutes=0.02, profile="paper", epochs=100_000)
    assert (
        about["result"]["learner"] == "PCL, from learnt features"
        and about["result"]["seconds"] < 60
    )


def test_cancelled_training_changes_nothing(opening: Opening) -> None:
    client, workspaces, workspace = opening()
    answered(workspace, 12)
    labels = workspace.session().clustering.labels.copy()
    job = client.post("/api/polish", json={"method": "idc", "minutes": 30.0}).json()
    client.post(f"/api/jobs/{job['id']}/cancel", json={})
    assert workspaces.jobs.wait(job["id"]).state == "cancelled"
    assert client.get("/api/polish").json()["result"] is None
    assert np.array_equal(workspace.session().clustering.labels, labels)


def _same_groups(a: Any, b: Any) -> bool:
    pairs = set(zip(a.tolist(), b.tolist(), strict=True))
    return len(pairs) == len(set(a.tolist())) == len(set(b.tolist()))
