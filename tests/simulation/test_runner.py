"""One run of a suite: through a session, scored where it should be, by a person who knows."""

from __future__ import annotations

from itertools import count
from typing import Any

import numpy as np
import pytest

from samekind.constraints import Constraints
from samekind.errors import InputError, UnknownName
from samekind.questions import Answer, OddOnes, SameGroups, SamePair, WhichGroup
from samekind.simulation.curve_recorder import comparisons, in_place
from samekind.simulation.datasets import open_dataset
from samekind.simulation.runner import Limit, run_one
from samekind.simulation.suite import Run
from samekind.simulation.suite_file import parsed

FIELDS = {
    "schema", "run", "suite", "set", "orientation", "encoder", "items", "width", "kinds", "system",
    "learner", "method", "strategy", "parameters", "strategy_with", "groups_given", "person", "noise", "unsure", "seed",
    "budget", "questions", "curve", "choices", "conflicts", "ask_seconds", "tell_seconds",
    "refit_seconds", "seconds", "memory_mib", "protocol", "complete", "command", "commit", "when",
    "machine", "versions",
}  # fmt: skip
DEEP = {
    "questions": 8, "questions_per_refit": 4, "items": 48, "size": 16, "backbone": "resnet18",
    "stem": "3x3", "channels": 8, "batch_size": 16, "epochs": 1, "device": "cpu",
}  # fmt: skip


def run_of(base: dict[str, Any], **top: Any) -> Run:
    content = {"set": "digits", "orientations": ["digit"], **top, "base": base}
    return parsed("made", content, {}).runs()[0]


def row_of(base: dict[str, Any], **top: Any) -> dict[str, Any]:
    usual = {"method": "kmeans", "strategy": "random", "items": 120, "questions": 12}
    return run_one(run_of({**usual, **base}, **top), None, None, {"command": "c", "commit": "abc"})


def at(row: dict[str, Any]) -> list[int]:
    return [point["questions"] for point in row["curve"]]


def test_a_row_has_all_that_was_agreed_upon() -> None:
    row = row_of({"score_at": [0, 5], "encoder": "default"})
    assert set(row) == FIELDS
    assert row["run"].startswith("made/digits/digit/base/perfect/12/0/")
    assert (row["items"], row["width"], row["kinds"], row["groups_given"]) == (120, 64, 10, 10)
    assert (row["encoder"], row["commit"], row["complete"]) == ("vectors", "abc", True)
    assert row["budget"] == row["questions"] == sum(row["choices"].values()) == 12
    point = row["curve"][1]
    assert {"acc", "nmi", "ari", "fm", "pair_f1", "bcubed", "unasked_acc", "heldout_ari"} <= set(
        point
    )
    assert (point["questions"], point["pairs"], point["person_seconds"]) == (5, 5, 11.5)
    assert 0 < row["refit_seconds"]["p50"] <= row["refit_seconds"]["p95"] and row["memory_mib"] > 0
    assert row["protocol"]["score_at"] == (0, 5) and row["protocol"]["person"] == {"kind": "shown"}


def test_a_row_names_what_learnt() -> None:
    assert row_of({"score_at": [5]})["learner"] == "kmeans"
    vectors = {"method": "pcl", "encoder": "default", "epochs": 1, "questions": 2}
    assert row_of(vectors)["learner"] == "PCL"
    assert row_of({**vectors, "without": ["balance"]})["learner"] == "PCL without balance"
    fast = {**DEEP, "method": "pcl", "profile": "fast", "first_epochs": 1, "questions": 2}
    row = row_of(fast, set="tiles", orientations=["shape"])
    assert (row["method"], row["learner"]) == ("pcl", "SimCLR + head + FixMatch")


