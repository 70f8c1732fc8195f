"""IDC on tiny pictures and vectors: starts, heads, answers, refits, profiles."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from samekind.clusterers.deep.idc import IDC, FeedbackLearner
from samekind.clusterers.deep.idc_feedback import TRAININGS
from samekind.clusterers.deep.pcl import PCL
from samekind.constraints import Constraints
from samekind.errors import InputError, SamekindError
from samekind.items import Collection
from samekind.questions import Answer, WhichGroup
from samekind.session import Session
from samekind.simulation.loop import run
from samekind.simulation.people import Truth
from samekind.sources.sets.cifar import PixelItem
from samekind.training.finetune import OneView
from samekind.training.heads import ClusterHead
from samekind.training.progress import Cancelled, Monitor, TrainingReport
from samekind.training.selflearn import LearntNetwork, SelfLearner, SelfSetting
from samekind.training.strong import Strong

SMALL: dict[str, Any] = {
    "backbone": "resnet18", "stem": "3x3", "channels": 4, "size": 8, "device": "cpu",
    "random_state": 0,
}  # fmt: skip
QUICK: dict[str, Any] = {"epochs": 2, "first_epochs": 1, "batch_size": 16, "unlabelled": 16}


def pictures(n: int = 40) -> tuple[np.ndarray, np.ndarray]:
    """Red, green or blue, bright above or below: the second is what is asked about."""
    rng = np.random.default_rng(0)
    colour, half = np.arange(n) % 3, (np.arange(n) // 3) % 2
    images = rng.integers(0, 60, (n, 3, 12, 12))
    rows = np.arange(12) // 6
    images += (
        150
        * (rows[None, None, :, None] == half[:, None, None, None])
        * (np.arange(3)[None, :, None, None] == colour[:, None, None, None])
    )
    return images.astype(np.uint8), half


def answers(kinds: np.ndarray, count: int, seed: int = 1) -> Constraints:
    rng = np.random.default_rng(seed)
    pairs = [rng.choice(len(kinds), 2, replace=False) for _ in range(count)]
    return Constraints.from_links(
        len(kinds), [(int(a), int(b), bool(kinds[a] == kinds[b])) for a, b in pairs]
    )


def honoured(labels: np.ndarray, known: Constraints) -> bool:
    links = known.links(implied=True)
    return np.array_equal(labels[links.a] == labels[links.b], links.same)


@pytest.fixture(scope="module")
def starts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Files to begin from: a bare backbone, and those of two self-supervised methods."""
    folder = tmp_path_factory.mktemp("starts")
    images, _ = pictures()
    files = {name: str(folder / f"{name}.safetensors") for name in ("bare", "tcl", "propos")}
    for method in ("tcl", "propos"):
        setting = SelfSetting(
            method, groups=2, channels=4, size=8, batch_size=20, device="cpu", hidden=32
        )
        learner = SelfLearner(setting, images)
        learner.run(1)
        learner.save(files[method])
    model = PCL(2, profile="fast", first_epochs=1, batch_size=16, **SMALL)
    model.fit(images).save_features(files["bare"])
    return files


@pytest.mark.parametrize("profile", TRAININGS)
def test_pictures_are_learnt_from_scratch_and_every_answer_is_honoured(profile: Any) -> None:
    images, half = pictures()
    known = answers(half, 25)
    model = IDC(2, profile=profile, **QUICK, **SMALL).fit(images, constraints=known)
    assert honoured(model.labels_, known)
    assert model.space_.shape == (40, 32) and model.membership_.shape == (40, model.n_clusters_)
    crowd = model.predict(images[:9])
    assert [int(model.predict(images[i : i + 1])[0]) for i in range(9)] == crowd.tolist()


def test_training_on_answers_brings_the_others_along() -> None:
    images, half = pictures(60)
    known = answers(half, 60)
    wanted = {**QUICK, "epochs": 60, "learning_rate": 3e-3, "sure": 0.9}
    before = IDC(2, **{**wanted, "epochs": 0}, **SMALL).fit(images, constraints=known)
    after = IDC(2, **wanted, **SMALL).fit(images, constraints=known)
    other, kinds = pictures(200)

    def right(model: IDC) -> float:
        same = (model.predict(other[60:]) == kinds[60:]).mean()
        return float(max(same, 1 - same))

    assert right(after) > 0.9 > right(before)


@pytest.mark.parametrize("name", ["bare", "tcl", "propos"])
def test_a_file_of_features_says_which_network_it_is(name: str, starts: dict[str, str]) -> None:
    images, half = pictures()
    known = answers(half, 20)
    model = IDC(2, start=starts[name], epochs=1, unlabelled=16, device="cpu", random_state=0)
    model.fit(images)
    assert model._learner.setting.channels == 4 and model._learner.setting.stem == "3x3"
    model.fit(images, constraints=known)
    assert honoured(model.labels_, known)


