"""Suites as TOML files: what is read, what is refused, and which runs are meant."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from places import ROOT
from samekind.errors import InputError, SamekindError, SourceError, UnknownName
from samekind.simulation.loop import Segment
from samekind.simulation.rows import finished, read_rows
from samekind.simulation.settings import KINDS, Settings
from samekind.simulation.suite import Suite
from samekind.simulation.suite_file import open_suite, parsed, shipped

GPU = ROOT / "benchmarks" / "gpu"


def suite_of(base: dict[str, Any], variant: dict[str, Any] | None = None, **top: Any) -> Suite:
    content = {"set": "tiles", "orientations": ["colour"], "base": base, **top}
    return parsed("made", {**content, "variant": variant or {"one": {}}}, {})


@pytest.mark.parametrize("name", list(shipped()))
def test_every_suite_that_comes_with_the_package_can_be_read(name: str) -> None:
    suite = open_suite(name)
    assert suite.runs() and suite.about
    assert len({run.name for run in suite.runs()}) == len(suite.runs())
    for run in suite.runs(seeds=[0]):
        assert [segment.until for segment in run.settings.segments()][-1:] in (
            [run.settings.questions],
            [],
        )
    for figure in suite.published:
        assert figure["source"] and 0 < figure["acc"] < 1


def test_the_suite_of_the_guide_can_be_read() -> None:
    guide = (ROOT / "docs" / "how-to" / "run-the-benchmark.md").read_text("utf-8")
    text, figure = re.findall(r"```toml\n(.*?)```", guide, re.DOTALL)
    suite = parsed("mine", tomllib.loads(text + figure), {})
    assert suite.systems == ("live", "margin") and len(suite.runs(seeds=[0])) == 8
    for key in KINDS:
        assert f"`{key}`" in guide, f"the guide does not say what {key} means"
    for name in shipped():
        assert f"`{name}`" in guide


def test_the_quick_suite_has_every_method_that_needs_no_gpu_and_two_people() -> None:
    suite = open_suite("quick")
    methods = {run.settings.method for run in suite.runs(seeds=[0])}
    assert methods == {
        "live", "propagation", "logistic", "cobras", "cobra", "kmeans", "copkmeans", "pckmeans",
        "mpckmeans", "seeded", "constrained-seeded",
    }  # fmt: skip
    assert suite.people == ("perfect", "wrong-5") and len(suite.seeds) == 5


def test_the_suite_of_the_live_learner_tells_the_number_of_groups_to_margin_only() -> None:
    runs = open_suite("live").runs(seeds=[0])
    assert {run.system for run in runs if run.settings.groups == "given"} == {"margin"}
    assert {run.set for run in runs if run.person.noise} == {"digits"}
    budgets = {run.set: run.settings.questions for run in runs}
    assert budgets["cifar10-frozen"] == 500 and budgets["digits"] == 200


def test_the_shortened_ablation_has_six_variants_and_three_seeds() -> None:
    suite = open_suite("ablation-cifar100-4")
    assert len(suite.runs()) == 18
    strategies = {name: each[0].strategy for name, each in suite.stages[0].systems.items()}
    assert strategies == {
        "joint": "pcl", "attention": "pcl", "random": "random", "uncertainty": "uncertainty",
        "hardness": "hardness", "csd": "csd",
    }  # fmt: skip
    runs = suite.runs(seeds=[0])
    assert [r.system for r in runs if r.settings.parameters["attention"]] == ["attention"]


def test_rows_of_the_first_runner_are_still_known_as_done() -> None:
    rows = read_rows(GPU / "ablation-cifar100-4.jsonl").rows
    for row in rows:
        runs = open_suite(row["suite"], row["overrides"]).runs(seeds=[row["seed"]])
        assert [run.system for run in runs if run.name == row["run"]] == [row["system"]]
    assert len(rows) == len(finished(rows)) == 18


def test_the_suites_of_idc_have_the_published_variants() -> None:
    strategies = [run.settings.strategy for run in open_suite("idc-table3").runs(seeds=[0])]
    assert strategies[1:] == ["value-random", "value-hard", "value-hard-rep", "value", "placement"]
    losses = {run.settings.parameters["losses"] for run in open_suite("idc-table4").runs()}
    assert len(losses) == 7 and ("pos", "neg", "reg") in losses
    budgets = [run.settings.questions for run in open_suite("idc-figure4-m").runs(["value"], [0])]
    assert budgets == list(range(0, 701, 100))
    shown = [
        run.settings.strategy_with["shown"] for run in open_suite("idc-figure4-t").runs([], [0])
    ]
    assert shown == [1, 2, 3, 4, 5, 6, 7]


def test_a_key_that_nothing_reads_is_named_with_those_that_are_allowed() -> None:
    with pytest.raises(InputError, match=r"'epohcs'.*Did you mean 'epochs'.*Allowed: .*attention"):
        suite_of({"epohcs": 3})
    with pytest.raises(
        InputError, match=r"\[variant.two\] has the unknown key 'atention'.*'attention'"
    ):
        suite_of({}, {"two": {"atention": False}})
    with pytest.raises(InputError, match=r"top of the file has the unknown key 'seed'.*'seeds'"):
        suite_of({}, seed=3)
    with pytest.raises(InputError, match=r"the unknown key 'checkpoint'"):
        suite_of({"checkpoint": "one file for all runs"})
    with pytest.raises(InputError, match=r"\[set.digits\] has the unknown key 'orientation'"):
        suite_of({}, set={"digits": {"orientation": "digit"}})
    with pytest.raises(InputError, match=r"\[person.me\] has the unknown key 'nois'.*'noise'"):
        suite_of({}, person={"me": {"nois": 0.1}})
    with pytest.raises(InputError, match=r"\[person.me\] has the unknown key 'change'"):
        suite_of({}, person={"me": {"kind": "boundary", "change": "merge"}})


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("questions", "many"), ("questions", True), ("items", -1), ("without", "x"),
        ("noise", "much"), ("unsure", -0.1), ("noise", True), ("strategy_with", 3),
        ("score_at", 10), ("score_at", ["ten"]), ("held_out", "own"), ("held_out", 1),
        ("refits_from", {"soon": 3}), ("refits_from", {"50": "x"}), ("encoder", 3),
    ],
)  # fmt: skip
def test_a_value_of_the_wrong_kind_is_refused(key: str, value: Any) -> None:
    with pytest.raises(InputError, match=f"expected {key} to be .*, got"):
        suite_of({key: value})


def test_unknown_names_are_refused_before_anything_runs() -> None:
    wrong: list[dict[str, Any]] = [
        {"strategy": "uncertanty"}, {"method": "plc"}, {"groups": "many"}, {"encoder": "pixel"},
    ]  # fmt: skip
    for base in wrong:
        with pytest.raises(UnknownName):
            suite_of(base)
    tops: list[dict[str, Any]] = [
        {"compare_with": "two"},
        {"published": [{"variant": "two", "acc": 0.5}]},
        {"set": "no-such-set"},
        {"person": {"me": {"kind": "all-knowing"}}},
        {"set": {"digits": {"people": ["nobody"]}}, "person": {"me": {}}},
    ]
    for top in tops:
        with pytest.raises(UnknownName):
            suite_of({}, **top)
    for words in ({"only": ["two"]}, {"sets": ["digits"]}, {"people": ["me"]}):
        with pytest.raises(UnknownName, match="of the suite"):
            suite_of({}).runs(**words)


def test_what_is_missing_is_said() -> None:
    with pytest.raises(InputError, match=r"'orientations' is missing for the set 'digits'"):
        parsed("made", {"set": {"digits": {}}, "base": {}}, {})
    with pytest.raises(InputError, match="key 'base' is missing"):
        parsed("made", {"set": "digits", "orientations": ["digit"]}, {})
    with pytest.raises(InputError, match=r"Add a table \[set.NAME\]"):
        parsed("made", {"set": {}, "base": {}}, {})


@pytest.mark.parametrize(
    ("top", "said"),
    [
        (
            {"orientations": "colour"},
            r"expected orientations to be a list of texts, got 'colour'",
        ),
        ({"seeds": 3}, "expected seeds to be a list of whole numbers, got 3"),
        ({"seeds": [True]}, "whole numbers"),
        ({"set": {"digits": 3}}, r"expected a table \[set.digits\], got set.digits = 3"),
        ({"person": {"me": 0.1}}, r"a table \[person.me\]"),
        ({"variant": {"one": "live"}}, r"a table \[variant.one\]"),
        ({"base": "kmeans"}, r"a table \[base\]"),
        (
            {"set": {"digits": {"people": "me"}}, "person": {"me": {}}},
            "expected people to be a list of texts, got 'me'",
        ),
    ],
    ids=str,
)
def test_one_thing_where_several_are_wanted_is_refused(top: dict[str, Any], said: str) -> None:
    content = {"set": "tiles", "orientations": ["colour"], "base": {}, **top}
    with pytest.raises(InputError, match=said):
        parsed("made", content, {})


def test_a_file_that_is_not_there_or_no_toml_is_told_with_the_known_suites(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="pcl-table4"):
        open_suite("no-such-suite")
    (tmp_path / "bad.toml").write_text("set = ")
    with pytest.raises(SourceError, match=r"bad\.toml is not TOML"):
        open_suite(tmp_path / "bad.toml")


def test_who_answers_is_said_in_one_place() -> None:
    for base, variant in (({"noise": 0.1}, {}), ({}, {"one": {"unsure": 0.1}})):
        with pytest.raises(InputError, match=r"Set it in \[person.NAME\]"):
            suite_of(base, variant, person={"me": {}})
    runs = suite_of(
        {}, {"one": {"noise": 0.05}, "two": {"person": "matched", "unsure": 0.2}}
    ).runs()
    assert [run.person.name for run in runs] == ["wrong-5", "matched+unsure-20"]
    with pytest.raises(InputError, match=r"noise to be a number from 0 to 1, got 2"):
        suite_of({}, person={"me": {"noise": 2}})


def test_sets_have_their_own_budgets_and_people_and_the_command_line_has_the_last_word() -> None:
    content = {
        "set": {
            "digits": {"orientations": ["digit", "parity"], "questions": 30, "items": 90},
            "tiles": {"orientations": ["shape"], "people": ["b"]},
        },
        "base": {"method": "kmeans", "strategy": "random", "questions": 10},
        "person": {"a": {}, "b": {"noise": 0.1}},
        "variant": {"plain": {}, "none": {"questions": 0}},
    }
    runs = parsed("made", content, {}).runs(["plain"])
    told = [(r.set, r.orientation, r.person.name, r.settings.questions) for r in runs]
    assert told == [
        ("digits", "digit", "a", 30), ("digits", "digit", "b", 30), ("digits", "parity", "a", 30),
        ("digits", "parity", "b", 30), ("tiles", "shape", "b", 10),
    ]  # fmt: skip
    budgets = {
        (r.system, r.settings.questions) for r in parsed("made", content, {"questions": 5}).runs()
    }
    assert budgets == {("plain", 5), ("none", 0)}
    assert len(parsed("made", content, {}).runs(sets=["tiles"], people=["b"], seeds=[3])) == 2


def test_parameters_of_a_strategy_are_checked_and_make_another_run() -> None:
    def name(**more: Any) -> str:
        return suite_of({"strategy": "value", "questions": 4, **more}).runs()[0].name

    assert name() == name(strategy_with={}) != name(strategy_with={"shown": 2})
    assert name() != name(person="matched") and name() != name(noise=0.05)
    with pytest.raises(InputError, match=r"strategy_with has the unknown key 'show'.*'shown'"):
        name(strategy_with={"show": 2})
    with pytest.raises(SamekindError, match="1 to 7"):
        name(strategy_with={"shown": 8})
    with pytest.raises(UnknownName, match="person"):
        name(person="all-knowing")


def test_a_suite_that_names_no_strategy_uses_that_of_the_method() -> None:
    def strategy(**base: Any) -> str:
        return suite_of({"questions": 4, **base}).runs()[0].settings.strategy

    assert strategy(method="idc") == "value" and strategy(method="occ") == "csd"
    assert strategy(method="kmeans") == "live" and strategy() == "pcl"
    assert strategy(method="idc", strategy="random") == "random"


def test_values_of_parameters_are_checked_and_kept_as_written() -> None:
    def parameters(**base: Any) -> Any:
        return suite_of({"questions": 4, "method": "pcl", **base}).runs()[0].settings.parameters

    assert parameters(epochs=1.5, seconds=60) == {"epochs": 1.5, "seconds": 60}
    assert type(parameters(seconds=60)["seconds"]) is int, "60.0 would be another run"
    assert parameters(image_shape=[3, 8, 8], epochs="none") == {
        "image_shape": (3, 8, 8),
        "epochs": None,
    }
    with pytest.raises(InputError, match=r"\[variant\.one\]: Expected profile to be .*got 'fsat'"):
        parameters(profile="fsat")


def test_a_run_is_named_by_suite_set_orientation_system_person_questions_and_seed() -> None:
    run = suite_of({"questions": 4}, seeds=[7]).runs()[0]
    assert run.name.startswith("made/tiles/colour/one/perfect/4/7/") and len(run.name[-8:]) == 8


def test_only_settings_that_change_the_result_make_another_run() -> None:
    def name(**more: Any) -> str:
        return suite_of({"questions": 4, **more}).runs()[0].name

    assert name() == name(device="cpu", compile="plain", verbose=True)
    assert name(start="here/a.safetensors") == name(start="there/a.safetensors") != name()
    assert name() != name(channels=8) and name() != name(strategy="random")
    assert name() != name(score_at=[2]) and name() == name(encoder="none")


def test_a_list_of_questions_means_one_run_each_and_seeds_come_first() -> None:
    suite = suite_of({"questions": [10, 20]}, {"a": {}, "b": {"strategy": "random"}}, seeds=[0, 1])
    found = [(run.seed, run.system, run.settings.questions) for run in suite.runs()]
    first = [(0, "a", 10), (0, "a", 20), (0, "b", 10), (0, "b", 20)]
    assert found == first + [(1, *rest) for _, *rest in first]
    assert len({run.name for run in suite.runs()}) == 8


def test_rounds_end_with_the_budget() -> None:
    assert Settings(questions=10, questions_per_refit=4).rounds == (4, 8, 10)
    assert Settings(questions=10, refit_at=(1, 3, 30)).rounds == (1, 3, 10)
    assert Settings(questions=10).rounds == (10,)
    assert Settings(questions=0).rounds == ()


def test_segments_end_at_scores_and_where_another_number_of_answers_per_refit_begins() -> None:
    settings = Settings(
        questions=100, questions_per_refit=5, score_at=(0, 20, 60, 500), refits_from={"50": 10}
    )
    assert settings.segments() == (
        Segment(20, 5, 1),
        Segment(50, 5, 1),
        Segment(60, 10, 1),
        Segment(100, 10, 1),
    )
    assert Settings(score_at=(0, 10)).segments() == ()
