"""Prediction of a store: as the head places each row, each row once, whatever was interrupted."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("lance", reason="needs the extra cluster: pip install 'samekind[cluster]'")

from piles import clouds
from ray_clusters import only_cluster
from samekind.bulk.labels import Labels, open_labels
from samekind.bulk.labels import schema as labels_schema
from samekind.bulk.prediction import missing_units
from samekind.bulk.store_lock import locked
from samekind.bulk.vector_store import VectorStore
from samekind.clusterers.live.portable import PortableHead
from samekind.errors import ExportError, InputError, SourceError
from samekind.exports.orientation_file import OrientationFile
from samekind.workspace.predict import place_store
from stored_vectors import add_rows, learnt_orientation, new_store

HAS_CLIENT = find_spec("grpc") is not None
UNIT = 64
FORMATS = ("labels.parquet", "labels.lance")


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> OrientationFile:
    return learnt_orientation(tmp_path_factory.mktemp("learnt"))


@pytest.fixture
def store(file: OrientationFile, tmp_path: Path) -> VectorStore:
    return new_store(tmp_path / "vectors.lance", file, clouds(500, seed=1)[0])


@pytest.fixture(autouse=True)
def small_units(monkeypatch: pytest.MonkeyPatch) -> None:
    """Eight units, so that there is something to interrupt."""
    from samekind.bulk import prediction

    monkeypatch.setattr(
        prediction.predict_store, "__kwdefaults__",
        {**prediction.predict_store.__kwdefaults__, "unit_rows": UNIT},
    )  # fmt: skip


def read(labels: Labels) -> dict[str, list[Any]]:
    """All rows as other programs read them."""
    if labels.path.endswith(".lance"):
        import lance

        return dict(lance.dataset(labels.path).to_table().to_pydict())
    import pyarrow.parquet as pq

    return dict(pq.read_table(labels.path).to_pydict())


def expected(file: OrientationFile, X: np.ndarray, tolerance: float = 1.0) -> dict[str, list[Any]]:
    head = PortableHead.from_state(file.head_state)
    placing = head.predict(X)
    own, strange = placing.strengths.argmax(axis=1), head.strangeness(placing)
    return {
        "row": list(range(len(X))),
        "id": [f"row-{i}" for i in range(len(X))],
        "group": [file.groups[k].number for k in own],
        "name": [file.groups[k].name for k in own],
        "fits": (strange <= tolerance).tolist(),
    }


def check_equal(labels: Labels, file: OrientationFile, X: np.ndarray) -> None:
    found, wanted = read(labels), expected(file, X)
    for column, cells in wanted.items():
        assert found[column] == cells, column
    head = PortableHead.from_state(file.head_state)
    placing = head.predict(X)
    np.testing.assert_allclose(found["confidence"], placing.strengths.max(axis=1), rtol=1e-6)
    np.testing.assert_allclose(found["distance"], placing.distances, rtol=1e-6)
    np.testing.assert_allclose(found["strangeness"], head.strangeness(placing), rtol=1e-6)


@pytest.mark.parametrize("name", FORMATS)
def test_every_row_is_placed_as_by_the_head(
    name: str, file: OrientationFile, store: VectorStore, tmp_path: Path
) -> None:
    X, kinds = clouds(500, seed=1)
    steps: list[tuple[int, int]] = []
    done = place_store(
        file, store.path, str(tmp_path / name), progress=lambda *step: steps.append(step)
    )
    assert (done.before, done.added) == (0, 500) and steps[-1] == (500, 500) and len(steps) == 8
    check_equal(done.labels, file, X)
    groups = np.array(read(done.labels)["group"])
    agree = [np.mean((groups == group) == (kinds == 0)) for group in set(groups.tolist())]
    assert max(agree) > 0.95, "the planted kinds are found"
    sizes = done.labels.sizes()
    fits = np.array(read(done.labels)["fits"])
    assert sum(sizes.values()) == 500 and sizes.get(0, 0) == int((~fits).sum())
    assert done.labels.take([400, 3, 400], ["row", "id"]).to_pydict() == {
        "row": [400, 3, 400],
        "id": ["row-400", "row-3", "row-400"],
    }


@pytest.mark.parametrize("name", FORMATS)
def test_a_second_call_does_nothing_and_later_rows_are_added(
    name: str, file: OrientationFile, store: VectorStore, tmp_path: Path
) -> None:
    X = clouds(700, seed=1)[0]
    out = str(tmp_path / name)
    first = place_store(file, store.path, out)
    again = place_store(file, store.path, out)
    assert (again.before, again.added) == (500, 0)
    add_rows(store, X[500:])
    more = place_store(file, store.path, out)
    assert (more.before, more.added) == (500, 200)
    whole = np.concatenate([clouds(500, seed=1)[0], X[500:]])
    check_equal(more.labels, file, whole)
    assert first.labels.path == more.labels.path


KILLED = """
import os, signal, sys
from samekind.bulk import labels, prediction
from samekind.exports.orientation_file import OrientationFile
from samekind.workspace.predict import place_store

