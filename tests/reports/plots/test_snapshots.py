"""Snapshots survive a journey to another machine, and refuse what is not one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from samekind.clustering import Clustering
from samekind.errors import ExportError, InputError, SourceError, UnknownName
from samekind.reports.plots import Snapshots

COLOUR = np.array(["red", "red", "blue", "blue", "", "blue"])
PLACE = np.array([0, 1, 0, 1, -1, 1])


def taken(n: int = 6) -> Snapshots:
    rng = np.random.default_rng(0)
    start = Snapshots({"colour": COLOUR, "place": PLACE}, name="six", note="by hand")
    before = Clustering.first([0, 1, 0, 1, 0, 1], rng.normal(size=(n, 3)))
    after = before.followed_by([0, 0, 1, 1, 1, 1], rng.normal(size=(n, 5)))
    return start.with_moment("Before any answer", before, 0).with_moment(
        "Asked about colour", after, 4, asked="colour"
    )


def test_every_snapshot_is_scored_under_every_orientation_without_unknown_items() -> None:
    before, after = taken().moments
    assert before.acc == {"colour": 0.6, "place": 1.0}
    assert after.acc == {"colour": 1.0, "place": 0.6}


@pytest.mark.parametrize("half", [True, False])
def test_what_was_saved_is_loaded(tmp_path: Path, half: bool) -> None:
    saved = taken()
    saved.save(tmp_path / "run.npz", half=half)
    loaded = Snapshots.load(tmp_path / "run.npz")
    assert (loaded.name, loaded.note) == ("six", "by hand")
    assert {k: v.tolist() for k, v in loaded.truths.items()} == {
        "colour": COLOUR.tolist(),
        "place": PLACE.tolist(),
    }
    for one, other in zip(saved.moments, loaded.moments, strict=True):
        assert (one.title, one.answers, one.asked) == (other.title, other.answers, other.asked)
        assert one.acc == pytest.approx(other.acc)
        assert one.labels.tolist() == other.labels.tolist()
        assert np.allclose(one.vectors, other.vectors, atol=2e-3 if half else 0)


def test_vectors_too_large_for_half_precision_are_kept_whole(tmp_path: Path) -> None:
    far = Clustering.first([0, 1], np.array([[1e5, 0.0], [2e5, 1.0]]))
    run = Snapshots({"kind": np.array([0, 1])}).with_moment("far", far, 0)
    run.save(tmp_path / "far.npz")
    assert Snapshots.load(tmp_path / "far.npz").moments[0].vectors[1, 0] == 2e5


def test_a_sample_is_the_same_in_every_snapshot_and_keeps_the_scores_of_all() -> None:
    kinds = np.arange(200)
    space = np.stack([kinds, kinds], axis=1)
    run = Snapshots({"kind": kinds})
    for title in ("a", "b"):
        run = run.with_moment(title, Clustering.first(kinds % 2, space), 0)
    few = run.sampled(20, seed=1)
    assert few.n_items == 20
    assert all((m.vectors[:, 0] == few.truths["kind"]).all() for m in few.moments)
    assert few.moments[0].acc == run.moments[0].acc
    assert run.sampled(200) is run
    with pytest.raises(InputError, match="at least 1 item, got 0"):
        run.sampled(0)


def test_orientations_can_be_left_out_when_drawing() -> None:
    assert list(taken().under(["place"]).truths) == ["place"]
    with pytest.raises(UnknownName, match="Did you mean 'place'"):
        taken().under(["plac"])


def test_a_file_is_never_overwritten_and_no_draft_stays_behind(tmp_path: Path) -> None:
    taken().save(tmp_path / "run.npz")
    before = (tmp_path / "run.npz").read_bytes()
    with pytest.raises(ExportError, match="exists already"):
        taken().save(tmp_path / "run.npz")
    with pytest.raises(ExportError, match="cannot be written"):
        taken().save(tmp_path / "nowhere" / "run.npz")
    assert (tmp_path / "run.npz").read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["run.npz"]


def test_pickles_and_other_files_are_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "pickled.npz", format=np.array([{"a": 1}], dtype=object))
    np.savez(tmp_path / "other.npz", X=np.eye(2))
    np.save(tmp_path / "array.npy", np.eye(2))
    (tmp_path / "text.npz").write_text("no arrays")
    (tmp_path / "empty.npz").write_bytes(b"")
    for name in ("pickled.npz", "array.npy", "text.npz", "empty.npz"):
        with pytest.raises(SourceError, match="not a file of snapshots"):
            Snapshots.load(tmp_path / name)
    with pytest.raises(SourceError, match="no format at all"):
        Snapshots.load(tmp_path / "other.npz")
    with pytest.raises(SourceError, match="cannot be read"):
        Snapshots.load(tmp_path / "absent.npz")


def test_a_file_with_a_missing_part_says_which(tmp_path: Path) -> None:
    taken().save(tmp_path / "run.npz")
    with np.load(tmp_path / "run.npz") as file:
        parts = {name: file[name] for name in file.files if name != "labels_1"}
    np.savez(tmp_path / "short.npz", **parts)
    with pytest.raises(SourceError, match="labels_1"):
        Snapshots.load(tmp_path / "short.npz")


def test_snapshots_of_another_length_or_with_nan_are_refused() -> None:
    run = Snapshots({"kind": np.array([0, 1])})
    three = Clustering.first([0, 1, 1], np.eye(3))
    with pytest.raises(InputError):
        run.with_moment("three", three, 0)
    with pytest.raises(InputError, match="NaN"):
        run.with_moment("bad", Clustering.first([0, 1], np.full((2, 2), np.nan)), 0)
    with pytest.raises(InputError, match="one text or number per item"):
        Snapshots({"kind": np.array([0.5, 1.0])})
    with pytest.raises(InputError, match="at least one orientation"):
        Snapshots({})


def test_saving_needs_no_drawing_package() -> None:
    code = (
        "import sys; import samekind.reports.plots\n"
        "print(sorted({'matplotlib', 'sklearn', 'torch', 'PIL'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.strip() == "[]", done.stderr