def test_the_head_of_the_start_is_used_and_its_groups_are_those_before_any_answer(
    starts: dict[str, str],
) -> None:
    images, _ = pictures()
    for method in ("tcl", "propos"):
        p = LearntNetwork.load(starts[method], device="cpu").membership(images)
        model = IDC(start=starts[method], size=8, device="cpu", random_state=0).fit(images)
        reader: Any = model._learner._reader
        assert isinstance(reader.network.cluster, ClusterHead) and p is not None
        found = reader.bank(torch.from_numpy(images)).p
        if method == "tcl":
            np.testing.assert_allclose(found, p, atol=1e-4)
        else:  # a head fitted to the groups by nearness
            assert (found.argmax(axis=1) == p.argmax(axis=1)).mean() > 0.9


def test_another_number_of_groups_than_the_file_has_begins_a_fresh_head(
    starts: dict[str, str],
) -> None:
    images, _ = pictures()
    model = IDC(3, start=starts["tcl"], size=8, device="cpu", random_state=0).fit(images)
    assert model._learner._reader.network.k == 3
    assert model._learner._with_head(model._learner._trainer, Constraints(40), 3)[1] is True
    assert model._learner._with_head(model._learner._trainer, Constraints(40), 2)[1] is False


def test_the_result_depends_on_the_answers_and_not_on_how_often_it_was_fitted(
    starts: dict[str, str],
) -> None:
    images, half = pictures()
    few, many = answers(half, 5), answers(half, 30)
    wanted: dict[str, Any] = {"start": starts["bare"], "size": 8, "device": "cpu"}
    again = IDC(2, epochs=3, unlabelled=16, random_state=0, **wanted)
    again.fit(images)
    again.fit(images, constraints=few).fit(images, constraints=many)
    once = IDC(2, epochs=3, unlabelled=16, random_state=0, **wanted).fit(images, constraints=many)
    np.testing.assert_allclose(again.space_, once.space_, rtol=1e-4, atol=1e-5)
    assert np.array_equal(again.labels_, once.labels_)


def test_one_group_unknown_groups_contradictions_and_two_pictures_work() -> None:
    images, half = pictures(12)
    known = answers(half, 20)
    assert len(set(IDC(1, **QUICK, **SMALL).fit(images).labels_)) == 1
    model = IDC(1, **QUICK, **SMALL).fit(images, constraints=known)
    assert honoured(model.labels_, known), "two kinds need two groups, whatever was asked for"
    model = IDC(**QUICK, **SMALL).fit(images, constraints=known)
    assert honoured(model.labels_, known)
    torn = Constraints.from_links(12, [(0, 1, True), (1, 2, True), (0, 2, False), (3, 4, False)])
    assert honoured(IDC(2, **QUICK, **SMALL).fit(images, constraints=torn).labels_, torn)
    assert len(IDC(**QUICK, **SMALL).fit(images[:2]).labels_) == 2


def test_the_name_of_the_learner_says_which_profile_and_which_losses() -> None:
    names = {profile: IDC(profile=profile).learner_name for profile in TRAININGS}
    assert names == {
        "program": "IDC",
        "paper": "IDC, as printed",
        "repaired": "IDC, repaired",
        "calibrated": "IDC, calibrated",
    }
    assert IDC(profile="program", losses=("neg",)).learner_name == "IDC without pos and reg"
    assert IDC(losses=("pos", "neg")).learner_name == "IDC, repaired without reg"


