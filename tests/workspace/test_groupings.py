"""Groupings are renamed, deleted, restored, begun from labels, and nested in a group."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from at_once import at_once, just_before
from grouped_photos import write_photos
from samekind.errors import InputError, OrientationExists, StateError, UnknownOrientation
from samekind.workspace import groupings, starts
from samekind.workspace.pile import Request
from samekind.workspace.workspace import Workspace
from samekind.workspace.workspaces import Workspaces


@pytest.fixture(scope="module")
def photos(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_photos(tmp_path_factory.mktemp("grouped") / "photos")


@pytest.fixture
def request_(photos: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Request:
    monkeypatch.setenv("SAMEKIND_HOME", str(tmp_path / "home"))
    return Request(str(photos), encoder="pixels").remembered()


def opened(request: Request) -> Workspaces:
    workspaces = Workspaces.at_home()
    workspaces.open(request)
    return workspaces


@pytest.fixture
def workspaces(request_: Request) -> Iterator[Workspaces]:
    found = opened(request_)
    yield found
    found.close()


@pytest.fixture
def workspace(workspaces: Workspaces) -> Workspace:
    found = workspaces.find(None)
    assert found is not None
    return found


def test_a_grouping_is_renamed_and_keeps_its_answers_and_its_name_in_the_ledger(
    workspace: Workspace, request_: Request
) -> None:
    asked = workspace.session().ask()
    assert asked is not None
    workspace.session().tell(asked.number, asked.question.choices()[0])
    groupings.rename(workspace, "main", "by mood")
    assert workspace.names() == ["main"] and workspace.listing("main").title == "by mood"
    assert len(workspace.session().answers) == 1
    again = opened(Request(request_.path, orientation="By mood", encoder="pixels").remembered())
    found = again.find(None)
    assert found is not None and found.session().name == "main"
    assert len(found.session().answers) == 1
    again.close()


def test_two_groupings_never_have_the_same_title(workspace: Workspace) -> None:
    workspace.begin("by mood")
    with pytest.raises(OrientationExists):
        groupings.rename(workspace, "main", "BY MOOD")
    groupings.rename(workspace, "by mood", "by colour")
    other = workspace.begin("by mood")  # the title is free, the name in the ledger is not
    assert other.name == "by mood 2" and workspace.listing(other.name).title == "by mood"


def test_a_deleted_grouping_is_gone_until_it_is_restored_with_its_answers(
    workspace: Workspace, request_: Request
) -> None:
    asked = workspace.session().ask()
    assert asked is not None
    workspace.session().tell(asked.number, asked.question.choices()[0])
    with pytest.raises(StateError, match="only grouping"):
        groupings.delete(workspace, "main")
    workspace.begin("by form")
    groupings.delete(workspace, "main")
    assert workspace.names() == ["by form"] and workspace.session().name == "by form"
    with pytest.raises(UnknownOrientation):
        workspace.session("main")
    again = opened(request_)  # after a restart, which asks for "main", as ever
    found = again.find(None)
    assert found is not None and found.names() == ["by form"]
    groupings.restore(found, "main")
    assert len(found.session("main").answers) == 1
    again.close()


def test_a_grouping_begins_with_the_folders_and_their_names(workspace: Workspace) -> None:
    offered = starts.starts_of(workspace)
    assert [(one.kind, one.groups, one.items) for one in offered] == [("folders", 3, 24)]
    labels = starts.labels_of(workspace, "folders", "", "")
    session, words = starts.begin_from(workspace, "folders", labels)
    assert words == "3 groups from 24 items."
    clustering = session.clustering
    found = {clustering.name(int(clustering.labels[i])) for i in range(24)}
    assert found == {"cold/green", "cold/blue", "warm/red"}
    for i, id in enumerate(workspace.collection.ids()):
        assert clustering.name(int(clustering.labels[i])) == str(Path(id).parent)


def test_a_table_of_a_person_names_items_by_the_end_of_their_paths(workspace: Workspace) -> None:
    ids = list(workspace.collection.ids())
    rows = "\n".join(f"{Path(id).name};{'warm' if 'red' in id else 'cold'}" for id in ids[::2])
    labels = starts.read_labels(f"File;Group\n{rows}\nnobody.png;warm\n", workspace.collection)
    assert len(labels) == 12 and set(labels.values()) == {"warm", "cold"}
    session, words = starts.begin_from(workspace, "mood", labels)
    assert words == "2 groups from 12 items. 12 items have no label and are placed by likeness."
    names = [session.clustering.name(int(k)) for k in session.clustering.labels]
    assert [name == "warm" for name in names] == ["red" in id for id in ids]


@pytest.mark.parametrize("text", ["", "only one column\n", "a,b\nx,y\n"])
def test_a_table_that_names_no_item_is_refused_and_nothing_begins(
    workspace: Workspace, text: str
) -> None:
    with pytest.raises(InputError):
        starts.labels_of(workspace, "csv", "", text)
    assert workspace.names() == ["main"]


def test_the_items_of_one_group_are_grouped_by_themselves_also_after_a_restart(
    workspaces: Workspaces, workspace: Workspace, request_: Request
) -> None:
    labels = starts.labels_of(workspace, "folders", "", "")
    halves = {i: label.split("/")[0] for i, label in labels.items()}
    session, _ = starts.begin_from(workspace, "mood", halves)
    cold = next(n for n in session.clustering.numbers if session.clustering.name(n) == "cold")
    begun = groupings.begin_within(workspace, session, cold, "shades of cold")
    assert begun.nested and len(begun.items) == 16 and begun.group == "cold"
    key = groupings.part_key(workspace, begun.name)
    for open_again in (False, True):
        server = opened(request_) if open_again else workspaces
        part = server.find(key)
        assert part is not None and part.collection.name == "photos: cold"
        assert set(part.collection.ids()) == set(begun.items)
        assert part.names()[0] == "shades of cold"
        inner, _ = starts.begin_from(part, f"folders {open_again}", starts.folders_of(part))
        assert inner.clustering.n_groups == 2 and len(inner.clustering.labels) == 16
        around = server.find(None)
        assert around is not None and around.names() == ["main", "mood"]
        if open_again:
            assert part.names() == ["shades of cold", "folders False", "folders True"]
            server.close()
    wanted = Request(request_.path, orientation="shades of cold", encoder="pixels")
    pile = wanted.remembered().reopen()[0]
    assert len(pile.collection) == 16


def test_an_unknown_part_is_not_open(workspaces: Workspaces, workspace: Workspace) -> None:
    assert workspaces.find(f"{workspace.key}~main") is None
    assert workspaces.find("nothing~main") is None


def outcome(act: Callable[[], object]) -> type[Exception] | None:
    """The class of the error that an act is refused with; None: it was done."""
    try:
        act()
    except StateError as refused:
        return type(refused)
    return None


@pytest.fixture
def elsewhere(request_: Request, workspace: Workspace) -> Iterator[Workspace]:
    """The same pile on another server, with the same ledger."""
    workspace.begin("Colour")
    server = opened(request_)
    found = server.find(None)
    assert found is not None and found.names() == ["main", "Colour"]
    yield found
    server.close()


def test_of_two_deletions_at_once_the_last_grouping_is_refused(workspace: Workspace) -> None:
    workspace.begin("Colour")
    for _ in range(20):
        acts = [partial(groupings.delete, workspace, name) for name in ("main", "Colour")]
        outcomes = at_once([partial(outcome, act) for act in acts])
        assert sorted(outcomes, key=bool) == [None, StateError]
        (left,) = workspace.names()
        assert workspace.session().name == left
        groupings.restore(workspace, "main" if left == "Colour" else "Colour")


def test_two_servers_cannot_delete_the_last_two_groupings(
    workspace: Workspace, elsewhere: Workspace
) -> None:
    assert workspace.store is not None
    just_before(workspace.store, "listed", lambda: groupings.delete(elsewhere, "Colour"))
    with pytest.raises(StateError, match="only grouping"):
        groupings.delete(workspace, "main")
    assert workspace.names() == elsewhere.names() == ["main"]


def test_two_servers_cannot_give_one_title_twice(
    workspace: Workspace, elsewhere: Workspace
) -> None:
    assert workspace.store is not None
    just_before(workspace.store, "listed", lambda: groupings.rename(elsewhere, "Colour", "mood"))
    with pytest.raises(OrientationExists):
        groupings.rename(workspace, "main", "Mood")
    assert workspace.listing("main").title == "main"
    just_before(workspace.store, "listed", lambda: elsewhere.begin("by form"))
    with pytest.raises(OrientationExists):
        workspace.begin("by form")
    just_before(workspace.store, "listed", lambda: groupings.rename(elsewhere, "main", "by time"))
    with pytest.raises(OrientationExists):
        workspace.begin("By time")
    titles = {workspace.listing(name).title for name in workspace.names()}
    assert titles == {"by time", "mood", "by form"} and len(workspace.names()) == 3


def test_of_several_that_begin_a_grouping_of_one_name_at_once_one_does(
    workspace: Workspace,
) -> None:
    for k in range(3):
        begin = partial(workspace.begin, f"Colour {k}")
        outcomes = at_once([partial(outcome, begin)] * 8)
        assert sorted(outcomes, key=bool) == [None, *[OrientationExists] * 7]
    assert workspace.names() == ["main", "Colour 0", "Colour 1", "Colour 2"]


def test_two_groups_that_are_sorted_by_themselves_at_once_never_share_a_grouping(
    workspace: Workspace, elsewhere: Workspace
) -> None:
    session, _ = starts.begin_from(workspace, "folders", starts.folders_of(workspace))
    one, other = session.clustering.numbers[:2]
    begun = []

    def begin() -> None:
        session = elsewhere.session("folders")
        begun.append(groupings.begin_within(elsewhere, session, other, "inner"))

    assert workspace.store is not None
    just_before(workspace.store, "listed", begin)
    begun.append(groupings.begin_within(workspace, session, one, "inner"))
    assert [listing.name for listing in begun] == ["inner", "inner 2"]
    now = [workspace.listing(listing.name).items for listing in begun]
    assert now == [listing.items for listing in begun] and not set(now[0]) & set(now[1])


def test_a_grouping_is_changed_only_where_it_is_listed(
    workspaces: Workspaces, workspace: Workspace
) -> None:
    session, _ = starts.begin_from(workspace, "folders", starts.folders_of(workspace))
    begun = groupings.begin_within(workspace, session, session.clustering.numbers[0], "inner")
    part = workspaces.find(groupings.part_key(workspace, begun.name))
    assert part is not None and part.names() == ["inner"]
    for act in (groupings.delete, groupings.restore, partial(groupings.rename, title="x")):
        with pytest.raises(UnknownOrientation, match="no grouping 'main'"):
            act(part, "main")
    with pytest.raises(StateError, match="only grouping"):
        groupings.delete(part, "inner")
    assert workspace.names() == ["main", "folders"] and part.session().name == "inner"
    groupings.delete(workspace, "inner")
    assert workspace.listing("inner").deleted


def test_a_ledger_without_any_grouping_left_opens_with_the_first_one_and_its_answers(
    workspace: Workspace, request_: Request
) -> None:
    asked = workspace.session().ask()
    assert asked is not None and workspace.store is not None
    workspace.session().tell(asked.number, asked.question.choices()[0])
    workspace.begin("Colour")
    for name in workspace.names():  # as an earlier version could
        groupings.list_orientation(workspace.store, name, deleted=True)
    again = opened(request_)
    found = again.find(None)
    assert found is not None and found.names() == ["main"]
    assert len(found.session().answers) == 1
    groupings.restore(found, "Colour")
    assert found.session("Colour").name == "Colour"
    again.close()
