"""Exports: a dry run first, then the export as a job, and undo."""

from __future__ import annotations

import csv
import json
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from PIL import Image

from samekind.exports import OrientationFile
from samekind.ledger.store import MemoryStore
from samekind.web.app import create_app
from samekind.workspace import pile
from samekind.workspace.pile import Request
from samekind.workspace.workspace import Workspace
from samekind.workspace.workspaces import Workspaces
from waiting import PATIENCE

ORIGIN = "http://127.0.0.1:8765"


@pytest.fixture
def workspaces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Workspaces]:
    """Workspaces with one that is open over a folder of pictures."""
    monkeypatch.setenv("SAMEKIND_HOME", str(tmp_path / "home"))
    folder = tmp_path / "photos"
    folder.mkdir()
    for k in range(24):
        shade = (220, 10 + k, 20) if k % 2 else (10 + k, 20, 220)
        Image.new("RGB", (20, 16), shade).save(folder / f"photo-{k:02}.png")
    request = Request(str(folder), encoder="pixels").remembered()
    workspaces = Workspaces.at_home()
    workspaces.open(request)
    yield workspaces
    workspaces.close()


@pytest.fixture
def workspace(workspaces: Workspaces) -> Workspace:
    opened = workspaces.find(None)
    assert opened is not None
    return opened


@pytest.fixture
def client(workspaces: Workspaces, workspace: Workspace) -> TestClient:
    app = create_app(workspaces, port=8765)
    return TestClient(app, base_url=ORIGIN, raise_server_exceptions=False)


def planned(client: TestClient, **wish: Any) -> dict[str, Any]:
    reply = client.post("/api/finish/plan", json=wish)
    assert reply.status_code == 200, reply.text
    plan: dict[str, Any] = reply.json()
    return plan


def written(client: TestClient, workspaces: Workspaces, **wish: Any) -> Any:
    plan = planned(client, **wish)
    assert plan["conflicts"] == []
    reply = client.post("/api/finish/run", json={**wish, "snapshot": plan["snapshot"]})
    assert reply.status_code == 202, reply.text
    return workspaces.jobs.wait(reply.json()["id"])


def test_a_plan_says_what_would_be_written_and_writes_nothing(
    client: TestClient, tmp_path: Path
) -> None:
    target = tmp_path / "sorted"
    plan = planned(client, format="folders", target=str(target))
    assert (plan["items"], plan["files"]) == (24, 24)
    assert sum(folder["files"] for folder in plan["folders"]) == 24
    assert len(plan["folders"]) == plan["groups"]
    assert plan["names"][0].endswith("photo-00.png") and plan["bytes"] > 0
    assert plan["target"] == str(target)
    assert not target.exists()


@pytest.mark.parametrize("mode", ["copy", "link"])
def test_folders_are_written_and_removed_again(
    client: TestClient, workspaces: Workspaces, tmp_path: Path, mode: str
) -> None:
    target = tmp_path / "sorted"
    job = written(client, workspaces, format="folders", mode=mode, target=str(target))
    assert job.state == "finished" and "24 files written" in job.words
    assert len(list(target.rglob("*.png"))) == 24
    [made] = client.get("/api/finish").json()["made"]
    assert made["undo"] and made["files"] == 24
    (target / "mine.txt").write_text("added since")
    undone = client.post("/api/finish/undo", json={"target": str(target)}).json()
    assert undone["removed"] == 24 and undone["kept"] == ["mine.txt: was added since"]
    assert undone["message"].startswith("24 files were removed. 1 file is left in")
    again = client.post("/api/finish/undo", json={"target": str(target)}).json()
    assert again["removed"] == 0 and again["kept"] == undone["kept"]
    assert again["message"].startswith("There was nothing more to remove. 1 file is left in")
    assert (target / "mine.txt").exists() and not list(target.rglob("*.png"))
    assert len(list((tmp_path / "photos").glob("*.png"))) == 24, "the originals stay"


