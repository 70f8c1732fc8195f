"""Deep methods on what people really bring: odd pictures, few of them, no memory, no numbers."""

# ruff: noqa: F811 (fixtures are imported by their names)

from __future__ import annotations

import io
import json
import math
import pickle
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image
from torch import nn

from command_line import Cli, cli  # noqa: F401
from samekind.clusterers.deep.cc import CC
from samekind.clusterers.deep.occ import OCC
from samekind.clusterers.deep.pcl import PCL, PCLLoss
from samekind.clusterers.deep.pictures import pictures_of
from samekind.compute import Compute
from samekind.constraints import Constraints
from samekind.errors import InputError, SamekindError, VectorError
from samekind.items import Collection
from samekind.questions import SamePair
from samekind.session import Session
from samekind.sources import open_source
from samekind.sources.sets.cifar import PixelItem
from samekind.training.bank import Reader
from samekind.training.checkpoints import load_checkpoint
from samekind.training.network import Network
from samekind.training.progress import Cancelled, Monitor, TrainingReport
from samekind.training.rows import RowBackbone
from samekind.workspace.pile import encoded_pile

SMALL: dict[str, Any] = {
    "backbone": "resnet18", "stem": "3x3", "channels": 4, "size": 8, "batch_size": 16,
    "device": "cpu", "random_state": 0,
}  # fmt: skip
LITTLE = ("--with", "epochs=2", "--with", "channels=8")
"""A short training of a narrow network, by the command line."""
NO_MEMORY = [
    torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 GiB"),
    RuntimeError("CUDA out of memory. Tried to allocate 20.00 GiB"),
    RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory"),
]


def pictures(n: int = 40, side: int = 12) -> np.ndarray:
    rng = np.random.default_rng(0)
    images = rng.integers(0, 60, (n, 3, side, side))
    images[np.arange(n), np.arange(n) % 3] += 150
    return images.astype(np.uint8)


def answered(n: int, *links: tuple[int, int, bool]) -> Constraints:
    return Constraints.from_links(n, list(links))


@pytest.fixture
def odd_folder(tmp_path: Path) -> Path:
    """A picture of every mode, each of another size; and one that is broken."""
    folder = tmp_path / "odd"
    folder.mkdir()
    red = Image.new("RGB", (30, 18), (250, 10, 10))
    clear = Image.new("RGBA", (17, 40), (0, 0, 0, 0))
    shades = np.full((9, 21), 257 * 100, dtype=np.uint16)
    found = {
        "alpha": clear,
        "bits": Image.fromarray(np.eye(16) > 0),
        "colour": red,
        "deep": Image.fromarray(shades),
        "gray": Image.new("L", (25, 25), 40),
        "gray-alpha": Image.new("LA", (11, 31), (200, 255)),
        "palette": red.quantize(4).resize((13, 50)),
        "tiny": Image.new("RGB", (1, 1), (0, 255, 0)),
    }
    for name, image in found.items():
        image.save(folder / f"{name}.png")
    red.convert("CMYK").save(folder / "print.jpg", quality=95)
    (folder / "broken.png").write_bytes(b"\x89PNG not really")
    return folder


# -- pictures of every sort -----------------------------------------------------------------------


def test_the_encoder_brings_pictures_of_all_sizes_and_modes_to_one_row_of_bytes(
    odd_folder: Path,
) -> None:
    pile = encoded_pile(open_source(odd_folder), encoder="images")
    assert pile.X.dtype == np.uint8 and pile.X.shape == (9, 3 * 64 * 64)
    assert [skipped.id for skipped in pile.collection.skipped] == ["broken.png"]
    ids = [id.rpartition(".")[0] for id in pile.collection.ids()]
    middle = dict(zip(ids, pile.X.reshape(9, 3, 64, 64)[:, :, 32, 32].tolist(), strict=True))
    assert middle["alpha"] == [255, 255, 255], "what is transparent is white"
    assert middle["colour"] == middle["palette"] == [250, 10, 10]
    assert middle["deep"] == [100, 100, 100], "sixteen bits are scaled to eight"
    assert middle["gray"] == [40, 40, 40] and middle["gray-alpha"] == [200, 200, 200]
    assert middle["tiny"] == [0, 255, 0]
    assert middle["print"][0] > 200 > 60 > middle["print"][1]


