"""``samekind learn`` as a newcomer meets it: an estimate, a training, and what to type next."""

# ruff: noqa: F811 (fixtures are imported by their names)

from __future__ import annotations

import json
import re
import signal
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from command_line import Cli, cli, table  # noqa: F401
from drawn_sources import write_tar
from samekind.cli import learn as learn_module
from samekind.encoders.learned.encoder import METHODS


@pytest.fixture(autouse=True)
def small_and_on_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SAMEKIND_DEVICE", "cpu")
    monkeypatch.setattr("samekind.encoders.learned.plan.SMALL", 4)


@pytest.fixture
def drawn(tmp_path: Path) -> Callable[..., Path]:
    """Folders of small pictures: a disc or a bar, in one of many colours."""

    def draw(name: str = "pictures", n: int = 12, seed: int = 0) -> Path:
        folder = tmp_path / name
        folder.mkdir()
        rng = np.random.default_rng(seed)
        rows, columns = np.mgrid[:24, :24]
        for k in range(n):
            disc = (rows - 12) ** 2 + (columns - 12) ** 2 < 64
            pixels = np.full((24, 24, 3), 230, dtype=np.uint8)
            pixels[disc if k % 2 else abs(rows - 12) < 4] = rng.integers(0, 200, 3)
            Image.fromarray(pixels).save(folder / f"{seed}-{k:02}.png")
        return folder

    return draw


def test_learning_tells_first_what_it_will_cost_and_then_what_to_type(
    cli: Cli, drawn: Callable[..., Path]
) -> None:
    folder = drawn()
    done = cli("learn", folder, "--encoder", "simclr", "--epochs", "2")
    assert done.code == 0, done.err
    assert "12 pictures in pictures." in done.err
    assert "brought to 32 x 32 pixels" in done.err
    assert re.search(r"About 2 epochs in \S+ (s|min) on CPU", done.err)
    assert re.search(r"200 to 1,000 epochs: here 200 would take", done.err)
    assert "simclr, learnt from 12 pictures in 2 epochs" in done.out
    kept = re.search(r"Saved in (.+)\.$", done.out, re.MULTILINE)
    assert kept and Path(kept[1]).is_file()
    assert f"samekind cluster {folder} --encoder simclr" in done.out


def test_what_was_learnt_is_used_by_its_name_in_other_commands(
    cli: Cli, drawn: Callable[..., Path]
) -> None:
    folder, new = drawn(), drawn("new", 3, seed=1)
    assert cli("learn", folder, "--epochs", "1").code == 0
    grouped = cli("cluster", folder, "--encoder", "simclr", "--groups", "2")
    assert grouped.code == 0, grouped.err
    assert "2 groups" in grouped.out
    asked = cli("ask", folder, "--encoder", "simclr", "--questions", "2", typed="1\nn\n")
    assert asked.code == 0, asked.err
    placed = cli("predict", folder, new)
    assert placed.code == 0, placed.err
    assert [line.split("\t")[0] for line in placed.out.splitlines()] == [
        f"1-{k:02}.png" for k in range(3)
    ]


def test_an_encoder_that_has_not_learnt_says_what_to_type(
    cli: Cli, drawn: Callable[..., Path]
) -> None:
    folder = drawn()
    done = cli("cluster", folder, "--encoder", "byol")
    assert done.code == 2
    assert f"samekind learn {folder} --encoder byol" in done.err.replace("\n", " ")


