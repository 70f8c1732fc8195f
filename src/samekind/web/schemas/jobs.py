"""The shapes of Start, Finish and long work. Strict, as all shapes are."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from samekind.web.schemas.core import ItemView, Line, Shape, SkippedView

TypedPath = Annotated[str, Line, Field(min_length=1, max_length=4000)]
"""A path as a person types or pastes it."""
EncoderName = Annotated[str, Line, Field(min_length=1, max_length=200)]
PileKey = Annotated[str, Field(pattern=r"^[\w.\-]{1,200}$")]
Minutes = Annotated[float, Field(ge=0.01, le=24 * 60, allow_inf_nan=False)]
JobState = Literal["queued", "running", "finished", "failed", "cancelled", "interrupted"]
Method = Literal["pcl", "idc", "fixmatch", "polish"]
ExportFormat = Literal["csv", "json", "parquet", "folders", "orientation"]


class JobView(Shape):
    """A piece of long work: where it is, and what became of it, in words."""

    id: str
    kind: Literal["open", "polish", "export"]
    title: str
    state: JobState
    share: float | None
    """How much is done, 0 to 1; None while that is not known."""
    words: str
    pile: str
    session: str
    can_go_on: bool
    """Whether it was cut off and can be taken up again."""
    seconds: float
    """How long it has run."""


class JobList(Shape):
    """Long work, latest first."""

    jobs: list[JobView]


class RecentView(Shape):
    """A pile that was opened before."""

    pile: str
    name: str
    path: str
    kind: str
    items: int
    encoder: str
    at: float
    open: bool
    finished: bool
    """Whether its vectors were ready the last time; if not, opening goes on where it stopped."""


class DemoView(Shape):
    """A pile that comes with the package."""

    path: str
    line: str


class StartView(Shape):
    """What the page to begin with shows."""

    version: str
    paths: bool
    """Whether paths may be typed: only by who sits at this machine."""
    pile: str | None
    """The pile that an address without a name leads to."""
    recent: list[RecentView]
    demos: list[DemoView]
    kinds: dict[str, str]
    """What a path may lead to, and how it is read."""


class Look(Shape):
    """Look at a path before anything is done with it."""

    path: TypedPath


class EncoderView(Shape):
    """A way to turn items into vectors."""

    name: str
    line: str
    learns: bool
    """Whether it first learns from the person's own pictures, for minutes that are chosen."""
    why_not: str
    """Why it cannot be taken here; empty when it can."""


class Found(Shape):
    """What is at a path."""

    path: str
    pile: str
    name: str
    kind: str
    items: int
    skipped: list[SkippedView]
    skipped_total: int
    encoder: str
    reason: str
    encoders: list[EncoderView]
    answers: int
    """Answers that were given about this pile before."""
    orientations: list[str]
    examples: list[str]
    """A few ids, so that one sees whether it is the right pile."""


class Measure(Shape):
    """Try an encoder on a few items."""

    path: TypedPath
    encoder: EncoderName


class Measured(Shape):
    """How long an encoder would take, measured on a few items of the pile itself."""

    encoder: str
    seconds: float
    per_item: float
    tried: int
    kept: int
    """Items, about, whose vectors are there from an earlier time."""
    words: str


class Open(Shape):
    """Open a path; the vectors are made as a job."""

    path: TypedPath
    encoder: EncoderName | None = None
    minutes: Minutes | None = None
    """For an encoder that learns from the pictures: how long."""


class Reopen(Shape):
    """Open a pile again that is known by its name in the address."""

    pile: PileKey


class PolishMethod(Shape):
    """A network that can be trained on the answers."""

    name: Method
    line: str


class Agreement(Shape):
    """How many of the answers that were kept aside the groups agree with."""

    agreed: int
    of: int
    low: float
    high: float


class Flow(Shape):
    """Items that are in one group before and in another after."""

    before: int
    after: int
    items: int


class NamedGroup(Shape):
    """A group by number and name."""

    number: int
    name: str
    size: int


class Moved(Shape):
    """An item that would change its group."""

    item: ItemView
    before: str
    after: str


class PolishResult(Shape):
    """Groups after polishing beside those of now."""

    id: str
    method: str
    answers: int
    seconds: float
    kept_aside: str
    """What the agreement was measured on, in words."""
    before: Agreement | None
    after: Agreement | None
    verdict: str
    changed: int
    items: int
    groups_before: list[NamedGroup]
    groups_after: list[NamedGroup]
    flows: list[Flow]
    moved: list[Moved]


class PolishView(Shape):
    """Whether polishing is offered, what it would cost, and what it has led to."""

    offered: bool
    why_not: str
    device: str
    gpu: bool
    minutes: float
    estimate: str
    advice: str
    methods: list[PolishMethod]
    result: PolishResult | None
    accepted: str | None
    """The method whose result is shown as the groups; None: no polishing is in them."""


class Polish(Shape):
    """Train a network on the answers so far, in the background."""

    method: Method
    minutes: Minutes | None = None


class FormatView(Shape):
    """Something that can be taken home."""

    name: ExportFormat
    label: str
    line: str
    modes: list[str]
    download: bool
    suggestion: str
    why_not: str


class ExportMade(Shape):
    """An export that was made from this page."""

    job: str
    target: str
    files: int
    at: float
    undo: bool
    """Whether it can be taken back."""
    undone: bool


class FinishView(Shape):
    """What can be taken home, and what was."""

    paths: bool
    formats: list[FormatView]
    made: list[ExportMade]


class ExportWish(Shape):
    """Where to write what."""

    format: ExportFormat
    mode: Literal["copy", "link"] = "copy"
    target: TypedPath


class PlannedFolder(Shape):
    """A folder that would be made, and how many files would be in it."""

    name: str
    files: int


class PlanView(Shape):
    """The dry run: what would be written. Nothing has been touched."""

    snapshot: int
    format: str
    target: str
    items: int
    groups: int
    files: int
    bytes: int | None
    folders: list[PlannedFolder]
    names: list[str]
    conflicts: list[str]
    notes: list[str]


class ExportRun(ExportWish):
    """Write what the plan said, of the same groups."""

    snapshot: Annotated[int, Field(ge=0, le=2**53 - 1)]


class ExportUndo(Shape):
    """Take an export into folders back."""

    target: TypedPath


class Undone(Shape):
    """What was removed, and what was kept with the reason."""

    removed: int
    kept: list[str]
    message: str