def test_a_session_trains_on_such_a_folder_and_honours_the_answers(odd_folder: Path) -> None:
    pile = encoded_pile(open_source(odd_folder), encoder="images")
    session = Session(
        pile.collection, pile.X, clusterer=PCL(2, epochs=1, **SMALL), strategy="pcl", refit_every=2
    )
    for choice in ("different", "same"):
        asked = session.ask()
        assert asked is not None
        session.tell(asked.number, choice)
    labels = session.refit().labels
    links = session.constraints.links()
    assert np.array_equal(labels[links.a] == labels[links.b], links.same)


def test_the_command_line_groups_a_folder_of_odd_pictures_with_pcl(
    cli: Cli, odd_folder: Path
) -> None:
    pcl = ("--method", "pcl", *LITTLE, "--encoder", "images")
    grouped = cli("cluster", odd_folder, *pcl, "--groups", "2")
    assert grouped.code == 0 and "9 items" in grouped.err and "broken.png" in grouped.err
    asked = cli("ask", odd_folder, *pcl, "--strategy", "pcl", "--questions", 2, typed="n\ny\n")
    assert asked.code == 0, asked.err
    assert "2 answers are saved" in asked.out
    told = cli("simulate", odd_folder, "--method", "pcl")
    assert told.code == 3 and "file with labels" in told.err


def test_the_command_line_simulates_on_pictures_of_different_sizes(
    cli: Cli, tmp_path: Path
) -> None:
    pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed here")
    import pyarrow.parquet as pq

    cells = []
    for k in range(8):
        buffer = io.BytesIO()
        shade = (220, 5 * k, 5) if k % 2 else (5, 5 * k, 220)
        image = Image.new("RGB", (10 + 3 * k, 30 - k), shade)
        (image if k % 3 else image.convert("RGBA")).save(buffer, "PNG")
        cells.append(buffer.getvalue())
    table = pa.table({"image": pa.array(cells, pa.binary()), "colour": ["red", "blue"] * 4})
    pq.write_table(table, tmp_path / "shades.parquet")
    done = cli(
        "simulate", tmp_path / "shades.parquet", "--orientation", "colour", "--method", "pcl",
        *LITTLE, "--encoder", "images", "--questions", "4", "--refit-every", "4", "--json",
    )  # fmt: skip
    assert done.code == 0, done.err
    result = json.loads(done.out)
    assert result["items"] == 8 and result["questions"] == 4 and len(result["curve"]) == 2


def test_a_list_of_pictures_of_all_sorts_becomes_one_array() -> None:
    red = Image.new("RGB", (20, 30), (250, 0, 0))
    clear = np.zeros((5, 6, 4), dtype=np.uint8)
    mixed = [
        red,
        red.quantize(2),
        np.full((3, 9, 7), 80, dtype=np.uint8),
        np.full((9, 7), 70, dtype=np.int64),
        clear,
        Image.fromarray(np.full((8, 8), 257 * 60, dtype=np.uint16)),
    ]
    found = pictures_of(mixed, side=16)
    assert found is not None and found.shape == (6, 3, 16, 16) and found.dtype == np.uint8
    assert found[:, :, 8, 8].tolist() == [
        [250, 0, 0], [250, 0, 0], [80] * 3, [70] * 3, [255] * 3, [60] * 3,
    ]  # fmt: skip
    same = pictures_of([np.zeros((9, 7), np.uint8), np.ones((3, 9, 7), np.uint8)])
    assert same is not None and same.shape == (2, 3, 9, 7), "of one size: taken as they are"
    objects = np.empty(2, dtype=object)
    objects[:] = mixed[2:4]
    assert pictures_of(objects) is not None
    assert pictures_of([[1.0, 2.0], [3.0, 4.0]]) is None, "a list of numbers is no picture"


