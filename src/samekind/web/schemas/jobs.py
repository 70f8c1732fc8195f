"""Schemas of opening piles, of polishing, of exports, and of jobs."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from samekind.web.schemas.core import MAX_SAFE_INTEGER, ItemView, Line, Schema, SkippedView

TypedPath = Annotated[str, Line, Field(min_length=1, max_length=4000)]
"""A path as a person types or pastes it."""
EncoderName = Annotated[str, Line, Field(min_length=1, max_length=200)]
PileKey = Annotated[str, Field(pattern=r"^[\w.\-]{1,200}$")]
Minutes = Annotated[float, Field(ge=0.01, le=24 * 60, allow_inf_nan=False)]
JobState = Literal["queued", "running", "finished", "failed", "cancelled", "interrupted"]
Method = Literal["polish", "fixmatch", "idc", "pcl", "occ"]
ParameterName = Annotated[str, Field(pattern=r"^[a-z_]{1,40}$")]
ParameterValue = (
    bool
    | Annotated[int, Field(ge=-MAX_SAFE_INTEGER, le=MAX_SAFE_INTEGER)]
    | Annotated[float, Field(allow_inf_nan=False)]
    | Annotated[str, Line, Field(max_length=200)]
    | None
)
TableFormat = Literal[
    "csv", "json", "parquet", "coco", "label-studio", "fiftyone", "argilla", "cleanlab"
]
ExportFormat = TableFormat | Literal["folders", "albums", "xmp", "imagefolder", "orientation"]


class JobView(Schema):
    """A job: its state, its progress, and its result in words."""

    id: str
    kind: Literal["open", "polish", "export", "more"]
    title: str
    state: JobState
    share: float | None
    """Progress from 0 to 1; None while unknown."""
    words: str
    pile: str
    session: str
    ready: bool = False
    """Whether questions about its pile can begin, although it is still running."""
    can_go_on: bool
    """Whether it was interrupted or cancelled and can be resumed."""
    seconds: float
    """Running time."""


class JobList(Schema):
    """Jobs, latest first."""

    jobs: list[JobView]


class MoreRequest(Schema):
    """Ids of items to find more of, and how many to add to the questions."""

    like: Annotated[
        list[Annotated[str, Field(max_length=4000)]], Field(min_length=1, max_length=100)
    ]
    count: Annotated[int, Field(ge=1, le=10_000)] = 50


class RecentView(Schema):
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
    """Whether its vectors were complete; if not, opening it continues where it stopped."""
    thumbnails: list[str] = []
    """Addresses of a few of its pictures."""


class DemoView(Schema):
    """A pile that comes with the package."""

    path: str
    line: str


class StartView(Schema):
    """The start page: recent piles, demos, and what can be opened."""

    version: str
    paths: bool
    """Whether paths may be typed: only if nobody else can reach the server."""
    pile: str | None
    """The pile that an address without a name opens."""
    recent: list[RecentView]
    demos: list[DemoView]
    kinds: dict[str, str]
    """Kinds of data that a path may hold, and how each is read."""
    suffixes: list[str] = []
    """Suffixes of files that can be dropped into the page."""


class InspectRequest(Schema):
    """A path to inspect before it is opened."""

    path: TypedPath


class EncoderView(Schema):
    """An encoder that can turn the items into vectors."""

    name: str
    line: str
    learns: bool
    """Whether it is first trained on the pictures, for a chosen number of minutes."""
    why_not: str
    """Why it cannot be used here; empty if it can."""


class Inspection(Schema):
    """The items at a path, and the encoders that suit them."""

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
    """Earlier answers about this pile."""
    orientations: list[str]
    examples: list[str]
    """A few ids, to recognise the pile by."""


class TimingRequest(Schema):
    """An encoder to time on a few items."""

    path: TypedPath
    encoder: EncoderName


class Timing(Schema):
    """The time that an encoder would take, measured on a few items of the pile."""

    encoder: str
    seconds: float
    per_item: float
    tried: int
    kept: int
    """Items whose vectors are in the cache."""
    words: str


class OpenRequest(Schema):
    """A path to open; a job computes the vectors."""

    path: TypedPath
    encoder: EncoderName | None = None
    minutes: Minutes | None = None
    """For an encoder that is trained on the pictures: how long."""
    bursts: bool | None = None
    """Whether near-duplicates collapse into one item; None: as the last time, or yes."""


class ReopenRequest(Schema):
    """A recent pile, by its name in the address."""

    pile: PileKey


class ParameterView(Schema):
    """A parameter of a method that a person may choose."""

    name: str
    type: Literal["bool", "int", "float", "str", "tuple", "choice"]
    words: str
    """The values that it takes, in words."""
    optional: bool
    """Whether it can be left without a value."""
    choices: list[str]
    """All values of a choice."""
    default: bool | int | float | str | list[int | float | str] | None
    line: str


class PolishMethod(Schema):
    """A network that can be trained on the answers."""

    name: Method
    line: str
    learner: str
    """What learns, unless parameters are chosen that change it."""
    paper: str
    parameters: list[ParameterView]


class LearnerRequest(Schema):
    """A network and the parameters that were chosen for it."""

    method: Method
    parameters: Annotated[dict[ParameterName, ParameterValue], Field(max_length=40)] = {}


class LearnerView(Schema):
    """The name of what would learn with these parameters."""

    learner: str


class Agreement(Schema):
    """How many of the held-out answers the groups agree with."""

    agreed: int
    of: int
    low: float
    high: float


class Flow(Schema):
    """Items that move from one group to another."""

    before: int
    after: int
    items: int


class NamedGroup(Schema):
    """A group by number and name."""

    number: int
    name: str
    size: int


class MovedItem(Schema):
    """An item that would change its group."""

    item: ItemView
    before: str
    after: str


class PolishResult(Schema):
    """Polished groups compared with the current ones."""

    id: str
    method: str
    learner: str
    answers: int
    seconds: float
    kept_aside: str
    """The answers on which the agreement was measured, in words."""
    before: Agreement | None
    after: Agreement | None
    verdict: str
    changed: int
    items: int
    groups_before: list[NamedGroup]
    groups_after: list[NamedGroup]
    flows: list[Flow]
    moved: list[MovedItem]


class PolishView(Schema):
    """Whether polishing is possible, its cost, and its result."""

    offered: bool
    why_not: str
    helps: bool
    """Whether it is expected to make the groups better."""
    device: str
    gpu: bool
    minutes: float
    estimate: str
    advice: str
    methods: list[PolishMethod]
    result: PolishResult | None
    accepted: str | None
    """The learner that polished the current groups; None: they are not polished."""


class PolishRequest(LearnerRequest):
    """A network to train on the answers so far, in the background."""

    minutes: Minutes | None = None


class FormatView(Schema):
    """A format that groups can be exported to."""

    name: ExportFormat
    label: str
    line: str
    modes: list[str]
    download: bool
    suggestion: str
    why_not: str
    other: bool
    """Whether it is listed among other formats, because fewer people need it."""


class PastExport(Schema):
    """An earlier export."""

    job: str
    target: str
    files: int
    at: float
    undo: bool
    """Whether it can be undone."""
    undone: bool


class ExportOptions(Schema):
    """Export formats and earlier exports."""

    paths: bool
    formats: list[FormatView]
    made: list[PastExport]


class ExportRequest(Schema):
    """What to export, and where."""

    format: ExportFormat
    mode: Literal["copy", "link"] = "copy"
    target: TypedPath
    no_formulas: bool = False


class PlannedFolder(Schema):
    """A folder that would be created, and its number of files."""

    name: str
    files: int


class PlanView(Schema):
    """A dry run: what an export would write. Nothing has been touched."""

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


class ExportRun(ExportRequest):
    """Write an export as planned, if the groups are still those of the plan."""

    snapshot: Annotated[int, Field(ge=0, le=MAX_SAFE_INTEGER)]


class ExportUndo(Schema):
    """An export into folders to undo."""

    target: TypedPath


class UndoResult(Schema):
    """The number of removed files, and those kept with the reason."""

    removed: int
    kept: list[str]
    message: str