def test_ctrl_c_loses_nothing_and_the_same_command_goes_on(
    cli: Cli, drawn: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = drawn()
    reports = []

    class Impatient(learn_module.Bar):
        def __call__(self, told: object) -> None:
            reports.append(told)
            if len(reports) == 1:
                signal.raise_signal(signal.SIGINT)

    with monkeypatch.context() as patch:
        patch.setattr(learn_module, "Bar", Impatient)
        stopped = cli("learn", folder, "--epochs", "12")
    assert stopped.code == 130
    at = re.search(r"Stopped at epoch ([\d.]+) of 12\. The same command resumes", stopped.err)
    assert at and 0 < float(at[1]) < 12
    assert cli("cluster", folder, "--encoder", "simclr").code == 2
    again = cli("learn", folder)  # neither minutes nor epochs: what was begun is finished
    assert again.code == 0, again.err
    assert re.search(rf"Resumes at epoch {at[1]} of 12: .* left", again.err)
    assert "in 12 epochs" in again.out


def test_learning_again_goes_on_from_where_it_was_finished(
    cli: Cli, drawn: Callable[..., Path]
) -> None:
    folder = drawn()
    cli("learn", folder, "--epochs", "1")
    same = cli("learn", folder, "--epochs", "1")
    assert same.code == 0
    assert "1 epochs are trained already" in same.err
    more = cli("learn", folder, "--epochs", "2")
    assert "in 2 epochs" in more.out


def test_json_is_one_object_with_everything(cli: Cli, drawn: Callable[..., Path]) -> None:
    done = cli("learn", drawn(), "--epochs", "1", "--size", "24", "--json")
    row = json.loads(done.out)
    assert row["encoder"] == "simclr"
    assert row["pictures"] == 12
    assert row["epochs"] == pytest.approx(1)
    assert row["size"] == row["settings"]["size"] == 24
    assert Path(row["path"]).is_file()


def test_broken_pictures_are_told_and_skipped(cli: Cli, drawn: Callable[..., Path]) -> None:
    folder = drawn()
    (folder / "broken.png").write_bytes(b"no picture")
    done = cli("learn", folder, "--epochs", "1")
    assert done.code == 0, done.err
    assert "Skipped broken.png" in done.err
    assert "learnt from 12 pictures" in done.out


def test_whoever_says_no_gets_nothing_learnt(
    cli: Cli, drawn: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(learn_module, "_agreed", lambda: False)
    folder = drawn()
    done = cli("learn", folder, "--epochs", "1")
    assert (done.code, done.out) == (0, "Nothing was trained.\n")
    assert cli("cluster", folder, "--encoder", "simclr").code == 2
    assert cli("learn", folder, "--epochs", "1", "--yes").code == 0


@pytest.mark.parametrize("name", sorted(set(METHODS) - {"simclr"}))
def test_every_way_to_learn_works_from_the_command_line(
    cli: Cli, drawn: Callable[..., Path], name: str
) -> None:
    folder = drawn()
    groups = ["--groups", "3"] if METHODS[name].needs_groups else []
    done = cli("learn", folder, "--encoder", name, "--epochs", "2", *groups)
    assert done.code == 0, done.err
    assert f"{name}, learnt from 12 pictures in 2 epochs" in done.out
    assert cli("cluster", folder, "--encoder", name).code == 0


# -- what cannot be done --------------------------------------------------------------------------


def test_an_encoder_that_does_not_learn_is_refused(cli: Cli, drawn: Callable[..., Path]) -> None:
    done = cli("learn", drawn(), "--encoder", "simclear")
    assert done.code == 5
    assert "Did you mean 'simclr'?" in done.err


def test_a_pile_of_texts_is_refused(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "letters.txt").write_text("one\ntwo\nthree\n")
    done = cli("learn", tmp_path / "letters.txt")
    assert done.code == 2
    assert "learns from pictures, but 'letters' holds text items" in done.err


def test_a_table_of_numbers_is_refused(cli: Cli, table: Path) -> None:
    done = cli("learn", table)
    assert done.code == 2
    assert "holds row items" in done.err


def test_an_empty_folder_is_refused(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "nothing").mkdir()
    done = cli("learn", tmp_path / "nothing")
    assert done.code == 3
    assert "is empty" in done.err


def test_a_path_that_is_not_there_is_refused(cli: Cli) -> None:
    done = cli("learn", "tils")
    assert done.code == 3
    assert "Did you mean the set 'tiles'?" in done.err


def test_too_few_pictures_are_refused(cli: Cli, drawn: Callable[..., Path]) -> None:
    done = cli("learn", drawn(n=3))
    assert done.code == 2
    assert "holds 3 pictures" in done.err


def test_groups_are_asked_for_where_they_are_learnt(cli: Cli, drawn: Callable[..., Path]) -> None:
    done = cli("learn", drawn(), "--encoder", "tcl")
    assert done.code == 2
    assert "--groups K" in done.err


def test_minutes_and_epochs_together_are_refused(cli: Cli, drawn: Callable[..., Path]) -> None:
    done = cli("learn", drawn(), "--minutes", "1", "--epochs", "1")
    assert done.code == 2
    assert "got both" in done.err


def test_a_device_that_is_not_there_is_refused(cli: Cli, drawn: Callable[..., Path]) -> None:
    done = cli("learn", drawn(), "--device", "abacus")
    assert done.code == 2
    assert "There is no device 'abacus' here" in done.err


def test_list_names_the_encoders_that_learn(cli: Cli) -> None:
    encoders = json.loads(cli("list", "--json").out)["encoders"]
    assert all("your own pictures" in encoders[name] for name in METHODS)


def test_the_command_names_every_encoder_that_learns() -> None:
    from samekind.cli import export, learn
    from samekind.encoders.learned.encoder import METHODS
    from samekind.exports.orientation_file import SUFFIX

    assert tuple(METHODS) == learn.METHODS and export.SUFFIX == SUFFIX


def test_shards_are_learnt_from_without_loading_them(
    cli: Cli, drawn: Callable[..., Path], tmp_path: Path
) -> None:
    folder = drawn()
    for k in range(2):
        files = {f"{p.name}": p.read_bytes() for p in sorted(folder.iterdir())[6 * k : 6 * k + 6]}
        write_tar(tmp_path / "shards" / f"{k}.tar", files)
    done = cli("learn", tmp_path / "shards", "--epochs", "1")
    assert done.code == 0, done.err
    assert "12 pictures in shards." in done.err
    assert "simclr, learnt from 12 pictures in 1 epochs" in done.out
    assert "samekind cluster" not in done.out
    assert list((tmp_path / "home" / "cache" / "pictures").glob("shards-*/pixels.u8"))


def test_several_workers_need_ray_or_torchrun(cli: Cli, drawn: Callable[..., Path]) -> None:
    done = cli("learn", drawn(), "--workers", "2")
    assert done.code != 0
    assert "--on ray" in done.err and "torchrun --nproc-per-node 2" in done.err