def test_what_a_network_alone_says_is_scored_beside_groups_that_honour_the_answers() -> None:
    base = {"method": "pcl", "encoder": "default", "epochs": 1, "questions": 40}
    base |= {"held_out": "given"}
    last = row_of(base, set="cifar10-frozen", orientations=["personalized"])["curve"][-1]
    assert {"network_acc", "network_nmi", "network_ari"} <= set(last)
    assert 0.5 <= last["network_acc"] < last["acc"]
    assert "network_acc" not in row_of({"score_at": [5]})["curve"][-1]


def test_scores_come_after_the_numbers_of_answers_that_are_wanted_and_learn_first() -> None:
    often = row_of({"score_at": [0, 3, 7], "questions_per_refit": 5})
    assert at(often) == [0, 3, 7, 12]
    assert [point["refits"] for point in often["curve"]] == [0, 1, 2, 3]
    seldom = row_of({"score_at": [7], "questions_per_refit": 2})
    assert at(seldom) == [0, 7, 12] and seldom["curve"][1]["refits"] == 4
    later = row_of({"score_at": [4], "questions_per_refit": 2, "refits_from": {"4": 8}})
    assert [point["refits"] for point in later["curve"]] == [0, 2, 3]


def test_learning_late_gives_the_same_groups_where_questions_do_not_depend_on_them() -> None:
    late, often = (
        row_of({"method": "propagation", "score_at": [6], "questions_per_refit": k}) for k in (0, 3)
    )
    for before, after in zip(late["curve"], often["curve"], strict=True):
        assert (before["ari"], before["groups"]) == (after["ari"], after["groups"])


def test_a_round_is_asked_at_once_and_scored_every_so_many_refits() -> None:
    row = row_of({"questions_per_refit": 3, "score_every": 2})
    assert at(row) == [0, 6, 12] and [point["refits"] for point in row["curve"]] == [0, 2, 4]
    more = row_of({"questions_per_refit": 6, "first_refits": 1, "refits": 5})
    assert at(more) == [0, 0, 6, 12, 12, 12]
    assert [point["refits"] for point in more["curve"]] == [0, 1, 2, 3, 4, 5]


def test_a_run_with_nothing_left_to_ask_ends_early_and_is_complete() -> None:
    row = row_of({"score_at": [0, 50, 100], "questions": 500, "items": 8, "held_out": "given"})
    assert row["complete"] and row["questions"] <= 28 < row["budget"]
    assert at(row) == [0, row["questions"]]


def test_a_method_that_finds_no_groups_for_the_answers_keeps_those_it_had() -> None:
    base = {"method": "copkmeans", "strategy": "minmax", "score_at": [10, 20], "n_clusters": 2}
    row = row_of({**base, "questions": 40, "questions_per_refit": 5})
    assert "too few" in row["protocol"]["stopped"]
    assert row["complete"] and row["questions"] < row["budget"]
    assert at(row)[-1] == row["questions"] == sum(row["choices"].values())
    assert row["curve"][-1]["refits"] <= row["questions"] // 5


@pytest.mark.parametrize(("method", "given"), [("kmeans", 10), ("cobras", None)])
def test_the_number_of_groups_is_told_to_those_who_want_to_know(
    method: str, given: int | None
) -> None:
    strategy = "cobras" if method == "cobras" else "random"
    base = {"method": method, "strategy": strategy, "questions": 2, "score_at": [2]}
    assert row_of(base)["groups_given"] == given
    assert row_of({**base, "groups": "unknown"})["groups_given"] is None


def test_the_method_may_be_given_another_number_of_groups() -> None:
    assert row_of({"n_clusters": 3, "questions": 2})["groups_given"] == 3


def test_the_orientation_that_a_person_has_in_mind_is_the_one_that_is_scored() -> None:
    by_parity = row_of({"score_at": [6]}, orientations=["parity"])
    assert by_parity["kinds"] == 2 and row_of({"score_at": [6]})["kinds"] == 10
    with pytest.raises(UnknownName, match="orientation"):
        row_of({}, orientations=["odd"])


