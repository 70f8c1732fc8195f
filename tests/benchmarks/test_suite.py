"""Suites of benchmarks: read, run, continued, cut short and reported, on small sets."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
sys.path.insert(0, str(BENCHMARKS))

import suite as door  # noqa: E402
from suite_format import Settings, Suite, open_suite, parsed  # noqa: E402
from suite_report import paired, report  # noqa: E402
from suite_run import Limit, opened, run_one  # noqa: E402

from samekind.errors import InputError, SamekindError, UnknownName  # noqa: E402

SHIPPED = sorted(file.stem for file in (BENCHMARKS / "suites").glob("*.toml"))
QUICK = """
set = "digits"
orientations = ["parity"]
seeds = [0, 1]

[base]
method = "kmeans"
questions = 12
questions_per_refit = 4
items = 120

[variant.random]
strategy = "random"

[variant.uncertain]
strategy = "uncertainty"
"""
DEEP = {
    "questions": 8,
    "questions_per_refit": 4,
    "items": 48,
    "size": 16,
    "backbone": "resnet18",
    "stem": "3x3",
    "channels": 8,
    "batch_size": 16,
    "epochs": 1,
    "device": "cpu",
}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    place = tmp_path / "quick.toml"
    place.write_text(QUICK)
    return place


def suite_of(base: dict[str, Any], variant: dict[str, Any] | None = None, **top: Any) -> Suite:
    content = {"set": "tiles", "orientations": ["colour"], "base": base, **top}
    return parsed("made", {**content, "variant": variant or {"one": {}}}, {})


def rows_of(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines()]


@pytest.mark.parametrize("name", SHIPPED)
def test_every_suite_that_comes_with_the_package_can_be_read(name: str) -> None:
    suite = open_suite(name)
    assert suite.runs() and suite.about
    assert all(run.settings.rounds[-1:] in ((run.settings.questions,), ()) for run in suite.runs())
    for figure in suite.published:
        assert figure["source"] and 0 < figure["acc"] < 1


def test_the_shortened_ablation_has_six_variants_and_three_seeds() -> None:
    suite = open_suite("ablation-cifar100-4")
    assert len(suite.runs()) == 18
    strategies = {name: each[0].strategy for name, each in suite.variants.items()}
    assert strategies == {
        "joint": "pcl",
        "attention": "pcl",
        "random": "random",
        "uncertainty": "uncertainty",
        "hardness": "hardness",
        "csd": "csd",
    }
    attention = {name: each[0].parameters["attention"] for name, each in suite.variants.items()}
    assert [name for name, on in attention.items() if on] == ["attention"]


def test_a_key_that_nothing_reads_is_named_with_those_that_are_allowed() -> None:
    with pytest.raises(InputError, match=r"'epohcs'.*Did you mean 'epochs'.*Allowed: .*attention"):
        suite_of({"epohcs": 3})
    with pytest.raises(InputError, match=r"\[variant.two\] has the key 'atention'.*'attention'"):
        suite_of({}, {"two": {"atention": False}})
    with pytest.raises(InputError, match=r"top of the file has the key 'seed'.*'seeds'"):
        suite_of({}, seed=3)
    with pytest.raises(InputError, match=r"the key 'checkpoint'"):
        suite_of({"checkpoint": "one file for all runs"})


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("questions", "many"), ("questions", True), ("items", -1), ("without", "x"),
        ("noise", "much"), ("unsure", -0.1), ("noise", True), ("strategy_with", 3),
    ],
)  # fmt: skip
def test_a_value_of_the_wrong_kind_is_refused(key: str, value: Any) -> None:
    with pytest.raises(InputError, match=f"{key} = .* cannot be used. Give"):
        suite_of({key: value})


def test_unknown_names_are_refused_before_anything_runs() -> None:
    for wrong in ({"strategy": "uncertanty"}, {"method": "plc"}):
        with pytest.raises(UnknownName):
            suite_of(wrong)
    with pytest.raises(UnknownName):
        suite_of({}, compare_with="two")
    with pytest.raises(UnknownName):
        suite_of({}, published=[{"variant": "two", "acc": 0.5}])
    with pytest.raises(UnknownName):
        suite_of({}).runs(only=["two"])


def test_parameters_of_a_strategy_are_checked_and_make_another_run() -> None:
    def name(**more: Any) -> str:
        return suite_of({"strategy": "value", "questions": 4, **more}).runs()[0].name

    assert name() == name(strategy_with={}) != name(strategy_with={"shown": 2})
    assert name() != name(person="matched") and name() != name(noise=0.05)
    with pytest.raises(InputError, match=r"strategy_with has the key 'show'.*'shown'"):
        name(strategy_with={"show": 2})
    with pytest.raises(SamekindError, match="5"):
        name(strategy_with={"shown": 7})
    with pytest.raises(UnknownName, match="person"):
        name(person="all-knowing")


def test_keys_that_came_later_leave_the_names_of_older_rows() -> None:
    run = open_suite("ablation-cifar100-4").runs()[0]
    assert run.name.endswith("/0/f07cdf90")


def test_the_suites_of_idc_have_the_published_variants() -> None:
    strategies = {n: s[0].strategy for n, s in open_suite("idc-table3").variants.items()}
    assert list(strategies) == ["none", "random", "hard", "hard-rep", "hard-rep-div", "placement"]
    losses = {s[0].parameters["losses"] for s in open_suite("idc-table4").variants.values()}
    assert len(losses) == 7 and ("pos", "neg", "reg") in losses
    budgets = [s.questions for s in open_suite("idc-figure4-m").variants["value"]]
    assert budgets == list(range(0, 701, 100))
    shown = [s[0].strategy_with["shown"] for s in open_suite("idc-figure4-t").variants.values()]
    assert shown == [1, 2, 3, 4, 5]


def test_a_list_of_questions_means_one_run_each_and_seeds_come_first() -> None:
    suite = suite_of({"questions": [10, 20]}, {"a": {}, "b": {"strategy": "random"}}, seeds=[0, 1])
    found = [(run.seed, run.variant, run.settings.questions) for run in suite.runs()]
    first = [(0, "a", 10), (0, "a", 20), (0, "b", 10), (0, "b", 20)]
    assert found == first + [(1, *rest) for _, *rest in first]
    assert len({run.name for run in suite.runs()}) == 8


def test_rounds_end_with_the_budget() -> None:
    assert Settings(questions=10, questions_per_refit=4).rounds == (4, 8, 10)
    assert Settings(questions=10, refit_at=(1, 3, 30)).rounds == (1, 3, 10)
    assert Settings(questions=10).rounds == (10,)
    assert Settings(questions=0).rounds == ()


def test_only_settings_that_change_the_result_make_another_run() -> None:
    def name(**more: Any) -> str:
        return suite_of({"questions": 4, **more}).runs()[0].name

    assert name() == name(device="cpu", compile="plain", verbose=True)
    assert name() != name(channels=8) and name() != name(strategy="random")


def test_a_suite_runs_once_and_is_continued_where_it_stopped(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "rows.jsonl"
    order = [str(file), "--out", str(out), "--commit", "abc"]
    assert door.main([*order, "--only", "random", "--seeds", "1"]) == 0
    (row,) = rows_of(out)
    assert (row["variant"], row["seed"], row["commit"]) == ("random", 1, "abc")
    assert row["complete"] and row["told"] == 12
    assert [point["questions"] for point in row["curve"]] == [0, 4, 8, 12]
    assert {"train_acc", "train_nmi", "test_acc", "test_ari", "seconds"} <= set(row["curve"][-1])
    assert door.main(order) == 0 and door.main(order) == 0
    assert len({row["run"] for row in rows_of(out)}) == len(rows_of(out)) == 4
    assert "4 runs, 4 there already" in capsys.readouterr().out
    assert door.main([*order, "--with", "questions=4"]) == 0
    assert len(rows_of(out)) == 8


def test_a_line_that_was_cut_off_is_passed_over_and_its_run_done_again(
    file: Path, tmp_path: Path
) -> None:
    out = tmp_path / "rows.jsonl"
    order = [str(file), "--out", str(out), "--only", "random"]
    door.main(order)
    out.write_text(out.read_text()[:-40])
    assert door.main(order) == 0
    assert [row["seed"] for row in door.read_rows(out)] == [0, 1]


def test_out_of_time_a_run_stops_between_refits_and_says_so(file: Path, tmp_path: Path) -> None:
    run = open_suite(file).runs()[0]
    hours = count()
    row = run_one(run, None, Limit(7200, lambda: 3600.0 * next(hours)), {"commit": ""})
    assert not row["complete"] and row["told"] == 8
    assert [point["questions"] for point in row["curve"]] == [0, 4, 8]
    out = tmp_path / "rows.jsonl"
    door.append_row(out, row)
    page = report(open_suite(file), door.read_rows(out))
    assert "No finished run" in page and f"cut short: {run.name}" in page
    door.main([str(file), "--out", str(out), "--only", "random", "--seeds", "0"])
    assert [row["complete"] for row in rows_of(out)] == [False, True]
    assert "cut short" not in report(open_suite(file), door.read_rows(out))


def test_without_time_nothing_is_begun(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "rows.jsonl"
    assert door.main([str(file), "--out", str(out), "--limit-seconds", "0"]) == 0
    assert not out.exists() and "4 left for another time" in capsys.readouterr().out


def test_a_run_that_fails_does_not_take_the_others_with_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, out = tmp_path / "half.toml", tmp_path / "rows.jsonl"
    file.write_text(QUICK + "[variant.too-many]\nn_clusters = 5000\n")
    assert door.main([str(file), "--out", str(out), "--seeds", "0"]) == 1
    assert {row["variant"] for row in rows_of(out)} == {"random", "uncertain"}
    assert "too-many" in capsys.readouterr().err


def test_a_wrong_suite_gives_one_sentence_and_an_exit_code(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert door.main(["no-such-suite", "--out", str(tmp_path / "rows.jsonl")]) == 3
    assert "pcl-table4" in capsys.readouterr().err
    assert door.main([]) == 2


def test_pictures_are_scored_apart_or_all_together() -> None:
    apart, together = opened("tiles", None, True), opened("tiles", None, False)
    assert apart.X.shape == (384, 3, 96, 96) and apart.apart is not None
    assert together.X.shape == (512, 3, 96, 96) and together.apart is None
    assert len(together.truth("colour")[0]) == len(together.labelled.collection) == 512


def test_cifar_pictures_come_from_the_folder_that_is_given(tmp_path: Path) -> None:
    rows = np.full((10, 3073), 7, dtype=np.uint8)
    rows[:, 0] = np.arange(10)
    for number in range(5):
        rows[2 * number : 2 * number + 2].tofile(tmp_path / f"data_batch_{number + 1}.bin")
    rows.tofile(tmp_path / "test_batch.bin")
    together = opened("cifar10-2", str(tmp_path), False)
    assert together.X.shape == (20, 3, 32, 32) and together.apart is None
    wanted = [0, 1, 0, 1, 1, 1, 0, 1, 0, 1]
    assert together.truth("personalized")[0].tolist() == wanted * 2


def scripted(suite: Suite, score: Callable[[str, int], float]) -> list[dict[str, Any]]:
    """Rows as the runner writes them, with scores that are made up."""
    return [
        {
            "run": run.name,
            "suite": run.suite,
            "seed": run.seed,
            "complete": True,
            "commit": "abc",
            "machine": "paper",
            "when": "2026-01-01 00:00:00",
            "seconds": 1.0,
            "curve": [
                {"questions": n, **{f"{part}_{m}": value for part in ("test", "train") for m in ("acc", "nmi", "ari", "fm")}}
                for n, value in ((0, 0.25), (run.settings.questions, score(run.variant, run.seed)))
            ],
        }
        for run in suite.runs()
    ]  # fmt: skip


def test_a_report_gives_mean_spread_and_paired_difference_beside_the_published() -> None:
    suite = suite_of(
        {"questions": 100},
        {"joint": {}, "random": {"strategy": "random"}},
        seeds=[0, 1, 2],
        curve_at=[0, 100],
        published=[
            {"variant": "joint", "acc": 0.597, "source": "Table 5"},
            {"variant": "random", "acc": 0.487, "source": "Table 5"},
        ],
    )
    differences = (-0.01, -0.02, -0.03)
    rows = scripted(suite, lambda v, s: 0.6 + s / 10 + (differences[s] if v == "random" else 0))
    page = report(suite, rows)
    assert "| joint | 100 | 3 | .700 ± .100 |" in page
    # t(0.975, 2) = 4.3027, sd = .01: half a width of 4.3027 * .01 / sqrt(3) = .0248
    assert "| -.020 [-.045, +.005] | .487/-/-/- | -.110 |" in page
    assert "| random, train items | .250 ± .000 | .680 ± .090 |" in page
    assert "Table 5" in page


def test_a_published_difference_may_be_given_where_the_base_was_published_otherwise() -> None:
    published = [
        {"variant": "joint", "acc": 0.597, "note": "with attention."},
        {"variant": "attention", "acc": 0.597, "difference": 0.152},
    ]
    variants = {"joint": {"attention": False}, "attention": {"attention": True}}
    suite = suite_of({"questions": 100}, variants, published=published)
    page = report(suite, scripted(suite, lambda variant, seed: 0.5))
    assert "| +.000 | .597/-/-/- | +.152 |" in page
    assert "joint, all: with attention." in page


def test_differences_are_taken_seed_by_seed() -> None:
    mean, width = paired({0: 0.5, 1: 0.7, 2: 0.9, 3: 0.1}, {0: 0.4, 1: 0.6, 2: 0.8})
    assert (round(mean, 6), round(width or 0, 6)) == (0.1, 0.0)
    assert paired({0: 0.5, 1: 0.7}, {0: 0.4, 1: 0.5})[1] is None
    assert np.isnan(paired({0: 0.5}, {1: 0.4})[0])


def test_rows_of_other_settings_are_left_out_of_a_report() -> None:
    rows = scripted(suite_of({"questions": 100}), lambda variant, seed: 0.5)
    page = report(suite_of({"questions": 100, "channels": 8}), rows)
    assert "No finished run" in page and "other settings: 1 runs" in page


@pytest.mark.slow
@pytest.mark.parametrize("without", [["instance"], ["assignment"]])
def test_occ_runs_on_all_pictures_with_a_part_of_its_loss_left_out(without: list[str]) -> None:
    base = {**DEEP, "method": "occ", "strategy": "csd", "held_out": False, "without": without}
    base |= {"first_refits": 1, "refits": 4, "horizon": 5, "score_every": 2}
    row = run_one(suite_of(base).runs()[0], None, Limit(None), {})
    assert row["complete"] and row["told"] == 8 and "test_acc" not in row["curve"][-1]
    assert [point["refits"] for point in row["curve"]] == [0, 2, 4]
    assert [point["questions"] for point in row["curve"]] == [0, 4, 8]


def test_idc_is_asked_once_by_a_person_who_errs_and_is_unsure() -> None:
    base = {
        "method": "idc", "strategy": "value", "strategy_with": {"shown": 2}, "questions": 20,
        "epochs": 2, "noise": 0.1, "unsure": 0.2, "losses": ["pos", "reg"],
    }  # fmt: skip
    content = {"set": "digits", "orientations": ["digit"], "base": base}
    row = run_one(parsed("made", content, {}).runs()[0], None, Limit(None), {})
    assert row["complete"] and row["told"] == 20 and row["choices"]["unsure"] > 0
    assert [point["questions"] for point in row["curve"]] == [0, 20]
    assert {"train_acc", "unasked_acc", "test_acc"} <= set(row["curve"][-1])
    assert set(row["choices"]) <= {"1", "2", "none", "unsure"}
    with pytest.raises(InputError, match="own parameters"):
        run_one(parsed("made", content, {"without": ["pos"]}).runs()[0], None, Limit(None), {})


def test_a_part_that_the_loss_does_not_have_cannot_be_left_out() -> None:
    base = {**DEEP, "method": "cc", "without": ["assignment"], "strategy": "random"}
    with pytest.raises(InputError, match=r"no part 'assignment'.*instance, groups, balance"):
        run_one(suite_of(base).runs()[0], None, Limit(None), {})


@pytest.mark.slow
def test_pcl_with_and_without_attention_side_by_side_gives_the_rows_of_one_process(
    tmp_path: Path,
) -> None:
    lines = [f"{key} = {json.dumps(value)}" for key, value in DEEP.items()]
    file = tmp_path / "deep.toml"
    file.write_text(
        'set = "tiles"\norientations = ["colour"]\n[base]\n'
        + "\n".join(lines)
        + "\n[variant.on]\nattention = true\n[variant.off]\nattention = false\n"
    )
    found = []
    for workers in ("1", "2"):
        out = tmp_path / f"{workers}.jsonl"
        assert door.main([str(file), "--out", str(out), "--workers", workers]) == 0
        rows = sorted(rows_of(out), key=lambda row: str(row["run"]))
        found.append([[point["test_acc"] for point in row["curve"]] for row in rows])
        assert [row["told"] for row in rows] == [8, 8]
    assert found[0] == found[1]