def test_a_picture_of_a_list_that_cannot_be_used_is_named() -> None:
    good = np.zeros((6, 6, 3), dtype=np.uint8)
    for bad, reason in (
        (np.full((6, 6, 3), 0.5), "0 to 255"),
        (np.full((6, 6), 40_000, dtype=np.uint16), "16 bits: divide by 257"),
        (np.zeros((6, 6, 2), dtype=np.uint8), "channels"),
        (np.zeros(5, dtype=np.uint8), "not that of a picture"),
        (np.zeros((0, 6, 3), dtype=np.uint8), "channels"),
    ):
        with pytest.raises(VectorError, match=f"Picture 1 of the list.*{reason}"):
            pictures_of([good, bad])


def test_gray_piles_are_read_and_one_picture_alone_is_not_taken_for_a_pile() -> None:
    gray = pictures_of(np.full((5, 8, 9), 7, dtype=np.uint8))
    assert gray is not None and gray.shape == (5, 3, 8, 9)
    for alone in ((3, 32, 32), (32, 32, 3), (40, 40, 4)):
        with pytest.raises(VectorError, match="one picture alone"):
            pictures_of(np.zeros(alone, dtype=np.uint8))
    with pytest.raises(VectorError, match="divide by 257"):
        pictures_of(np.full((5, 3, 8, 9), 60_000, dtype=np.uint16))


def test_a_model_is_fitted_on_a_list_of_sizes_and_places_others_one_by_one() -> None:
    images = pictures()
    ragged = [image[:, : 8 + i % 5, : 12 - i % 3] for i, image in enumerate(images)]
    model = PCL(3, epochs=1, **SMALL).fit(ragged)
    assert model.labels_.shape == (40,)
    assert np.array_equal(model.predict(ragged), model.labels_)
    assert model.predict([ragged[3]]).shape == (1,)
    assert model.transform(images[:2]).shape == (2, model.space_.shape[1])


# -- few items, one group, contradictions ---------------------------------------------------------


@pytest.mark.parametrize("profile", ["paper", "fast"])
@pytest.mark.parametrize("method", [PCL, OCC, CC])
def test_three_pictures_and_one_group_are_enough_for_every_method(
    method: Any, profile: str
) -> None:
    images = pictures(3)
    known = answered(3, (0, 1, True))
    settings = {**SMALL, "batch_size": 128}
    few = method(2, epochs=1, first_epochs=1, profile=profile, **settings)
    few.fit(images, constraints=known)
    assert few.labels_[0] == few.labels_[1] and few.predict(images[:1]).shape == (1,)
    one = method(1, epochs=1, first_epochs=1, profile=profile, **settings)
    assert set(one.fit(images, constraints=known).labels_) == {0}
    assert np.allclose(one.membership_, 1) and set(one.predict(pictures(7))) == {0}


def test_contradictory_answers_are_set_aside_and_training_goes_on() -> None:
    images = pictures(12)
    items = Collection("pictures", [PixelItem(f"{i:02d}", image) for i, image in enumerate(images)])

    class Circle:
        """Asks about the sides of one triangle, whatever is known."""

        def propose(self, view: Any, n: int = 1) -> list[SamePair]:
            return [SamePair(0, 1), SamePair(1, 2), SamePair(0, 2)]

    session = Session(
        items, images, clusterer=PCL(2, epochs=1, **SMALL), strategy=Circle(), refit_every=1
    )
    numbers = []
    for choice in ("same", "different"):
        asked = session.ask()
        assert asked is not None
        session.tell(asked.number, choice)
        numbers.append(asked.number)
        session.refit()
    session.tell(numbers[-1] + 1, "same")  # 0 ~ 1, 1 / 2, and now 0 ~ 2
    assert len(session.constraints.conflicts) == 1
    labels = session.refit().labels
    assert labels[0] == labels[1] != labels[2], "the earlier answers hold"
    clash = session.constraints.conflicts[0].clash
    assert {answer.number for answer in clash} == {*numbers, numbers[-1] + 1}
    session.undo(numbers[1])
    labels = session.refit().labels
    assert labels[0] == labels[1] == labels[2] and not session.constraints.conflicts


