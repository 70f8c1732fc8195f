"""PCL, OCC and CC on tiny pictures and vectors: input, answers, refits, resumption, bad input."""

from __future__ import annotations

import itertools
import pickle
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from samekind.clusterers.deep import epochs
from samekind.clusterers.deep.cc import CC
from samekind.clusterers.deep.occ import OCC
from samekind.clusterers.deep.pcl import PCL
from samekind.clusterers.deep.pictures import pictures_of
from samekind.clusterers.live.settling import settled
from samekind.constraints import Constraints
from samekind.errors import InputError, UnknownName, VectorError
from samekind.items import Collection
from samekind.session import Session
from samekind.simulation.loop import run
from samekind.simulation.people import Truth
from samekind.sources.sets.cifar import PixelItem

SMALL: dict[str, Any] = {
    "backbone": "resnet18", "stem": "3x3", "channels": 4, "size": 8, "batch_size": 16,
    "device": "cpu", "random_state": 0,
}  # fmt: skip


def pictures(n: int = 40, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Red, green or blue, bright above or below: two orientations."""
    rng = np.random.default_rng(seed)
    colour, half = np.arange(n) % 3, (np.arange(n) // 3) % 2
    images = rng.integers(0, 60, (n, 3, 12, 12))
    rows = np.arange(12) // 6
    images += (
        150
        * (rows[None, None, :, None] == half[:, None, None, None])
        * (np.arange(3)[None, :, None, None] == colour[:, None, None, None])
    )
    return images.astype(np.uint8), half


def answers(n: int, kinds: np.ndarray, count: int, seed: int = 1) -> Constraints:
    rng = np.random.default_rng(seed)
    pairs = [rng.choice(n, 2, replace=False) for _ in range(count)]
    return Constraints.from_links(
        n, [(int(a), int(b), bool(kinds[a] == kinds[b])) for a, b in pairs]
    )


@pytest.mark.parametrize("method", [PCL, OCC, CC])
def test_pictures_in_any_layout_are_grouped_and_every_answer_is_honoured(method: Any) -> None:
    images, half = pictures()
    known = answers(40, half, 25)
    model = method(2, epochs=2, **SMALL).fit(images, constraints=known)
    links = known.links(implied=True)
    together = model.labels_[links.a] == model.labels_[links.b]
    assert np.array_equal(together, links.same)
    assert model.membership_.shape == (40, model.n_clusters_) and len(model.space_) == 40
    last = method(2, epochs=2, **SMALL).fit(np.moveaxis(images, 1, 3), constraints=known)
    flat = method(2, epochs=2, image_shape=(3, 12, 12), **SMALL).fit(
        images.reshape(40, -1).astype(np.float32), constraints=known
    )
    assert np.array_equal(model.labels_, last.labels_)
    assert np.array_equal(model.labels_, flat.labels_)


def test_the_group_of_one_picture_does_not_depend_on_its_neighbours() -> None:
    images, _ = pictures()
    model = PCL(3, epochs=1, **SMALL).fit(images)
    crowd = model.predict(images[:9])
    assert [int(model.predict(images[i : i + 1])[0]) for i in range(9)] == crowd.tolist()
    np.testing.assert_allclose(
        model.transform(images[3:4])[0], model.transform(images)[3], rtol=1e-3, atol=1e-4
    )


def test_gray_and_alpha_become_colour_and_other_arrays_are_explained() -> None:
    gray = np.full((2, 1, 4, 4), 7, dtype=np.uint8)
    assert pictures_of(gray) is not None and pictures_of(gray).shape == (2, 3, 4, 4)  # type: ignore[union-attr]
    clear = np.zeros((1, 4, 4, 4), dtype=np.uint8)
    assert (pictures_of(clear) == 255).all(), "what is transparent is white"
    assert pictures_of(np.zeros((3, 5), dtype=np.uint8)) is None, "bytes that are no square picture"
    assert pictures_of(np.zeros((3, 5))) is None
    for bad in (
        np.zeros((2, 5, 7, 9), np.uint8),
        np.full((2, 3, 4, 4), 0.5),
        np.zeros((0, 3, 4, 4), np.uint8),
    ):
        with pytest.raises(VectorError):
            pictures_of(bad)
    with pytest.raises(VectorError, match="image_shape"):
        pictures_of(np.zeros((2, 10)), (3, 4, 4))


def test_fewer_pictures_than_a_batch_one_group_and_two_pictures_work() -> None:
    images, _ = pictures(5)
    assert PCL(2, epochs=1, **SMALL).fit(images).labels_.shape == (5,)
    assert set(PCL(1, epochs=1, **SMALL).fit(images).labels_) == {0}
    assert len(CC(epochs=1, **SMALL).fit(images[:2]).labels_) == 2


def test_what_cannot_be_grouped_is_refused_in_a_sentence() -> None:
    images, _ = pictures(6)
    with pytest.raises(VectorError, match="at least two"):
        PCL(**SMALL).fit(images[:1])
    with pytest.raises(InputError, match="7 groups"):
        PCL(7, **SMALL).fit(images)
    with pytest.raises(InputError, match="profile"):
        PCL(profile="quick", **SMALL).fit(images)  # type: ignore[arg-type]
    with pytest.raises(UnknownName, match="resnet18"):
        PCL(**{**SMALL, "backbone": "resnet19"}).fit(images)
    with pytest.raises(UnknownName, match="the name of a backbone, got an object of type Linear"):
        PCL(**{**SMALL, "backbone": torch.nn.Linear(2, 2)}).fit(images)  # type: ignore[arg-type]
    model = PCL(2, epochs=1, **SMALL).fit(images)
    with pytest.raises(VectorError, match="pictures"):
        model.predict(np.zeros((2, 3)))


def test_what_the_network_alone_says_is_kept_beside_what_the_answers_force() -> None:
    images, kinds = pictures()
    wrong = np.random.default_rng(0).permutation(kinds)  # nothing that a network could learn
    model = PCL(2, epochs=1, **SMALL).fit(images, constraints=answers(40, wrong, 60))
    np.testing.assert_array_equal(model.predicted_labels_, model.predict(images))
    assert (model.labels_ != model.predicted_labels_).any()


def test_answers_that_need_more_groups_open_them_and_contradictions_change_nothing() -> None:
    images, _ = pictures(12)
    links = [(0, 1, False), (1, 2, False), (0, 2, False), (0, 3, True), (3, 0, False)]
    known = Constraints.from_links(12, links)
    assert len(known.conflicts) == 1
    labels = PCL(2, epochs=1, **SMALL).fit(images, constraints=known).labels_
    assert len({labels[0], labels[1], labels[2]}) == 3 and labels[0] == labels[3]


def test_a_refit_with_answers_goes_on_and_a_plain_fit_begins_anew() -> None:
    images, half = pictures()
    model = PCL(2, epochs=1, **SMALL).fit(images, constraints=Constraints(40))
    before = model.space_.copy()
    model.fit(images, constraints=answers(40, half, 5))
    assert model._learner._trainer.epoch == 2 and not np.allclose(before, model.space_)
    model.fit(images)
    np.testing.assert_array_equal(model.space_, before)


def test_new_kinds_get_a_group_at_the_next_refit() -> None:
    images, _ = pictures()
    colour = np.arange(40) % 3
    model = PCL(epochs=1, **SMALL)
    two = Constraints.from_links(40, [(0, 1, False)])
    model.fit(images, constraints=two)
    assert model.n_clusters_ == 2
    model.fit(images, constraints=answers(40, colour, 40))
    assert model.n_clusters_ >= 3


def test_a_session_trains_one_epoch_per_refit_and_predicts_other_pictures() -> None:
    images, half = pictures(48)
    items = Collection("pictures", [PixelItem(f"{i:03d}", image) for i, image in enumerate(images)])
    session = Session(
        items, images, clusterer=PCL(2, epochs=1, keep_views=True, **SMALL), strategy="pcl",
        refit_every=6, ahead=6, budget=18,
    )  # fmt: skip
    assert run(session, Truth(half), 18).n_answers == 18
    assert session.clustering.snapshot == 3 and session.model._learner._trainer.epoch == 4
    assert session.clustering.views is not None and session.clustering.views.shape[:2] == (2, 48)
    other, _ = pictures(6, seed=9)
    assert set(session.predict(other)) <= set(session.clustering.numbers)


def test_a_fit_that_was_killed_is_resumed_and_ends_the_same(tmp_path: Path) -> None:
    images, half = pictures()
    known = answers(40, half, 10)
    whole = PCL(2, epochs=4, **SMALL).fit(images, constraints=known)
    file = str(tmp_path / "run.safetensors")

    class Killed(Exception):
        pass

    class Watching:
        every, calls = 1000, 0
        log = report = stop = None

        def check(self) -> None:
            self.calls += 1
            if self.calls == 6:  # in the third epoch of two steps
                raise Killed

        def tell(self, told: Any) -> None:
            pass

    with pytest.raises(Killed):
        PCL(2, epochs=4, checkpoint=file, monitor=Watching(), **SMALL).fit(
            images, constraints=known
        )
    resumed = PCL(2, epochs=4, checkpoint=file, **SMALL).fit(images, constraints=known)
    np.testing.assert_array_equal(resumed.space_, whole.space_)
    again = PCL(2, epochs=4, checkpoint=file, **SMALL).fit(images, constraints=known)
    np.testing.assert_array_equal(again.space_, whole.space_)
    with pytest.raises(InputError, match="architecture"):
        PCL(2, epochs=4, checkpoint=file, **{**SMALL, "stem": "7x7"}).fit(images, constraints=known)


def test_a_checkpoint_that_is_slow_to_write_takes_a_twentieth_of_the_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ticks = itertools.count(step=2)  # seconds: two between epochs, two for each writing
    monkeypatch.setattr(epochs, "time", SimpleNamespace(monotonic=lambda: next(ticks)))
    written: list[int] = []
    monkeypatch.setattr(epochs, "save_state", lambda *_, **facts: written.append(facts["done"]))
    rows = np.random.default_rng(0).normal(size=(12, 4))
    PCL(2, epochs=50, checkpoint=str(tmp_path / "run.safetensors"), random_state=0).fit(rows)
    assert written == [1, 21, 41]


def test_a_training_moves_to_another_machine_in_compact_parts(tmp_path: Path) -> None:
    images, kinds = pictures()
    known, file = answers(40, kinds, 12), str(tmp_path / "run.safetensors")
    there = PCL(2, epochs=3, horizon=6, **SMALL).fit(images, constraints=known)
    parts = there.save_training(file)
    assert [part.name for part in parts] == ["run-1-of-1.safetensors"]
    here = PCL(2, epochs=3, horizon=6, checkpoint=file, **SMALL).fit(images, constraints=known)
    assert (there.n_epochs_, here.n_epochs_) == (3, 3), "these answers were trained on already"
    assert np.allclose(here.membership_, there.membership_, atol=0.01)
    here.fit(images, constraints=answers(40, kinds, 14))
    assert here.n_epochs_ == 6
    fast = PCL(2, profile="fast", first_epochs=1, **SMALL).fit(images, constraints=known)
    with pytest.raises(InputError, match=r"FixMatch.*another profile"):
        fast.save_training(file)


def test_a_pickled_model_predicts_the_same() -> None:
    images, _ = pictures()
    model = PCL(2, epochs=1, **SMALL).fit(images)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(images), model.predict(images))


def test_the_fast_profile_learns_features_then_groups_and_tunes_only_if_better() -> None:
    images, half = pictures(60)
    model = PCL(
        2, profile="fast", first_epochs=2, epochs=1, tune_from=30, **{**SMALL, "batch_size": 20}
    )
    model.fit(images, constraints=Constraints(60))
    few = answers(60, half, 20)
    model.fit(images, constraints=few)
    assert not model._learner.scores, "few answers: the network is not trained on them"
    many = answers(60, half, 60)
    model.fit(images, constraints=many)
    scores = model._learner.scores
    assert set(scores) == {"frozen", "tuned"} and all(0 <= value <= 1 for value in scores.values())
    used_tuned = model._learner._reader.network is model._learner._tuned
    assert used_tuned == (scores["tuned"] > scores["frozen"])
    links = many.links(implied=True)
    assert np.array_equal(model.labels_[links.a] == model.labels_[links.b], links.same)


def test_settling_votes_by_component_and_keeps_what_is_different_apart() -> None:
    p = np.array([[0.9, 0.1], [0.6, 0.4], [0.2, 0.8], [0.7, 0.3]])
    known = Constraints.from_links(4, [(1, 2, True), (0, 3, False)])
    found = settled(p, known)
    assert found.labels[1] == found.labels[2] == 1, "0.6 * 0.2 is less than 0.4 * 0.8"
    assert found.labels.tolist() == [0, 1, 1, 1]
    assert found.membership.sum(axis=1) == pytest.approx(1)
    assert found.predict(np.array([[0.1, 0.9]])).tolist() == [1]


def test_nothing_is_left_in_torch_s_global_chance() -> None:
    images, _ = pictures(8)
    torch.manual_seed(3)
    expected = torch.rand(1)
    torch.manual_seed(3)
    PCL(2, epochs=1, **SMALL).fit(images)
    assert torch.equal(torch.rand(1), expected)
