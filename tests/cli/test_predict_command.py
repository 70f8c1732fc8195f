"""The orientation file: written from a session, applied to other items, refused when it is wrong."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from command_line import Cli, cli  # noqa: F401
from samekind.errors import ExportError, InputError, SamekindError, SourceError, VectorError
from samekind.exports import OrientationFile
from samekind.exports.orientation_file import VERSION
from samekind.session import Session
from samekind.simulation.loop import run
from samekind.simulation.people import Truth
from samekind.sources import open_labelled, open_source
from samekind.workspace.orientation import orientation_of
from samekind.workspace.pile import Pile, encoded_pile, open_pile
from samekind.workspace.predict import fitted_encoder, place_items

COLOURS = ((200, 30, 30), (30, 160, 60), (40, 60, 200))


def draw(folder: Path, n: int, seed: int = 0, *, noise: int = 0) -> np.ndarray:
    """Pictures of a coloured square on grey; the kinds are the colours. Noise has no colour."""
    folder.mkdir()
    rng = np.random.default_rng(seed)
    kinds = rng.permutation(np.arange(n) % 3)
    for k, kind in enumerate(kinds):
        image = rng.integers(110, 140, (24, 24, 3))
        y, x = rng.integers(2, 8, size=2)
        image[y : y + 14, x : x + 14] = np.array(COLOURS[kind]) + rng.integers(-15, 16, 3)
        Image.fromarray(image.astype(np.uint8)).save(folder / f"picture-{k:03}.png")
    for k in range(noise):
        pixels = rng.integers(0, 256, (24, 24, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(folder / f"strange-{k:03}.png")
    return kinds


@pytest.fixture
def sorted_pile(tmp_path: Path) -> tuple[Pile, Session]:
    kinds = draw(tmp_path / "my secret folder", 60)
    pile = open_pile(tmp_path / "my secret folder", encoder="pixels")
    session = Session(pile.collection, pile.X, name="colour", seed=3)
    run(session, Truth(kinds), 15)
    session.refit()
    assert session.clustering.n_groups == 3
    session.rename(session.clustering.numbers[1], "grün ✓")
    return pile, session


@pytest.fixture
def orientation(sorted_pile: tuple[Pile, Session], tmp_path: Path) -> Path:
    orientation_of(*sorted_pile).save(tmp_path / "colour.orientation")
    return tmp_path / "colour.orientation"


def test_a_file_knows_groups_names_sizes_answers_and_encoder(
    sorted_pile: tuple[Pile, Session], orientation: Path
) -> None:
    pile, session = sorted_pile
    file = OrientationFile.load(orientation)
    assert {g.number: g.size for g in file.groups} == session.clustering.sizes()
    assert {g.number: g.name for g in file.groups} == {
        number: session.clustering.name(number) for number in session.clustering.numbers
    }
    assert "grün ✓" in file.describe()
    assert (file.answers, file.items, file.seed, file.kind) == (15, 60, 3, "image")
    assert file.fingerprint == pile.encoded.encoder.fingerprint


def test_a_file_holds_no_path_no_item_and_no_pickle(orientation: Path, tmp_path: Path) -> None:
    data = orientation.read_bytes()
    for trace in (str(tmp_path).encode(), b"my secret folder", b"picture-0", b"pickle", b"PNG"):
        assert trace not in data
    assert len(data) < 3_000_000


def test_the_sorted_items_come_back_to_their_groups(
    sorted_pile: tuple[Pile, Session], orientation: Path
) -> None:
    pile, session = sorted_pile
    found = place_items(OrientationFile.load(orientation), pile.collection)
    numbers = np.array([item.group for item in found.items])
    answered = session.constraints.touched
    assert (numbers[answered] == session.clustering.labels[answered]).all()
    assert np.mean(numbers == session.clustering.labels) >= 0.99
    assert all(item.fits for item in found.items)


def test_new_items_are_placed_as_the_session_would_and_twice_the_same(
    sorted_pile: tuple[Pile, Session], orientation: Path, tmp_path: Path
) -> None:
    pile, session = sorted_pile
    draw(tmp_path / "new", 30, seed=9)
    new = open_source(tmp_path / "new")
    file = OrientationFile.load(orientation)
    found = place_items(file, new)
    assert found == place_items(OrientationFile.load(orientation), new)
    wanted = session.predict(pile.vectors_of(new).X)
    assert np.mean([item.group for item in found.items] == wanted) >= 0.99
    assert all(0 < item.confidence <= 1 for item in found.items)
    assert sum(not item.fits for item in found.items) <= 1


def test_items_unlike_the_pile_fit_no_group(orientation: Path, tmp_path: Path) -> None:
    draw(tmp_path / "new", 30, seed=9, noise=10)
    found = place_items(OrientationFile.load(orientation), open_source(tmp_path / "new"))
    strange = {item.id for item in found.strangers}
    assert {f"strange-{k:03}.png" for k in range(10)} <= strange
    assert len(strange) <= 11
    worst = [item.strangeness for item in found.strangers]
    assert worst == sorted(worst, reverse=True) and worst[-1] > 1
    more = place_items(
        OrientationFile.load(orientation), open_source(tmp_path / "new"), tolerance=99
    )
    assert not more.strangers and [i.group for i in more.items] == [i.group for i in found.items]


def test_items_that_cannot_be_read_are_listed_and_the_rest_goes_on(
    orientation: Path, tmp_path: Path
) -> None:
    draw(tmp_path / "new", 6, seed=9)
    (tmp_path / "new" / "broken.png").write_bytes(b"\x89PNG\r\n\x1a\n not really")
    found = place_items(OrientationFile.load(orientation), open_source(tmp_path / "new"))
    assert len(found.items) == 6
    assert [skipped.id for skipped in found.skipped] == ["broken.png"]
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "a.txt").write_text("words of a text")
    with pytest.raises(
        InputError, match="Expected image items for the grouping 'colour', got text"
    ):
        place_items(OrientationFile.load(orientation), open_source(tmp_path / "bad"))


def _flipped(data: bytes) -> bytes:
    middle = len(data) - 1000
    return data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :]


@pytest.mark.parametrize(
    "harm",
    [_flipped, lambda d: d[:-100], lambda d: d[:300], lambda d: d[:5], lambda d: b"\xff" * 100],
    ids=["a bit", "the end", "most", "nearly all", "all"],
)
def test_a_damaged_file_is_told(orientation: Path, harm: Callable[[bytes], bytes]) -> None:
    orientation.write_bytes(harm(orientation.read_bytes()))
    with pytest.raises(SourceError, match=r"is damaged .*export it again"):
        OrientationFile.load(orientation)


def test_a_file_of_something_else_or_of_the_future_is_told(
    orientation: Path, tmp_path: Path
) -> None:
    with pytest.raises(SourceError, match="cannot be read"):
        OrientationFile.load(tmp_path / "nothing.orientation")
    (tmp_path / "letter").write_text("Dear all, " * 50)
    with pytest.raises(SourceError, match="not a grouping file"):
        OrientationFile.load(tmp_path / "letter")
    mark = f'\\"version\\": {VERSION}'.encode()
    data = orientation.read_bytes()
    assert mark in data
    orientation.write_bytes(data.replace(mark, mark[:-1] + b"7"))
    with pytest.raises(
        SourceError, match=r"version 1 of the format or older, got 7.*pip install --upgrade"
    ):
        OrientationFile.load(orientation)


def test_another_version_of_the_encoder_is_refused(orientation: Path) -> None:
    file = OrientationFile.load(orientation)
    older = replace(file, fingerprint="pixels/16px-v0")
    with pytest.raises(
        InputError, match=r"Expected the encoder 'pixels/16px-v0' .* got 'pixels/32"
    ):
        fitted_encoder(older)
    with pytest.raises(InputError, match=r"Expected the encoder 'pixels' .* got 'images'"):
        fitted_encoder(file, "images")
    with pytest.raises(SourceError, match=r"encoder of the grouping .* cannot be restored"):
        fitted_encoder(replace(file, encoder_state={"mean": np.zeros(3)}))


def test_a_file_does_not_decide_which_program_is_run(
    orientation: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "evil.py").write_text("raise SystemExit('ran')")
    monkeypatch.syspath_prepend(tmp_path)
    file = replace(OrientationFile.load(orientation), encoder="evil.code:Encoder")
    with pytest.raises(InputError, match="not part of samekind"):
        fitted_encoder(file)


def test_a_head_whose_parts_do_not_fit_is_refused(orientation: Path, tmp_path: Path) -> None:
    file = OrientationFile.load(orientation)
    draw(tmp_path / "new", 3)
    new = open_source(tmp_path / "new")
    for wrong in ({"limits": np.ones(1)}, {"points": file.head_state["points"][:, :1]}):
        with pytest.raises(SourceError, match="damaged"):
            place_items(replace(file, head_state={**file.head_state, **wrong}), new)
    with pytest.raises(SourceError, match="damaged"):
        place_items(replace(file, groups=file.groups[:1]), new)


def test_nothing_is_overwritten_and_nothing_is_left_half_written(
    sorted_pile: tuple[Pile, Session], tmp_path: Path
) -> None:
    file = orientation_of(*sorted_pile)
    (tmp_path / "mine.orientation").write_text("my own work")
    with pytest.raises(ExportError, match="exists already"):
        file.save(tmp_path / "mine.orientation")
    with pytest.raises(ExportError, match="cannot be written"):
        file.save(tmp_path / "nowhere" / "a.orientation")
    assert (tmp_path / "mine.orientation").read_text() == "my own work"
    assert not list(tmp_path.glob(".*.part"))


def test_an_encoder_that_cannot_travel_says_so(sorted_pile: tuple[Pile, Session]) -> None:
    pile, session = sorted_pile
    encoded = encoded_pile(pile.collection, encoder="images").encoded
    with pytest.raises(InputError, match=r"'images' does not fit into a grouping file"):
        orientation_of(replace(pile, encoded=encoded), session)


def test_a_table_with_other_columns_is_refused(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    lines = [f"{a:.3f},{b:.3f}" for a, b in rng.normal(size=(40, 2)) + np.arange(40)[:, None] % 2]
    (tmp_path / "old.csv").write_text("\n".join(["weight,length", *lines]))
    (tmp_path / "new.csv").write_text("\n".join(["length,price", *lines]))
    pile = open_pile(tmp_path / "old.csv")
    session = Session(pile.collection, pile.X)
    file = orientation_of(pile, session)
    again = place_items(file, open_source(tmp_path / "old.csv"))
    assert [item.group for item in again.items] == session.clustering.labels.tolist()
    with pytest.raises(VectorError, match=r"missing: weight; unknown: price"):
        place_items(file, open_source(tmp_path / "new.csv"))


# -- the commands ---------------------------------------------------------------------------------


@pytest.fixture
def asked(cli: Cli, tmp_path: Path) -> Path:  # noqa: F811
    draw(tmp_path / "pile", 24)
    draw(tmp_path / "new", 6, seed=5, noise=2)
    options = ("--encoder", "pixels", "--orientation", "by colour")
    done = cli("ask", tmp_path / "pile", *options, typed="0\n0\n1\n2\nq\n")
    assert done.code == 0, done.err
    return tmp_path / "pile"


def test_export_and_predict_on_the_command_line(
    cli: Cli,  # noqa: F811
    asked: Path,
    tmp_path: Path,
) -> None:
    file = tmp_path / "by colour.orientation"
    done = cli("export", asked, file, "--orientation", "by colour")
    assert done.code == 0, done.err
    assert "MB" in done.out and "samekind predict" in done.out
    done = cli("predict", file, tmp_path / "new")
    assert done.code == 0, done.err
    lines = [line.split("\t") for line in done.out.splitlines()]
    assert len(lines) == 8 and all(len(line) == 5 for line in lines)
    strange = {line[0] for line in lines if line[4] == "fits-none"}
    assert {"strange-000.png", "strange-001.png"} <= strange
    assert "fit no group:" in done.err and "strange-000.png" in done.err
    assert cli("predict", file, tmp_path / "new").out == done.out
    assert cli("export", asked, file, "--orientation", "by colour").code == 14


def test_placed_items_go_into_tables_and_folders(
    cli: Cli,  # noqa: F811
    asked: Path,
    tmp_path: Path,
) -> None:
    file = tmp_path / "a.orientation"
    assert cli("export", asked, file, "--orientation", "by colour").code == 0
    targets = {name: tmp_path / name for name in ("a.csv", "a.json", "copies", "links")}
    done = cli(
        "predict", file, tmp_path / "new", "--csv", targets["a.csv"], "--json", targets["a.json"],
        "--copy-to", targets["copies"], "--link-to", targets["links"],
    )  # fmt: skip
    assert done.code == 0, done.err
    with targets["a.csv"].open(encoding="utf-8") as opened:
        rows = list(csv.DictReader(opened))
    assert [row["id"] for row in rows] == sorted(p.name for p in (tmp_path / "new").iterdir())
    content = json.loads(targets["a.json"].read_text())
    nowhere = sorted(row["id"] for row in rows if row["fits"] == "false")
    assert sorted(content["fit_no_group"]) == nowhere and "strange-000.png" in nowhere
    for folder in ("copies", "links"):
        apart = sorted(p.name for p in (targets[folder] / "Fits no group").iterdir())
        assert apart == nowhere
        assert len(list(targets[folder].rglob("*.png"))) == 8
    for option in ("--csv", "--json", "--copy-to"):
        done = cli("predict", file, tmp_path / "new", option, targets["a.csv"])
        assert done.code == 14 and "exists already" in done.err


def test_formulas_in_a_table_are_mentioned_and_neutralised_on_request(
    cli: Cli,  # noqa: F811
    asked: Path,
    tmp_path: Path,
) -> None:
    file, new = tmp_path / "a.orientation", tmp_path / "new"
    assert cli("export", asked, file, "--orientation", "by colour").code == 0
    (new / "picture-000.png").rename(new / "=1.png")
    by_session = (asked, new, "--orientation", "by colour", "--encoder", "pixels", "--out")
    for name, options in {"file": (file, new, "--csv"), "session": by_session}.items():
        done = cli("predict", *options, tmp_path / f"{name}.csv")
        assert done.code == 0 and "1 cell begins with" in done.out, done.err + done.out
        assert "\n=1.png," in (tmp_path / f"{name}.csv").read_text()
        done = cli("predict", *options, tmp_path / f"{name} safe.csv", "--no-formulas")
        assert done.code == 0 and "with an apostrophe" in done.out, done.err + done.out
        assert "\n'=1.png," in (tmp_path / f"{name} safe.csv").read_text()


def test_a_grouping_may_be_named_instead_of_a_target(
    cli: Cli,  # noqa: F811
    asked: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli("export", asked, "--orientation", "by colour").code == 0
    assert OrientationFile.load("by colour.orientation").orientation == "by colour"
    done = cli("export", asked, "--orientation", "colours.orientation")
    assert done.code == 2 and "no grouping 'main'" in done.err
    done = cli("export", asked)
    assert done.code == 2 and "Expected a new file or folder" in done.err


def test_wrong_uses_of_predict_are_told(
    cli: Cli,  # noqa: F811
    asked: Path,
    tmp_path: Path,
) -> None:
    file, new = tmp_path / "a.orientation", tmp_path / "new"
    done = cli("predict", file, new)
    assert done.code == 3 and "cannot be read" in done.err
    cli("export", asked, file, "--orientation", "by colour")
    done = cli("predict", asked, new, "--orientation", "by colour", "--csv", tmp_path / "x.csv")
    assert done.code == 2 and "Expected a grouping file for --csv" in done.err
    done = cli("predict", file, new, "--out", tmp_path / "x.csv")
    assert done.code == 2 and "--csv, --json" in done.err
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "a.txt").write_text("words of a text")
    done = cli("predict", file, tmp_path / "texts")
    assert done.code == 2 and "same kind" in done.err
    file.write_bytes(file.read_bytes()[:-9])
    done = cli("predict", file, new)
    assert done.code == 3 and "damaged" in done.err


def test_held_out_tiles_are_placed_as_by_the_session(tmp_path: Path) -> None:
    tiles = open_labelled("tiles")
    truth, _ = tiles.truth("colour")
    pile = encoded_pile(tiles.collection, encoder="pixels")
    session = Session(pile.collection, pile.X, seed=0)
    run(session, Truth(truth), 30)
    session.refit()
    size = orientation_of(pile, session).save(tmp_path / "tiles.orientation")
    assert size < 2_500_000
    file = OrientationFile.load(tmp_path / "tiles.orientation")
    assert tiles.held_out is not None
    found = place_items(file, tiles.held_out)
    wanted = session.predict(pile.vectors_of(tiles.held_out).X)
    assert np.mean([item.group for item in found.items] == wanted) >= 0.99
    assert np.mean([item.fits for item in found.items]) >= 0.95
    with pytest.raises(SamekindError):
        place_items(file, open_source("digits"))
