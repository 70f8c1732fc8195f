"""Albums: an export with a folder per group, and within it one per group of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from grouped_photos import write_photos
from samekind.exports import run_export, undo_export
from samekind.workspace import exports, groupings, starts
from samekind.workspace.albums import opener, subgroups_of
from samekind.workspace.pile import Request
from samekind.workspace.workspaces import Workspaces


def test_groups_within_groups_are_folders_within_folders_at_any_depth(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SAMEKIND_HOME", str(tmp_path / "home"))
    folder = write_photos(tmp_path / "photos")
    server = Workspaces.at_home()
    workspace = server.open(Request(str(folder), encoder="pixels").remembered())
    halves = {i: label.split("/")[0] for i, label in starts.folders_of(workspace).items()}
    mood, _ = starts.begin_from(workspace, "mood", halves)
    numbers = {mood.clustering.name(n): n for n in mood.clustering.numbers}
    cold = groupings.begin_within(workspace, mood, numbers["cold"], "shades")
    request = exports.ExportRequest("albums", "copy", tmp_path / "out", "out")
    plain = exports.dry_run(workspace, mood, request)
    assert "No group has groups of its own" in plain.notes[0]  # it has no answers yet
    assert sorted(plain.folders) == [("cold", 16), ("warm", 8)]

    part = server.find(groupings.part_key(workspace, cold.name))
    assert part is not None
    shades, _ = starts.begin_from(part, "hues", starts.folders_of(part))
    inner = {shades.clustering.name(n): n for n in shades.clustering.numbers}
    blue = groupings.begin_within(part, shades, inner["blue"], "blues")
    deepest = server.find(groupings.part_key(part, blue.name))
    assert deepest is not None
    ids = deepest.collection.ids()
    starts.begin_from(deepest, "parity", {i: "ab"[int(id[-5]) % 2] for i, id in enumerate(ids)})

    found = exports.dry_run(workspace, mood, request)
    assert sorted(found.folders) == [
        ("cold", 0), ("cold/blue", 0), ("cold/blue/a", 4), ("cold/blue/b", 4),
        ("cold/green", 8), ("warm", 8),
    ]  # fmt: skip
    assert workspace.pile is not None and workspace.open_over is not None
    inside = subgroups_of(mood, workspace.pile, workspace.open_over)
    assert inside["cold/blue/blue-3.png"] == ("blue", "b") and len(inside) == 16
    wanted = Request(str(folder), orientation="mood", encoder="pixels")
    pile, session = wanted.reopen()  # as the command line does
    assert subgroups_of(session, pile, opener(wanted, session.store)) == inside
    run_export(exports.plan(mood, request, inside))
    written = {
        str(path.relative_to(tmp_path / "out")) for path in (tmp_path / "out").rglob("*.png")
    }
    assert {"cold/blue/b/blue-3.png", "cold/green/green-0.png", "warm/red-7.png"} <= written
    assert len(written) == 24
    assert undo_export(tmp_path / "out").kept == () and not (tmp_path / "out").exists()

    groupings.delete(part, blue.name)
    assert ("cold/blue", 8) in exports.dry_run(workspace, mood, request).folders
    mood.rename(numbers["cold"], "cool")  # the group is known by its items, not by its name
    assert ("cool/blue", 8) in exports.dry_run(workspace, mood, request).folders
    server.close()
