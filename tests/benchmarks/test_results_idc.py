"""IDC's tables and its Figure 4 from the rows of its recipe."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from benchmarks.results import figures
from benchmarks.results import page as results_page
from benchmarks.results.gpu import recipe_rows
from benchmarks.results.idc import grid_rows
from benchmarks.results.tables import published_table

OURS = tomllib.loads((results_page.PARTS / "ours.toml").read_text())
ALL = ["pos", "neg", "reg"]
LEARNERS = {"program": "IDC", "paper": "IDC, as printed", "repaired": "IDC, repaired"}


def row(
    *,
    strategy: str = "value",
    shown: int = 5,
    losses: list[str] = ALL,
    acc: float = 0.7,
    **more: Any,
) -> dict[str, Any]:
    """A row as ``recipes/idc.py --grid`` writes it; at 500 questions the score is `acc`."""
    usual = strategy == "value" and shown == 5 and losses == ALL
    profile = more.pop("profile", "program")
    missing = [name for name in ALL if name not in losses]
    learner = LEARNERS[profile] + (f" without {' and '.join(missing)}" if missing else "")
    curve = [
        {"questions": m, "planned": m, "acc": 0.99,
         **{f"network_{name}": acc + (m - 500) / 5000 for name in ("acc", "nmi", "ari")}}
        for m in (range(0, 701, 100) if usual else (0, 500))
    ]  # fmt: skip
    return {
        "schema": 3, "run": json.dumps([strategy, shown, losses, acc, profile, more]),
        "suite": "idc-grid", "set": "cifar20", "orientation": "default", "learner": learner,
        "method": "idc", "strategy": strategy, "strategy_with": {"shown": shown},
        "parameters": {"profile": profile, "losses": losses}, "groups_given": 20,
        "person": "matched", "noise": 0.0, "unsure": 0.0, "seed": 0,
        "budget": curve[-1]["questions"],
        "system": "x", "curve": curve, "complete": True, "commit": "abc1234",
        "machine": {"device": "NVIDIA H200"}, "protocol": {"start": "tcl"}, "file": "idc-1.json",
        **more,
    }  # fmt: skip


SMALL = {
    "set": "cifar20-frozen", "orientation": "coarse", "protocol": {"start": "simclr"},
    "machine": {"cores": 2}, "file": "idc-frozen.jsonl",
}  # fmt: skip
SELECTIONS = [row(), *(row(strategy=f"value-{way}", acc=0.6) for way in ("hard", "hard-rep"))]


def lines(table: str, rows: list[dict[str, Any]]) -> list[str]:
    return published_table(table, OURS, rows).replace("\N{NO-BREAK SPACE}", " ").splitlines()


def after(text: list[str], beginning: str) -> str:
    return text[next(i for i, line in enumerate(text) if line.startswith(beginning)) + 1]


def test_table_3_has_each_selection_beside_its_published_line() -> None:
    found = lines("idc-3", SELECTIONS)
    assert after(found, "| none (pre-trained)").startswith(
        "| **here:** IDC, from TCL, answers as published, before any question | 0 | yes | .600 /"
    )
    assert after(found, "| Hard |").startswith(
        "| **here:** IDC, from TCL, answers as published, `value-hard` | 500 | yes | .600 / .600"
    )
    assert ".700 / .700 / .700" in after(found, "| Hard+Rep+Div |"), "the network alone is scored"
    assert "the whole network (ResNet-18 at 32 x 32)" in found[2]


def test_table_4_has_each_choice_of_losses_and_names_what_was_left_out() -> None:
    rows = [row(), row(losses=["pos"], acc=0.65), row(losses=["neg", "reg"], acc=0.4)]
    found = lines("idc-4", rows)
    assert "IDC without neg and reg, from TCL" in after(found, "| pos |")
    assert "IDC without pos, from TCL" in after(found, "| neg+reg |")
    assert "| **here:** IDC, from TCL" in after(found, "| pos+neg+reg |")


def test_what_is_ours_stands_beside_nothing_and_starts_and_people_are_kept_apart() -> None:
    rows = [
        row(), row(profile="repaired", acc=0.71), row(person="perfect", acc=0.66),
        row(protocol={"start": "propos"}, acc=0.78),
    ]  # fmt: skip
    found = lines("idc-2", rows)
    place = next(i for i, line in enumerate(found) if line.startswith("| IDC (TCL)"))
    assert "IDC, from TCL, answers as published" in found[place + 1]
    assert "IDC, from TCL, the person sees the exemplars" in found[place + 2]
    assert "IDC, from ProPos, answers as published" in after(found, "| IDC (ProPos)")
    others = next(i for i, line in enumerate(found) if "not in the published table" in line)
    assert any("IDC, repaired, from TCL" in line for line in found[others:])
    assert not any("repaired, from TCL" in line for line in found[:others])


def test_rows_in_small_stand_in_until_there_are_whole_networks() -> None:
    small = [row(**SMALL), *(row(strategy="value-hard", acc=0.5, **SMALL) for _ in range(1))]
    found = "\n".join(lines("idc-3", small))
    assert "IDC, on frozen vectors, answers as published, `value-hard`" in found
    both = "\n".join(lines("idc-3", [*small, *SELECTIONS]))
    assert "frozen vectors" not in both and "from TCL" in both
    assert grid_rows("idc-4", [*small, *SELECTIONS]) == [], "nobody left a loss out"
    assert "from TCL" not in "\n".join(lines("idc-2", small))


def offered(**more: Any) -> list[dict[str, Any]]:
    rows = [row(seed=seed, acc=0.7 + seed / 100, **more) for seed in (0, 1)]
    return rows + [row(shown=t, acc=0.5 + t / 100, **more) for t in (1, 2, 3, 4, 6, 7)]


@pytest.mark.parametrize("small", [False, True])
def test_figure_4_is_drawn_over_questions_and_over_offered_groups(
    small: bool, tmp_path: Path
) -> None:
    rows = offered(**(SMALL if small else {}))
    path = figures.draw("idc-figure-4", rows, tmp_path)
    assert path is not None and path.stat().st_size > 5000
    assert figures.drawn_from(path) == figures.digest(figures.figure_rows("idc-figure-4", rows))
    text = figures.figure_text("idc-figure-4", rows)
    assert ("In small, as long as there are no rows of whole networks" in text) == small
    assert "| ACC | questions (T = 5) | 0 | 100 | 200 | 300 | 400 | 500 | 600 | 700 |" in text
    assert "| ACC | groups offered (M = 500) | 1 | 2 | 3 | 4 | 5 | 6 | 7 |" in text
    assert ".705 ± .007" in text and ".570 |" in text
    changed = [{**one, "curve": one["curve"][:-1]} for one in rows]
    assert figures.digest(figures.figure_rows("idc-figure-4", changed)) != figures.drawn_from(path)


def test_a_set_without_other_numbers_of_groups_has_no_panel() -> None:
    rows = [*offered(), row(set="cifar10")]
    assert {one["panel"] for one in figures.figure_rows("idc-figure-4", rows)} == {"CIFAR-20"}


def test_the_figure_needs_rows_that_offered_other_numbers_of_groups() -> None:
    assert figures.figure_rows("idc-figure-4", SELECTIONS) == []
    assert figures.figure_text("idc-figure-4", SELECTIONS) == ""


def test_files_of_the_recipe_are_read_as_they_are(tmp_path: Path) -> None:
    (tmp_path / "idc-cifar20-tcl.json").write_text(json.dumps(SELECTIONS))
    found = recipe_rows(tmp_path)
    assert [one["learner"] for one in found] == ["IDC"] * 3
    assert {one["protocol"]["from"] for one in found} == {"benchmarks/gpu/idc-cifar20-tcl.json"}
    assert found[0]["curve"] == SELECTIONS[0]["curve"]