@pytest.mark.parametrize("profile", ["program", "paper", "repaired"])
def test_which_answers_reach_the_network(profile: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """As published the asked item alone learns, repaired also who represents its group."""
    images, half = pictures()
    asked = [
        Answer(n, WhichGroup(int(i), ((0,), (3,))), "1" if half[i] == half[0] else "2")
        for n, i in enumerate((7, 8, 9, 10, 11), start=1)
    ]
    seen: list[list[int]] = []
    taught = FeedbackLearner._taught

    def noted(self: Any, trainer: Any, network: Any, feedback: Any, fresh: bool) -> Any:
        seen.append(feedback.items.tolist())
        return taught(self, trainer, network, feedback, fresh)

    monkeypatch.setattr(FeedbackLearner, "_taught", noted)
    known = Constraints.from_answers(40, asked)
    IDC(2, profile=profile, **QUICK, **SMALL).fit(images, constraints=known)
    items = [7, 8, 9, 10, 11]
    assert seen == [items if profile != "repaired" else sorted([0, 3, *items])]


def test_what_the_network_says_alone_is_not_put_right_by_the_answers() -> None:
    images, half = pictures()
    known = answers(half, 60)
    model = IDC(2, **{**QUICK, "epochs": 0}, **SMALL).fit(images, constraints=known)
    alone = model.predict(images)
    assert honoured(model.labels_, known) and not honoured(alone, known)
    assert np.array_equal(model.predicted_labels_, alone), "also for answered items"


def test_a_calibrated_head_begins_as_sure_as_the_answers_allow() -> None:
    """Three clouds; the person divides one of them, which the first groups are sure about."""
    rng = np.random.default_rng(0)
    kinds = np.arange(120) % 3
    X = (3 * np.eye(3)[kinds] + rng.normal(0, 0.3, (120, 3))).astype(np.float32)
    asked = [
        Answer(n, WhichGroup(i, ((0,), (1,), (2,))), str(1 + (kinds[i] if i % 2 else 0)))
        for n, i in enumerate(range(3, 60), start=1)
    ]
    known = Constraints.from_answers(120, asked)
    common: dict[str, Any] = {"learning_rate": 1e-9, "device": "cpu", "random_state": 0}
    before, after = (
        IDC(3, profile=profile, **common).fit(X, constraints=known)._learner.alone
        for profile in ("repaired", "calibrated")
    )
    assert np.array_equal(before.argmax(axis=1), after.argmax(axis=1)), "nothing is learnt here"
    assert np.median(before.max(axis=1)) > 0.98 > 0.9 > np.median(after.max(axis=1))
    agreeing = [Answer(a.number, a.question, str(1 + kinds[n + 3])) for n, a in enumerate(asked)]
    known = Constraints.from_answers(120, agreeing)
    sure = IDC(3, profile="calibrated", **common).fit(X, constraints=known)._learner.alone
    np.testing.assert_allclose(sure, before, atol=1e-4)


def test_own_views_are_those_that_the_features_were_learnt_with(starts: dict[str, str]) -> None:
    images, half = pictures()
    known = answers(half, 10)
    common: dict[str, Any] = {"epochs": 1, "unlabelled": 16, "device": "cpu", "random_state": 0}
    kinds: dict[str, Any] = {}
    for method in ("tcl", "propos"):
        for views in (None, "own"):
            model = IDC(2, start=starts[method], views=views, **common)
            model.fit(images, constraints=known)
            kinds[method, views] = model._learner._sights(model._learner._trainer).strong
    assert isinstance(kinds["tcl", None], Strong), "published: strong views for TCL"
    assert isinstance(kinds["propos", None], OneView), "and its own for ProPos"
    assert kinds["tcl", "own"].views.family.scale == (0.2, 1.0)
    assert kinds["propos", "own"].views.family.scale == (0.08, 1.0)


@pytest.mark.parametrize("views", ["strong", "own"])
def test_views_can_be_chosen(views: str) -> None:
    images, half = pictures()
    model = IDC(2, views=views, **QUICK, **SMALL).fit(images, constraints=answers(half, 10))
    assert honoured(model.labels_, answers(half, 10))


def test_what_cannot_be_used_is_told_in_a_sentence(tmp_path: Path) -> None:
    images, half = pictures()
    known = answers(half, 10)
    with pytest.raises(InputError, match=r"no file .*to start from"):
        IDC(start=str(tmp_path / "none")).fit(images)
    with pytest.raises(
        InputError, match=r"profile cannot be 'quick'.*program, paper, repaired, calibrated"
    ):
        IDC(2, profile="quick", **QUICK, **SMALL).fit(images)  # type: ignore[arg-type]
    with pytest.raises(SamekindError, match="kind of views"):
        IDC(2, views="weak", **QUICK, **SMALL).fit(images, constraints=known)


def test_stopped_in_the_middle_it_keeps_the_groups_of_its_features() -> None:
    images, half = pictures()
    known = answers(half, 25)

    def stop(told: TrainingReport) -> None:
        if told.phase == "tuning":
            raise Cancelled("Enough.")

    wanted = {**QUICK, "epochs": 50}
    model = IDC(2, monitor=Monitor(report=stop, every=1), **wanted, **SMALL)
    with pytest.raises(Cancelled):
        model.fit(images, constraints=known)
    assert honoured(model.labels_, known)


def test_a_model_that_was_put_aside_places_pictures_as_before() -> None:
    images, half = pictures()
    model = IDC(2, **QUICK, **SMALL).fit(images, constraints=answers(half, 15))
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.predict(images), model.predict(images))


def test_the_whole_path_from_value_to_groups_with_a_person_who_looks_at_what_is_shown() -> None:
    images, half = pictures(60)
    items = [PixelItem(f"{i:02d}", image) for i, image in enumerate(images)]
    session = Session(
        Collection("halves", items),
        images,
        clusterer=IDC(2, **{**QUICK, "epochs": 30, "learning_rate": 3e-3}, **SMALL),
        strategy="value",
        refit_every=20,
        ahead=20,
    )
    told = run(session, Truth(half), 20).n_answers
    assert told == 20 and session.clustering.snapshot >= 1
    assert honoured(session.clustering.labels, session.constraints)