@pytest.mark.parametrize(
    "person",
    [
        {"noise": 0.5}, {"unsure": 0.5}, {"kind": "matched"}, {"kind": "boundary", "noise": 0.4},
        {"kind": "drifting", "change": "merge", "start": 0, "over": 0},
        {"kind": "two", "second": "parity"},
    ],
    ids=str,
)  # fmt: skip
def test_every_kind_of_person_answers_in_their_own_way(person: dict[str, Any]) -> None:
    base = {"method": "propagation", "strategy": "placement", "questions": 20, "score_at": [20]}
    clean = row_of(base, person={"perfect": {}})
    row = row_of(base, person={"other": person})
    assert row["person"] == "other" and row["choices"] != clean["choices"]
    assert row["protocol"]["person"]["kind"] == person.get("kind", "shown")
    assert ("other_ari" in row["curve"][-1]) == (person.get("kind") in ("drifting", "two"))


def test_who_changes_their_mind_is_scored_by_what_they_mean_at_the_end() -> None:
    base = {"score_at": [2], "questions": 2}
    drifting = {"kind": "drifting", "second": "parity", "start": 0, "over": 0}
    late, parity = row_of(base, person={"d": drifting}), row_of(base, orientations=["parity"])
    digit = row_of({**base, "n_clusters": 2})
    first = row_of({**base, "n_clusters": 2}, person={"d": drifting})["curve"][0]
    assert first["ari"] == parity["curve"][0]["ari"] != digit["curve"][0]["ari"]
    assert first["heldout_acc"] == parity["curve"][0]["heldout_acc"]
    made = {"kind": "drifting", "change": "merge"}
    assert "heldout_acc" not in row_of(base, person={"d": made})["curve"][0]
    assert late["kinds"] == 10


def test_out_of_time_a_run_stops_between_refits_and_says_so() -> None:
    run = run_of(
        {
            "method": "kmeans",
            "strategy": "random",
            "items": 120,
            "questions": 12,
            "questions_per_refit": 4,
        }
    )
    hours = count()
    row = run_one(run, None, Limit(7200, lambda: 3600.0 * next(hours)))
    assert not row["complete"] and row["questions"] == 8 and at(row) == [0, 4, 8]


def test_answers_are_counted_in_pairs_that_were_compared() -> None:
    three = WhichGroup(9, ((1,), (2, 5), (3,)))
    told = [(three, "1"), (three, "3"), (three, "none"), (three, "unsure"), (SamePair(1, 2), "same"),
            (SameGroups((1, 4), (2, 3)), "different"), (OddOnes((1, 4), (7, 8, 9)), "2")]  # fmt: skip
    assert [comparisons(Answer(1, q, c)) for q, c in told] == [1, 3, 3, 3, 1, 1, 3]


def session_with(labels: list[int], answered: list[tuple[int, int, bool]]) -> Any:
    class Made:
        clustering = type("C", (), {"labels": np.array(labels), "numbers": sorted({*labels})})
        constraints = Constraints.from_links(len(labels), answered)

    return Made()


def test_an_item_is_in_place_if_its_group_stands_for_its_kind() -> None:
    kinds = np.array([0, 0, 0, 1, 1, 2])
    told = [(0, 1, True), (0, 3, False)]
    assert in_place(session_with([1, 1, 2, 2, 2, 1], told), kinds) == pytest.approx(4 / 6)
    # A kind that nobody has seen is in place in a group that stands for none.
    assert in_place(session_with([1, 1, 2, 2, 2, 3], told), kinds) == pytest.approx(5 / 6)


def test_random_checks_are_kept_beside_the_share_that_they_estimate() -> None:
    row = row_of(
        {"method": "live", "strategy": "live", "items": 0, "questions": 60, "score_at": [60]}
    )
    checks = row["curve"][-1]["checks"]
    assert 0 <= checks["low"] <= checks["share"] <= checks["high"] <= 1
    assert 0 <= checks["truth"] <= 1