prediction.predict_store.__kwdefaults__["unit_rows"] = 64
kind, left = labels._kind(sys.argv[3]), [3]
write = kind.write
def write_some(self, start, table):
    if not left[0]:
        os.kill(os.getpid(), signal.SIGKILL)
    left[0] -= 1
    return write(self, start, table)
kind.write = write_some
place_store(OrientationFile.load(sys.argv[1]), sys.argv[2], sys.argv[3])
"""


@pytest.mark.parametrize("name", FORMATS)
def test_a_killed_run_continues_with_the_rows_that_are_missing(
    name: str, file: OrientationFile, store: VectorStore, tmp_path: Path
) -> None:
    file.save(tmp_path / "mine.orientation")
    out = str(tmp_path / name)
    words = [str(tmp_path / "mine.orientation"), store.path, out]
    killed = subprocess.run([sys.executable, "-c", KILLED, *words], timeout=300, check=False)
    assert killed.returncode == -signal.SIGKILL
    assert open_labels(out).ranges() == [(0, 3 * UNIT)]
    rest = place_store(file, store.path, out)
    assert (rest.before, rest.added) == (3 * UNIT, 500 - 3 * UNIT)
    check_equal(rest.labels, file, clouds(500, seed=1)[0])


@pytest.mark.parametrize("name", FORMATS)
def test_what_killed_runs_left_is_removed_and_two_programs_never_write_at_once(
    name: str, file: OrientationFile, store: VectorStore, tmp_path: Path
) -> None:
    out = tmp_path / name
    labels = place_store(file, store.path, str(out)).labels
    size = len(list(out.rglob("*")))
    table = labels.take([0, 1], labels_schema().names)
    labels.write(500, table)  # as by a run that was killed before it committed
    (out / ".part-000000000500.1a2b.part").write_bytes(b"half")
    if name.endswith(".parquet"):
        (out / "part-000000000500-000000000502.parquet").unlink()
    assert len(list(out.rglob("*"))) > size
    with locked(labels.path), pytest.raises(InputError, match="Another process is writing"):
        place_store(file, store.path, str(out))
    place_store(file, store.path, str(out))
    left = {path.name for path in out.rglob("*")} - {".part-000000000500.1a2b.part"}
    assert len(left) == size and len(labels) == 500
    if name.endswith(".lance"):
        import lance

        assert len(lance.dataset(str(out)).versions()) == 1
    else:
        assert not list(out.glob(".part*"))


def test_gaps_between_parts_are_filled(
    file: OrientationFile, store: VectorStore, tmp_path: Path
) -> None:
    done = place_store(file, store.path, str(tmp_path / "labels.parquet"))
    parts = sorted(Path(done.labels.path).glob("part-*"))
    parts[2].unlink()
    parts[5].unlink()
    assert done.labels.ranges() == [(0, 128), (192, 320), (384, 500)]
    again = place_store(file, store.path, done.labels.path)
    assert again.added == 2 * UNIT
    check_equal(again.labels, file, clouds(500, seed=1)[0])


def test_units_are_cut_at_multiples_of_their_size() -> None:
    assert missing_units([], 10, 4) == [(0, 4), (4, 8), (8, 10)]
    assert missing_units([(0, 10)], 13, 4) == [(10, 12), (12, 13)]
    assert missing_units([(0, 10)], 10, 4) == []


def test_labels_of_something_else_are_not_continued(
    file: OrientationFile, store: VectorStore, tmp_path: Path
) -> None:
    out = str(tmp_path / "labels.parquet")
    place_store(file, store.path, out)
    with pytest.raises(ExportError, match=r"by the grouping 'columns'.* Choose another name"):
        renamed = replace(file, orientation="other", groups=(*file.groups[::-1],))
        place_store(renamed, store.path, out)
    later = replace(file, groups=tuple(replace(g, name=g.name + "!") for g in file.groups))
    with pytest.raises(ExportError, match="another version of the grouping 'columns'"):
        place_store(later, store.path, out)
    with pytest.raises(ExportError, match=r"the tolerance 1\.0"):
        place_store(file, store.path, out, tolerance=2.0)
    other = new_store(tmp_path / "other.lance", file, clouds(500, seed=2)[0])
    with pytest.raises(ExportError, match="by other vectors"):
        place_store(file, other.path, out)
    assert len(open_labels(out)) == 500


def test_rows_that_were_made_again_are_noticed(
    file: OrientationFile, store: VectorStore, tmp_path: Path
) -> None:
    import shutil

    out = str(tmp_path / "labels.parquet")
    place_store(file, store.path, out)
    shutil.rmtree(store.path)
    new_store(tmp_path / "vectors.lance", file, clouds(300, seed=1)[0])
    with pytest.raises(ExportError, match="made again since"):
        place_store(file, store.path, out)


def test_vectors_of_another_encoder_are_refused(
    file: OrientationFile, store: VectorStore, tmp_path: Path
) -> None:
    out = str(tmp_path / "labels.parquet")
    for change, words in (
        ({"fingerprint": "other/v9"}, "encoder 'other/v9'.*Embed"),
        ({"encoder_state": {"mean": np.ones(3)}}, "fitted on other items"),
        ({"kind": "image"}, "Expected image items"),
        ({"columns": ("a", "b")}, "with the columns a, b"),
    ):
        with pytest.raises(InputError, match=words):
            place_store(replace(file, **change), store.path, out)
    assert not Path(out).exists()


def test_clear_errors_about_names(
    file: OrientationFile, store: VectorStore, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=r"\.parquet or \.lance"):
        place_store(file, store.path, str(tmp_path / "labels.csv"))
    (tmp_path / "taken.parquet").write_bytes(b"mine")
    with pytest.raises(ExportError, match="exists already"):
        place_store(file, store.path, str(tmp_path / "taken.parquet"))
    assert (tmp_path / "taken.parquet").read_bytes() == b"mine"
    with pytest.raises(ExportError, match="exists already"):
        place_store(file, store.path, store.path)
    with pytest.raises(SourceError, match="samekind predict"):
        open_labels(tmp_path / "none.parquet")
    done = place_store(file, store.path, str(tmp_path / "labels.parquet"))
    with pytest.raises(InputError, match="rows that"):
        done.labels.take([500], ["id"])
    (Path(done.labels.path) / "part-000000000010-000000000020.parquet").write_bytes(b"")
    with pytest.raises(SourceError, match="the same rows"):
        done.labels.ranges()


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    """A Ray cluster of one node with two cores; its address for clients from outside."""
    ray = pytest.importorskip(
        "ray", reason="needs the extra cluster: pip install samekind[cluster]"
    )
    from ray.cluster_utils import Cluster

    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = int(listener.getsockname()[1])
    node: dict[str, Any] = {"num_cpus": 2, "object_store_memory": 100_000_000}
    if HAS_CLIENT:
        node["ray_client_server_port"] = port
    with only_cluster():
        made = Cluster(initialize_head=True, head_node_args={**node, "include_dashboard": False})
        ray.init(address=made.address, log_to_driver=False)
        try:
            yield f"ray://127.0.0.1:{port}"
        finally:
            ray.shutdown()
            made.shutdown()


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.usefixtures("cluster")
def test_ray_places_as_this_process_does(
    name: str, file: OrientationFile, store: VectorStore, tmp_path: Path
) -> None:
    out = str(tmp_path / name)
    done = place_store(file, store.path, out, on="auto", workers=2)
    assert done.added == 500
    check_equal(done.labels, file, clouds(500, seed=1)[0])
    assert place_store(file, store.path, out, on="auto").added == 0


@pytest.mark.skipif(not HAS_CLIENT, reason="needs the client: pip install 'ray[client]'")
@pytest.mark.slow
def test_a_client_from_outside_gets_the_same(
    file: OrientationFile, store: VectorStore, tmp_path: Path, cluster: str
) -> None:
    file.save(tmp_path / "mine.orientation")
    out = tmp_path / "labels.lance"
    words = ["predict", tmp_path / "mine.orientation", store.path, "--out", out, "--on", cluster]
    command = [sys.executable, "-m", "samekind", *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0 and "500 rows." in done.stdout, done.stderr
    check_equal(open_labels(out), file, clouds(500, seed=1)[0])