def test_other_formats_are_offered_and_sidecars_are_written_and_removed(
    client: TestClient, workspaces: Workspaces, tmp_path: Path
) -> None:
    offered = {one["name"]: one for one in client.get("/api/finish").json()["formats"]}
    assert [name for name, one in offered.items() if one["other"]] == [
        "json", "parquet", "coco", "label-studio", "fiftyone", "argilla", "cleanlab", "imagefolder"
    ]  # fmt: skip
    assert list(offered)[:3] == ["folders", "albums", "xmp"], "what people do with pictures"
    assert not offered["xmp"]["download"] and offered["albums"]["modes"] == ["copy", "link"]
    coco = client.get("/api/export", params={"format": "coco"})
    assert len(coco.json()["images"]) == 24 and '-coco.json"' in coco.headers["Content-Disposition"]
    table = client.get("/api/export", params={"format": "cleanlab"})
    assert '-cleanlab.csv"' in table.headers["Content-Disposition"]
    assert table.text.startswith("id,label,is_label_issue") and table.text.count("\n") == 25
    target = tmp_path / "photos"  # beside the originals
    job = written(client, workspaces, format="xmp", target=str(target))
    assert job.state == "finished" and len(list(target.glob("*.png.xmp"))) == 24
    undone = client.post("/api/finish/undo", json={"target": str(target)}).json()
    assert undone["removed"] == 24 and undone["kept"] == []
    assert len(list(target.iterdir())) == 24


def test_an_undone_export_is_listed_as_such(
    client: TestClient, workspaces: Workspaces, tmp_path: Path
) -> None:
    target = tmp_path / "sorted"
    written(client, workspaces, format="folders", target=str(target))
    client.post("/api/finish/undo", json={"target": str(target)})
    [made] = client.get("/api/finish").json()["made"]
    assert made["undone"] and not made["undo"]
    assert not target.exists()


