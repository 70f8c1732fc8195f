"""Finding more like some items as a job: the pile of a store is opened again with them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from samekind.bulk.sampled_pile import SampledCollection
from samekind.errors import StateError
from samekind.questions.wording import plural

if TYPE_CHECKING:
    from samekind.workspace.jobs import Job, JobContext
    from samekind.workspace.workspace import Workspace
    from samekind.workspace.workspaces import Workspaces


def submit_more(workspaces: Workspaces, workspace: Workspace, like: Sequence[str], n: int) -> Job:
    """Add items like some to the questions, in the background.

    Raises
    ------
    StateError
        If the pile holds all its items already.
    """
    there, reopen = workspace.collection, workspace.open_again
    if not isinstance(there, SampledCollection) or reopen is None:
        raise StateError(f"All items of {there.name!r} are used for the questions already.")
    path = there.store.path

    def work(context: JobContext) -> dict[str, Any]:
        from samekind.bulk.more import find_more

        context.tell(0.0, "Looking for more …")
        progress = context.progress("Indexed", "items", end=0.8)
        found = find_more(path, like, n, progress=progress)
        if found.ids:
            context.tell(0.9, "Opening the pile with them …")
            workspaces.add(reopen())
        added = plural(len(found.ids), "item was", "items were")
        return {"words": f"{added} added to the questions.", "pile": workspace.key}

    spec = {"like": list(like), "count": n}
    return workspaces.jobs.submit("more", "Find more", work, pile=workspace.key, spec=spec)
