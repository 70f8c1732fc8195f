"""FixMatch with answered items as labels, as published and in its gentle variant."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from test_idc import SMALL, answers, honoured, pictures

from samekind.clusterers.deep.fixmatch import FixMatch
from samekind.clusterers.deep.pcl import PCL
from samekind.constraints import Constraints
from samekind.errors import InputError, UnknownName
from samekind.training.finetune import Tuner, Tuning
from samekind.training.fixmatch import FixMatchTuner, FixMatchTuning
from samekind.training.strong import FIXMATCH_STRONG, FIXMATCH_WEAK

QUICK: dict[str, Any] = {"unlabelled": 16, "labelled": 8, "epochs": 2}
BOTH = pytest.mark.parametrize("profile", ["paper", "gentle"])


@pytest.fixture
def tuners(monkeypatch: Any) -> list[Any]:
    """The trainings that were run."""
    found: list[Any] = []
    for kind in (Tuner, FixMatchTuner):
        run = kind.run

        def noted(self: Any, run: Any = run) -> Any:
            found.append(self)
            return run(self)

        monkeypatch.setattr(kind, "run", noted)
    return found


@BOTH
def test_answered_items_teach_the_others_from_scratch(profile: Any) -> None:
    images, half = pictures(60)
    known = answers(half, 70)
    wanted = {**QUICK, "epochs": 25, "average": 0.9, "profile": profile, "learning_rate": 0.03}
    if profile == "gentle":
        wanted["backbone_rate"] = 1.0  # there is nothing to be gentle with
    model = FixMatch(2, **wanted, **SMALL).fit(images, constraints=known)
    assert honoured(model.labels_, known)
    other, kinds = pictures(200)
    right = (model.predict(other[60:]) == kinds[60:]).mean()
    assert max(right, 1 - right) > 0.8


def test_without_any_label_the_network_stays_as_it_is() -> None:
    images, _ = pictures()
    still = FixMatch(3, **QUICK, **SMALL).fit(images)
    only_apart = Constraints.from_links(40, [(0, 1, False)])
    apart = FixMatch(3, **QUICK, **SMALL).fit(images, constraints=only_apart)
    np.testing.assert_allclose(still.space_, apart.space_, atol=1e-5)
    assert honoured(apart.labels_, only_apart)


def test_it_begins_from_features_of_another_method(tmp_path: Any) -> None:
    images, half = pictures()
    file = str(tmp_path / "features.safetensors")
    PCL(2, profile="fast", first_epochs=1, batch_size=16, **SMALL).fit(images).save_features(file)
    known = answers(half, 20)
    model = FixMatch(2, start=file, size=8, device="cpu", random_state=0, **QUICK)
    assert honoured(model.fit(images, constraints=known).labels_, known)


@pytest.mark.parametrize("k", [1, 3, None])
def test_vectors_any_number_of_groups(k: int | None) -> None:
    rng = np.random.default_rng(0)
    kinds = np.arange(60) % 3
    X = rng.normal(size=(60, 4)) + 5 * np.eye(3, 4)[kinds]
    known = answers(kinds, 40)
    model = FixMatch(k, random_state=0).fit(X, constraints=known)
    assert honoured(model.labels_, known)


def test_the_default_is_what_was_published(tuners: list[Any]) -> None:
    images, half = pictures()
    model = FixMatch(2, **QUICK, **SMALL).fit(images, constraints=answers(half, 20))
    (one,) = tuners
    assert isinstance(one, FixMatchTuner) and model.learner_name == "FixMatch"
    assert one.tuning == FixMatchTuning(labelled=8, unlabelled=16, epochs=2)
    assert (one.weak.family.n_ops, one.weak.family.shift) == (0, FIXMATCH_WEAK.shift)
    assert (one.strong.family.n_ops, one.strong.family.reach) == (2, FIXMATCH_STRONG.reach)


def test_the_gentle_variant_spares_the_backbone_and_learns_from_links(tuners: list[Any]) -> None:
    images, half = pictures()
    known = answers(half, 20)
    model = FixMatch(2, profile="gentle", **QUICK, **SMALL).fit(images, constraints=known)
    (one,) = tuners
    assert isinstance(one, Tuner) and model.learner_name == "FixMatch, gentle"
    wanted = Tuning(answered=8, unlabelled=16, epochs=2, align=True, backbone_rate=0.1, warm_up=0.1)
    assert one.tuning == wanted
    assert one.known.any, "links teach"
    slow = {id(p) for g in one.optimiser.param_groups if g["factor"] == 0.1 for p in g["params"]}
    assert slow == {id(p) for p in one.network.backbone.parameters()}


def test_the_name_says_where_published_training_began() -> None:
    assert FixMatch(start="some.safetensors").learner_name == "FixMatch, from learnt features"
    assert FixMatch(start="x", profile="gentle").learner_name == "FixMatch, gentle"


def test_items_only_known_to_differ_have_no_label_and_stay_among_the_others(
    tuners: list[Any],
) -> None:
    images, half = pictures()
    same = [int(i) for i in np.flatnonzero(half == half[0])[:3]]
    other = int(np.flatnonzero(half != half[0])[0])
    known = Constraints.from_links(
        40, [(same[0], same[1], True), (same[0], same[2], True), (same[0], other, False)]
    )
    FixMatch(2, **QUICK, **SMALL).fit(images, constraints=known)
    (one,) = tuners
    assert np.flatnonzero(one.label_of.numpy() >= 0).tolist() == sorted(same)
    assert other in one._others.items and not set(same) & set(one._others.items.tolist())


def test_parameters_of_the_variant_and_unknown_profiles_are_refused() -> None:
    images, _ = pictures()
    with pytest.raises(InputError, match=r"got align, warm_up\. Choose profile='gentle'"):
        FixMatch(2, align=True, warm_up=0.1, **QUICK, **SMALL).fit(images)
    with pytest.raises(UnknownName, match="gentle"):
        FixMatch(2, profile="gentel", **QUICK, **SMALL).fit(images)  # type: ignore[arg-type]