def test_tables_hold_every_item_and_the_latest_answers(
    client: TestClient, workspaces: Workspaces, workspace: Workspace, tmp_path: Path
) -> None:
    session = workspace.session()
    asked = session.ask()
    assert asked is not None
    session.tell(asked.number, asked.question.choices()[0])
    written(client, workspaces, format="csv", target=str(tmp_path / "groups.csv"))
    with (tmp_path / "groups.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 24
    assert session.progress()["until_refit"] == session.refit_every, "the answer is in the groups"
    written(client, workspaces, format="json", target=str(tmp_path / "groups.json"))
    assert json.loads((tmp_path / "groups.json").read_text())


def test_an_orientation_file_is_written_and_downloaded(
    client: TestClient, workspaces: Workspaces, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fitted: list[Any] = []
    monkeypatch.setattr(pile, "outside_limit", lambda *args, **_: fitted.append(args) or 0.5)
    target = tmp_path / "main.orientation"
    plan = planned(client, format="orientation", target=str(target))
    assert "24 image items" in plan["notes"][0]
    job = written(client, workspaces, format="orientation", target=str(target))
    assert job.state == "finished", job.words
    assert OrientationFile.load(target).items == 24
    reply = client.get("/api/finish/orientation")
    assert "main.orientation" in reply.headers["content-disposition"]
    (tmp_path / "again.orientation").write_bytes(reply.content)
    again = OrientationFile.load(tmp_path / "again.orientation")
    assert again.groups and again.outside == 0.5
    assert len(fitted) == 1, "the encoder is fitted again for the first file only"


def test_conflicts_are_reported_first_and_nothing_is_overwritten(
    client: TestClient, workspaces: Workspaces, tmp_path: Path
) -> None:
    there = tmp_path / "groups.csv"
    there.write_text("precious")
    plan = planned(client, format="csv", target=str(there))
    assert "exists already" in plan["conflicts"][0]
    run = {"format": "csv", "target": str(there), "snapshot": plan["snapshot"]}
    job = workspaces.jobs.wait(client.post("/api/finish/run", json=run).json()["id"])
    assert job.state == "failed" and "exists already" in job.words
    assert there.read_text() == "precious"
    inside = planned(client, format="folders", target=str(tmp_path / "photos" / "sorted"))
    assert "inside the collection" in inside["conflicts"][0]
    nowhere = planned(client, format="folders", target=str(tmp_path / "no" / "where"))
    assert "does not exist" in nowhere["conflicts"][0]
    taken = tmp_path / "taken.orientation"
    taken.write_text("precious")
    assert planned(client, format="orientation", target=str(taken))["conflicts"]


def test_an_export_is_refused_if_the_groups_changed_since_the_plan(
    client: TestClient, workspace: Workspace, tmp_path: Path
) -> None:
    plan = planned(client, format="csv", target=str(tmp_path / "groups.csv"))
    workspace.session().refit()
    run = {"format": "csv", "target": str(tmp_path / "groups.csv"), "snapshot": plan["snapshot"]}
    reply = client.post("/api/finish/run", json=run)
    assert (reply.status_code, reply.json()["error"]["type"]) == (409, "groups-changed")
    assert not (tmp_path / "groups.csv").exists()


@pytest.mark.parametrize("confirmed", [False, True])
@pytest.mark.parametrize("format", ["csv", "folders", "orientation"])
def test_an_export_that_waited_for_another_job_writes_only_the_groups_of_its_plan(
    client: TestClient,
    workspaces: Workspaces,
    workspace: Workspace,
    tmp_path: Path,
    format: str,
    confirmed: bool,
) -> None:
    done = threading.Event()
    workspaces.jobs.submit("polish", "Polish", lambda _: {"finished": done.wait(PATIENCE)})
    target = tmp_path / f"groups.{format}"
    plan = planned(client, format=format, target=str(target))
    run = {"format": format, "target": str(target), "snapshot": plan["snapshot"]}
    reply = client.post("/api/finish/run", json=run)
    assert reply.status_code == 202, "the groups are still those of the plan"
    workspace.session().refit()
    fresh = {**run, "snapshot": planned(client, format=format, target=str(target))["snapshot"]}
    again = client.post("/api/finish/run", json=fresh) if confirmed else None
    done.set()
    job = workspaces.jobs.wait(reply.json()["id"])
    assert job.state == "failed"
    assert job.words == "The groups have changed since the export was planned."
    assert confirmed or not target.exists()
    if again is not None:
        job = workspaces.jobs.wait(again.json()["id"])
        assert job.state == "finished" and target.exists(), "the new plan was confirmed"


@pytest.mark.parametrize(
    "target", ["", "a\0b", "relative/none", "/proc/self/groups.csv", "/" + "a" * 3000, 7, None]
)
def test_an_unusable_target_is_refused_with_a_reason(client: TestClient, target: Any) -> None:
    for route in ("plan", "undo"):
        body = {"target": target} if route == "undo" else {"format": "folders", "target": target}
        reply = client.post(f"/api/finish/{route}", json=body)
        assert reply.status_code < 500, reply.text
        if reply.status_code == 200:
            assert reply.json()["conflicts"]


def test_only_our_own_exports_are_undone(client: TestClient, tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "precious.txt").write_text("x")
    reply = client.post("/api/finish/undo", json={"target": str(folder)})
    assert reply.status_code == 409 and "manifest" in reply.json()["error"]["message"]
    assert (folder / "precious.txt").exists()


def test_a_workspace_made_by_a_program_offers_downloads_only(
    make_workspace: Callable[..., Workspace],
    client_for: Callable[[Workspace], TestClient],
    tmp_path: Path,
) -> None:
    client = client_for(make_workspace(store=MemoryStore()))
    about = client.get("/api/finish").json()
    assert not about["paths"]
    formats = {one["name"]: one for one in about["formats"]}
    assert formats["orientation"]["why_not"]
    wish = {"format": "csv", "target": str(tmp_path / "x.csv")}
    assert client.post("/api/finish/plan", json=wish).status_code == 403
    assert client.post("/api/finish/undo", json={"target": str(tmp_path)}).status_code == 403


def test_open_workspaces_are_found_by_their_key(
    workspaces: Workspaces, workspace: Workspace
) -> None:
    assert workspace.key.startswith("photos-")
    assert workspaces.find(workspace.key) is workspace and workspaces.find("other") is None


def test_cells_that_a_spreadsheet_would_calculate_get_an_apostrophe_on_request(
    client: TestClient, workspace: Workspace, workspaces: Workspaces, tmp_path: Path
) -> None:
    session = workspace.session()
    session.rename(session.clustering.numbers[0], "=1+1")
    plain = client.get("/api/export?format=csv").text
    safe = client.get("/api/export?format=csv&no_formulas=true").text
    assert ",=1+1" in plain and "'=1+1" not in plain
    assert ",'=1+1" in safe and ",=1+1" not in safe
    target = tmp_path / "home" / "out.csv"
    wish = {"format": "csv", "target": str(target)}
    notes = planned(client, **wish)["notes"]
    assert any("with an apostrophe in front" in note for note in notes)
    written(client, workspaces, **wish, no_formulas=True)
    assert ",'=1+1" in target.read_text()