def test_parts_of_a_set_are_held_out_joined_or_left_as_they_are() -> None:
    own, together = open_dataset("tiles", held_out="given"), open_dataset("tiles", held_out=False)
    assert own.X.shape == (384, 3, 96, 96) and own.heldout is not None and len(own.heldout) == 128
    assert together.X.shape == (512, 3, 96, 96) and together.heldout is None
    assert len(together.truth("colour")[0]) == len(together.labelled.collection) == 512
    made, none = open_dataset("digits", held_out=True), open_dataset("digits", held_out="given")
    assert made.heldout is not None and (len(made.X), len(made.heldout)) == (1438, 359)
    assert len(none.X) == 1797 and none.heldout is None


def test_rows_that_were_joined_are_still_ready_vectors() -> None:
    together = open_dataset("cifar10-frozen", held_out=False, encoder="default")
    assert together.X.shape == (8000, 64) and together.encoder == "vectors"
    assert len(set(together.labelled.collection.ids())) == 8000
    apart = open_dataset("cifar10-frozen", held_out="given", encoder="default", items=100)
    assert apart.heldout is not None and (len(apart.X), len(apart.heldout)) == (100, 2000)
    assert len(apart.truth("class")[0]) == 100 and len(apart.labelled.collection) == 100
    assert np.array_equal(together.X[:100], apart.X)


def test_cifar_pictures_come_from_the_folder_that_is_given(tmp_path: Any) -> None:
    rows = np.full((10, 3073), 7, dtype=np.uint8)
    rows[:, 0] = np.arange(10)
    for number in range(5):
        rows[2 * number : 2 * number + 2].tofile(tmp_path / f"data_batch_{number + 1}.bin")
    rows.tofile(tmp_path / "test_batch.bin")
    together = open_dataset("cifar10-2", str(tmp_path), False)
    assert together.X.shape == (20, 3, 32, 32) and together.heldout is None
    wanted = [0, 1, 0, 1, 1, 1, 0, 1, 0, 1]
    assert together.truth("personalized")[0].tolist() == wanted * 2
    some = open_dataset("cifar10-2", str(tmp_path), True, items=4)
    assert len(some.X) == len(some.truth("default")[0]) == 4 and some.heldout is not None


def test_idc_is_asked_once_by_a_person_who_errs_and_is_unsure() -> None:
    base = {
        "method": "idc", "strategy": "value", "strategy_with": {"shown": 2}, "questions": 20,
        "epochs": 2, "noise": 0.1, "unsure": 0.2, "losses": ["pos", "reg"], "items": 0,
    }  # fmt: skip
    row = row_of(base)
    assert row["complete"] and row["questions"] == 20 and row["choices"]["unsure"] > 0
    assert at(row) == [0, 20] and row["person"] == "wrong-10+unsure-20"
    assert "device" in row["machine"] and "torch" in row["versions"]
    with pytest.raises(InputError, match="no parts that `without`"):
        row_of({**base, "without": ["pos"]})


def test_a_part_that_a_loss_does_not_have_cannot_be_left_out() -> None:
    base = {**DEEP, "method": "cc", "without": ["assignment"], "strategy": "random"}
    with pytest.raises(InputError, match=r"no part 'assignment'.*instance, groups, balance"):
        row_of(base, set="tiles", orientations=["colour"])


@pytest.mark.parametrize("without", [["instance"], ["assignment"]])
def test_occ_runs_on_all_pictures_with_a_part_of_its_loss_left_out(without: list[str]) -> None:
    base = {**DEEP, "method": "occ", "strategy": "csd", "held_out": False, "without": without}
    base |= {"first_refits": 1, "refits": 4, "horizon": 5, "score_every": 2}
    row = row_of(base, set="tiles", orientations=["colour"])
    assert row["complete"] and row["questions"] == 8 and "heldout_acc" not in row["curve"][-1]
    assert [point["refits"] for point in row["curve"]] == [0, 2, 4]
    assert at(row) == [0, 4, 8]