# -- checkpoints ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"stem": "7x7"}, "stem is '3x3' there and '7x7' here. "),
        ({"channels": 8}, "channels is 4 there and 8 here. "),
        ({"backbone": "resnet34"}, "backbone is 'resnet18' there and 'resnet34' here. "),
        ({"attention": False}, "attention is True there and False here. "),
    ],
)
def test_a_checkpoint_of_another_architecture_says_what_differs(
    change: dict[str, Any], sentence: str, tmp_path: Path
) -> None:
    images, file = pictures(8), tmp_path / "run.safetensors"
    PCL(2, epochs=1, checkpoint=str(file), **SMALL).fit(images, constraints=Constraints(8))
    before = file.read_bytes()
    other = PCL(2, epochs=1, checkpoint=str(file), **{**SMALL, **change})
    with pytest.raises(InputError) as found:
        other.fit(images, constraints=Constraints(8))
    assert f"belongs to another training: architecture: {sentence}" in str(found.value)
    assert file.read_bytes() == before, "the file is left as it was"


def test_a_checkpoint_of_other_items_says_how_many(tmp_path: Path) -> None:
    file = str(tmp_path / "run.safetensors")
    PCL(2, epochs=1, checkpoint=file, **SMALL).fit(pictures(8), constraints=Constraints(8))
    with pytest.raises(InputError, match="items is 8 there and 9 here"):
        PCL(2, epochs=1, checkpoint=file, **SMALL).fit(pictures(9), constraints=Constraints(9))


class BreaksAfter(PCLLoss):
    """Not a number from some call on."""

    def __init__(self, calls: int) -> None:
        super().__init__()
        self.left = calls

    def forward(self, out: Any, links: Any, point: Any) -> Any:
        self.left -= 1
        parts = super().forward(out, links, point)
        return parts if self.left >= 0 else {**parts, "bad": out.z.sum() * float("nan")}


