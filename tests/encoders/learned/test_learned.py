"""Encoders that learn from the person's own pictures: kept, found again, never mixed up."""

from __future__ import annotations

import shutil
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from samekind.encoders import encode, encode_more, make_encoder, named_encoder
from samekind.encoders.learned.encoder import METHODS, SimCLR
from samekind.encoders.learned.training import Learning
from samekind.encoders.learned.weights import find_kept, learnt_folder
from samekind.errors import InputError
from samekind.items import Collection
from samekind.sources import open_source
from samekind.testing import check_encoder
from samekind.training.progress import Cancelled, Monitor, TrainingReport

GROUPS = {name: 3 if method.needs_groups else None for name, method in METHODS.items()}


def draw(folder: Path, n: int, seed: int = 0) -> Path:
    """Small pictures of one bright square each, on a paper of some colour."""
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(seed)
    for k in range(n):
        pixels = np.full((32, 32, 3), rng.integers(0, 120, 3), dtype=np.uint8)
        top, left = rng.integers(2, 18, 2)
        pixels[top : top + 12, left : left + 12] = rng.integers(130, 255, 3)
        Image.fromarray(pixels).save(folder / f"{seed}-{k:02}.png")
    return folder


@pytest.fixture(autouse=True)
def small_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is tested here does not depend on the size of the network."""
    monkeypatch.setattr("samekind.encoders.learned.plan.SMALL", 4)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SAMEKIND_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("SAMEKIND_DEVICE", "cpu")
    return tmp_path


@pytest.fixture
def pile(home: Path) -> Collection:
    return open_source(draw(home / "pictures", 16))


@pytest.fixture(scope="module")
def learnt(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[SimCLR, Collection, Path]]:
    """One training that several tests look at."""
    place = tmp_path_factory.mktemp("learnt")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SAMEKIND_HOME", str(place / "home"))
        patch.setenv("SAMEKIND_DEVICE", "cpu")
        patch.setattr("samekind.encoders.learned.plan.SMALL", 4)
        collection = open_source(draw(place / "pictures", 16))
        yield SimCLR().learn(collection, epochs=2), collection, place


@pytest.fixture
def there(learnt: Any, monkeypatch: pytest.MonkeyPatch) -> tuple[SimCLR, Collection, Path]:
    """The same, with the home where it was learnt."""
    monkeypatch.setenv("SAMEKIND_HOME", str(learnt[2] / "home"))
    return learnt


def stopping_after(reports: int) -> Monitor:
    """Presses Ctrl-C in the middle of a training."""
    told: list[TrainingReport] = []

    def report(one: TrainingReport) -> None:
        told.append(one)
        if len(told) == reports:
            signal.raise_signal(signal.SIGINT)

    return Monitor(report=report, every=1)


# -- the contract ---------------------------------------------------------------------------------


def test_it_keeps_the_contract_of_encoders(there: Any) -> None:
    check_encoder(*there[:2])


@pytest.mark.parametrize("name", sorted(set(METHODS) - {"simclr"}))
def test_every_way_to_learn_keeps_the_contract(name: str, pile: Collection) -> None:
    encoder = METHODS[name]().learn(pile, epochs=1, groups=GROUPS[name])
    check_encoder(encoder, pile)
    assert named_encoder(name, pile)[0].fingerprint == encoder.fingerprint


def test_a_picture_alone_gets_the_same_vector_as_in_company(there: Any) -> None:
    encoder, collection, _ = there
    together = encoder.read(list(collection))
    alone = np.vstack([encoder.read([item]) for item in collection])
    assert together.shape == (16, encoder.width)
    assert np.abs(together).max() > 0
    np.testing.assert_allclose(alone, together, rtol=1e-3, atol=1e-4)


def test_pictures_that_it_never_saw_get_vectors_too(there: Any, tmp_path: Path) -> None:
    encoder, collection, _ = there
    encoded = encode(collection, encoder)
    more = encode_more(encoded, open_source(draw(tmp_path / "new", 3, seed=9)))
    assert more.X.shape == (3, encoded.X.shape[1])
    assert np.isfinite(more.X).all()


def test_different_pictures_get_different_vectors(there: Any) -> None:
    encoder, collection, _ = there
    X = encode(collection, encoder).X
    assert len(np.unique(X.round(4), axis=0)) == len(collection)


@pytest.mark.parametrize("name", sorted(METHODS))
def test_before_learning_a_sentence_says_what_to_type(name: str, pile: Collection) -> None:
    with pytest.raises(InputError, match=rf"samekind learn .*pictures --encoder {name}"):
        named_encoder(name, pile)
    with pytest.raises(InputError, match=rf"samekind learn PATH --encoder {name}"):
        make_encoder(name).read(list(pile))


# -- what is kept ---------------------------------------------------------------------------------


def test_it_is_found_again_by_its_pile_also_when_the_folder_moved(
    there: Any, tmp_path: Path, recwarn: pytest.WarningsRecorder
) -> None:
    encoder, _, place = there
    moved = tmp_path / "elsewhere"
    shutil.copytree(place / "pictures", moved)  # with the times of the files
    found, reason = named_encoder("simclr", open_source(moved))
    assert found.fingerprint == encoder.fingerprint
    assert "16 pictures" in reason
    assert not recwarn.list


def test_pictures_that_were_added_since_are_told_but_do_no_harm(there: Any) -> None:
    encoder, _, place = there
    draw(place / "pictures", 2, seed=5)
    try:
        with pytest.warns(RuntimeWarning, match="have changed since 'simclr' learnt from 16"):
            found = named_encoder("simclr", open_source(place / "pictures"))[0]
        assert found.fingerprint == encoder.fingerprint
    finally:
        for file in (place / "pictures").glob("5-*.png"):
            file.unlink()


def test_another_pile_does_not_find_it(there: Any, tmp_path: Path) -> None:
    assert find_kept("simclr", open_source(draw(tmp_path / "others", 8, seed=3))) is None
    assert find_kept("byol", there[1]) is None


def test_cached_vectors_of_two_trainings_are_not_mixed(pile: Collection, home: Path) -> None:
    first = SimCLR().learn(pile, epochs=1)
    before = encode(pile, first, cache=home / "vectors").X
    second = SimCLR().learn(pile, epochs=3)
    assert second.fingerprint != first.fingerprint
    cached = encode(pile, second, cache=home / "vectors").X
    assert not np.allclose(cached, before)
    np.testing.assert_allclose(cached, encode(pile, second).X, atol=1e-5)


def test_only_the_latest_network_of_a_training_is_kept(pile: Collection) -> None:
    SimCLR().learn(pile, epochs=1)
    kept = SimCLR().learn(pile, epochs=2).kept
    assert kept is not None
    assert kept.epochs == pytest.approx(2)
    networks = [f for f in learnt_folder().glob("*.safetensors") if "checkpoint" not in f.name]
    assert networks == [kept.path]
    assert not list(learnt_folder().glob(".*.part"))


def test_a_damaged_network_is_refused_in_a_sentence(pile: Collection) -> None:
    kept = SimCLR().learn(pile, epochs=1).kept
    assert kept is not None
    kept.path.write_bytes(kept.path.read_bytes()[:100])
    with pytest.raises(InputError, match="Delete that file and learn again: samekind learn"):
        encode(pile, named_encoder("simclr", pile)[0])


@pytest.mark.parametrize("text", ["", "{}", "[1]", '{"format": 1, "weights": "../../x"}'])
def test_a_damaged_note_about_a_network_counts_as_none(pile: Collection, text: str) -> None:
    SimCLR().learn(pile, epochs=1)
    next(learnt_folder().glob("*.learnt.json")).write_text(text)
    assert find_kept("simclr", pile) is None


def test_a_place_that_cannot_be_written_to_is_told_before_anything_is_learnt(
    pile: Collection, home: Path
) -> None:
    (home / "home" / "cache").mkdir(parents=True)
    learnt_folder().write_text("a file where the folder should be")
    with pytest.raises(InputError, match=r"cannot be kept in .*learnt.* set SAMEKIND_HOME"):
        Learning.of("simclr", pile)


# -- stopping and going on ------------------------------------------------------------------------


def test_a_training_that_was_stopped_is_taken_up_and_finished(pile: Collection) -> None:
    with pytest.raises(KeyboardInterrupt):
        SimCLR().learn(pile, epochs=6, monitor=stopping_after(3))
    assert find_kept("simclr", pile) is None, "half a training is not offered as a whole one"
    learning = Learning.of("simclr", pile)
    target = learning.target(minutes=10)
    assert target.resumed
    assert 0 < target.begun < 6
    assert target.epochs == 6
    kept = learning.run(target)
    assert kept.epochs == pytest.approx(6)
    assert find_kept("simclr", pile) == kept


def test_a_training_that_was_killed_goes_on_from_its_last_checkpoint(
    pile: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(told: TrainingReport) -> None:
        if told.step == 4:
            raise MemoryError

    monkeypatch.setattr("samekind.training.selflearn.SAVE_SECONDS", 0.0)
    with pytest.raises(MemoryError):
        SimCLR().learn(pile, epochs=6, monitor=Monitor(report=killed, every=1))
    target = Learning.of("simclr", pile).target(minutes=1)
    assert target.resumed
    assert 0 < target.begun < target.epochs == 6


def test_who_stops_it_through_the_watch_is_told_so(pile: Collection) -> None:
    stop = threading.Event()
    monitor = Monitor(report=lambda told: stop.set(), stop=stop, every=1)
    with pytest.raises(Cancelled):
        SimCLR().learn(pile, epochs=6, monitor=monitor)
    assert 0 < Learning.of("simclr", pile).begun < 6


def test_ctrl_c_is_as_before_when_training_is_over(pile: Collection) -> None:
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        SimCLR().learn(pile, epochs=6, monitor=stopping_after(1))
    assert signal.getsignal(signal.SIGINT) is before


def test_a_damaged_checkpoint_is_refused_with_the_way_out(pile: Collection) -> None:
    SimCLR().learn(pile, epochs=1)
    next(learnt_folder().glob("*.checkpoint.safetensors")).write_bytes(b"nothing")
    with pytest.raises(InputError, match="delete that file, to begin anew"):
        SimCLR().learn(pile, epochs=2)


def test_a_finished_training_goes_on_for_the_minutes_that_are_given(pile: Collection) -> None:
    SimCLR().learn(pile, epochs=1)
    learning = Learning.of("simclr", pile)
    target = learning.target(minutes=2)
    assert not target.resumed
    assert target.begun == pytest.approx(1)
    assert target.left * learning.seconds_per_epoch() == pytest.approx(120)
    assert target.epochs == pytest.approx(1 + 120 / learning.seconds_per_epoch())


def test_another_seed_is_another_training(pile: Collection) -> None:
    first = SimCLR().learn(pile, epochs=1).kept
    assert Learning.of("simclr", pile, seed=1).begun == 0
    assert first is not None and first.path.is_file()


@pytest.mark.parametrize("duration", [{}, {"minutes": 1.0, "epochs": 1.0}, {"epochs": 0.0}])
def test_how_long_must_be_said_once(pile: Collection, duration: dict[str, float]) -> None:
    with pytest.raises(InputError, match=r"minutes or epochs|no time"):
        SimCLR().learn(pile, **duration)


def test_a_state_holds_the_network_and_refuses_to_be_changed(
    there: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoder, collection, _ = there
    X = encode(collection, encoder).X
    state = encoder.state()
    monkeypatch.setenv("SAMEKIND_HOME", str(tmp_path / "elsewhere"))
    again = SimCLR().restored(state)
    assert again.fingerprint == encoder.fingerprint
    np.testing.assert_allclose(again.transform(again.read(list(collection))), X, atol=1e-4)
    network = state["network"].copy()
    network[-1] ^= 1
    with pytest.raises(ValueError, match="damaged"):
        SimCLR().restored({**state, "network": network})
    with pytest.raises(ValueError, match="not one of this encoder"):
        METHODS["byol"]().restored(state)
    outside = {**state["kept"], "weights": "../evil.safetensors"}
    with pytest.raises(ValueError, match="not one of this encoder"):
        SimCLR().restored({**state, "kept": outside})
    assert not (tmp_path / "elsewhere" / "cache" / "evil.safetensors").exists()