@pytest.fixture
def quick_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every checkpoint counts as written quickly, so that one follows each epoch."""
    monkeypatch.setattr("samekind.clusterers.deep.epochs.QUICK_SAVING", math.inf)


@pytest.mark.usefixtures("quick_disk")
def test_a_loss_that_is_not_a_number_leaves_the_last_good_checkpoint(tmp_path: Path) -> None:
    images, file = pictures(), tmp_path / "run.safetensors"
    known = answered(40, (0, 1, False), (0, 3, True))
    whole = PCL(2, epochs=4, **SMALL).fit(images, constraints=known)
    broken = PCL(2, epochs=4, objective=BreaksAfter(5), checkpoint=str(file), **SMALL)
    with pytest.raises(SamekindError, match=r"not a finite number.*back at step 4.*learning rate"):
        broken.fit(images, constraints=known)  # two steps per epoch: it breaks in the third
    kept = load_checkpoint(file)
    assert kept.facts["step"] == 4 and kept.facts["done"] == 2
    assert all(torch.isfinite(tensor.float()).all() for tensor in kept.tensors.values())
    resumed = PCL(2, epochs=4, checkpoint=str(file), **SMALL).fit(images, constraints=known)
    np.testing.assert_array_equal(resumed.space_, whole.space_)


def test_a_refit_that_breaks_down_leaves_a_model_that_can_be_used_and_goes_on() -> None:
    images, known = pictures(), answered(40, (0, 1, False), (0, 3, True))
    loss = BreaksAfter(10**9)
    model = PCL(2, epochs=1, objective=loss, **SMALL).fit(images, constraints=Constraints(40))
    loss.left = 0
    with pytest.raises(SamekindError, match="not a finite number"):
        model.fit(images, constraints=known)
    assert np.isfinite(model.space_).all() and says_the_same(model, images, known)
    loss.left = 10**9
    model.fit(images, constraints=known)
    assert model.labels_[0] == model.labels_[3] != model.labels_[1]


# -- memory ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("error", NO_MEMORY, ids=lambda error: str(error)[:14])
def test_lack_of_memory_in_training_names_the_batch_size_to_try(error: Exception) -> None:
    def greedy(out: Any, links: Any, point: Any) -> Any:
        raise error

    model = PCL(2, epochs=1, objective=greedy, **SMALL)
    with pytest.raises(SamekindError, match=r"batches of 16 items.*batch_size=8") as found:
        model.fit(pictures(), constraints=Constraints(40))
    assert found.value.__cause__ is error


class Greedy(RowBackbone):
    """Has too little memory for more than some rows at once, when it is in use."""

    def __init__(self, error: Exception, most: int = 0) -> None:
        super().__init__(6, width=16)
        self.error, self.most = error, most

    def forward(self, rows: torch.Tensor) -> torch.Tensor:
        if not self.training and len(rows) > self.most:
            raise self.error
        return super().forward(rows)


@pytest.mark.parametrize("error", NO_MEMORY, ids=lambda error: str(error)[:14])
def test_lack_of_memory_in_reading_is_told_and_leaves_the_mode_of_the_network(
    error: Exception,
) -> None:
    network = Network(Greedy(error), k=2, out=8, attention=False).train()
    reader = Reader(network, nn.Identity(), Compute("cpu", "float32", "for a test"))
    with pytest.raises(SamekindError, match="not enough memory") as found:
        reader.bank(torch.randn(20, 6))
    assert found.value.__cause__ is error and network.backbone.training


def test_reading_takes_fewer_items_at_a_time_when_memory_is_short() -> None:
    torch.manual_seed(0)
    network = Network(Greedy(NO_MEMORY[0], most=20), k=2, out=8, attention=False)
    reader = Reader(network, nn.Identity(), Compute("cpu", "float32", "for a test"))
    rows = torch.randn(50, 6)
    found = reader.bank(rows)
    network.backbone.most = 10**9  # type: ignore[union-attr, assignment]
    np.testing.assert_allclose(found.p, reader.bank(rows).p, rtol=1e-5)


# -- stopping and watching ------------------------------------------------------------------------


def stopping_after(reports: int, how: Any = None) -> Monitor:
    """A monitor that stops training after some steps: by its event, or by raising."""
    stop, left = threading.Event(), [reports]

    def report(told: TrainingReport) -> None:
        left[0] -= 1
        if left[0] == 0:
            if how is not None:
                raise how
            stop.set()

    return Monitor(report=report, stop=stop, every=1)


def says_the_same(model: Any, images: np.ndarray, known: Constraints) -> bool:
    """Whether labels, vectors and predictions are of one network, and answers are honoured."""
    links = known.links()
    honoured = (model.labels_[links.a] == model.labels_[links.b]) == links.same
    free = np.setdiff1d(np.arange(len(images)), known.touched)
    placed = np.array_equal(model.predict(images[free]), model.labels_[free])
    near = np.allclose(model.transform(images), model.space_, rtol=1e-3, atol=1e-4)
    return bool(honoured.all()) and placed and near


@pytest.mark.usefixtures("quick_disk")
@pytest.mark.parametrize("how", [None, KeyboardInterrupt()])
def test_a_fit_that_is_stopped_is_taken_up_from_its_checkpoint(how: Any, tmp_path: Path) -> None:
    images, known = pictures(), answered(40, (0, 1, False), (0, 3, True))
    whole = PCL(2, epochs=4, **SMALL).fit(images, constraints=known)
    file = str(tmp_path / "run.safetensors")
    model = PCL(2, epochs=4, checkpoint=file, monitor=stopping_after(5, how), **SMALL)
    with pytest.raises((Cancelled, KeyboardInterrupt)):
        model.fit(images, constraints=known)
    assert load_checkpoint(file).facts["done"] == 2
    assert [path.name for path in tmp_path.iterdir()] == ["run.safetensors"]
    again = PCL(2, epochs=4, checkpoint=file, **SMALL).fit(images, constraints=known)
    np.testing.assert_array_equal(again.space_, whole.space_)


@pytest.mark.parametrize("how", [None, KeyboardInterrupt()])
def test_a_refit_that_is_stopped_leaves_a_model_that_can_be_used_and_goes_on(how: Any) -> None:
    images, known = pictures(), answered(40, (0, 1, False), (0, 3, True))
    model = PCL(2, epochs=1, **SMALL).fit(images, constraints=Constraints(40))
    model.set_params(epochs=3, monitor=stopping_after(3, how))
    with pytest.raises((Cancelled, KeyboardInterrupt)):
        model.fit(images, constraints=known)
    assert np.isfinite(model.space_).all() and says_the_same(model, images, known)
    model.set_params(epochs=1, monitor=None).fit(images, constraints=known)
    assert model.labels_[0] == model.labels_[3] != model.labels_[1]


@pytest.mark.usefixtures("short_heads")
@pytest.mark.parametrize(("profile", "steps"), [("paper", 3), ("fast", 3), ("fast", 22)])
def test_a_first_fit_that_is_stopped_leaves_a_model_of_what_was_learnt(
    profile: Any, steps: int
) -> None:
    images = pictures()
    known = answered(40, *((i, i + 1, False) for i in range(0, 30, 2)))
    model = PCL(
        3, profile=profile, epochs=10, first_epochs=10, tune_from=10,
        monitor=stopping_after(steps), **SMALL,
    )  # fmt: skip
    with pytest.raises(Cancelled):
        model.fit(images, constraints=known)
    assert says_the_same(model, images, known)
    model.set_params(monitor=None).fit(images, constraints=known)
    assert says_the_same(model, images, known)


def test_a_state_that_broke_unnoticed_is_not_what_a_stop_leaves() -> None:
    images = pictures()
    loss = BreaksAfter(10**9)
    model = PCL(2, epochs=1, objective=loss, **SMALL).fit(images, constraints=Constraints(40))
    loss.left = 0
    calls = [0]

    class Impatient:
        every, report, log = 1000, None, None

        def check(self) -> None:
            calls[0] += 1
            if calls[0] == 2:  # after one broken step, before any look at it
                raise KeyboardInterrupt

        def tell(self, told: TrainingReport) -> None:
            pass

    with pytest.raises(KeyboardInterrupt):
        model.set_params(monitor=Impatient()).fit(images, constraints=Constraints(40))
    assert np.isfinite(model.space_).all() and np.isfinite(model.transform(images)).all()


@pytest.mark.usefixtures("short_heads")
@pytest.mark.parametrize("profile", ["paper", "fast"])
def test_a_watched_model_tells_every_part_of_the_loss_shows_a_bar_and_can_be_pickled(
    profile: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    curve: list[tuple[int, dict[str, float]]] = []
    monitor = Monitor(log=lambda step, values: curve.append((step, dict(values))), every=1)
    images = pictures()
    known = answered(40, *((i, i + 1, False) for i in range(0, 30, 2)))
    model = PCL(
        3, profile=profile, epochs=4, first_epochs=5, tune_from=10, monitor=monitor, verbose=True,
        **SMALL,
    )  # fmt: skip
    model.fit(images, constraints=known)
    assert curve and all(np.isfinite(v) for _, values in curve for v in values.values())
    named = {name for _, values in curve for name in values}
    assert {"loss", "instance"} <= named
    assert ("tuning/loss" in named) == (profile == "fast")
    assert capsys.readouterr().out == ""
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.predict(images), model.predict(images))
