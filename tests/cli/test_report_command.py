"""``samekind report``: from rows to a page, Markdown and CSV files."""

# ruff: noqa: F811 (fixtures are imported by their names)

from __future__ import annotations

import csv
import json
import re
import subprocess
import sys
from collections.abc import Iterable
from html.parser import HTMLParser
from pathlib import Path

import pytest

from command_line import Cli, cli  # noqa: F401
from samekind.reports.report import Report
from samekind.reports.results import read_results
from samekind.reports.study import Study
from synthetic_rows import Row, synthetic_row, synthetic_rows, write_rows

pytest.importorskip("matplotlib")
LEVELS = {"live": 0.95, "margin": 0.85, "random": 0.6}
PEOPLE = [("perfect", 0.0), ("wrong-10", 0.1)]
SETS = [("digits", "digit"), ("tiles", "shape"), ("cifar10-2", "personalized")]
EMPTY_ELEMENTS = {"meta", "wbr", "br"}


class Wellformed(HTMLParser):
    """Fails when an element is closed that was not open; keeps ids and addresses."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.addresses: list[str] = []
        self.tags: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        named = dict(attrs)
        self.ids += [named["id"] or ""] if "id" in named else []
        self.addresses += [v or "" for k, v in attrs if k.endswith("href") or k == "src"]
        if tag not in EMPTY_ELEMENTS:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in EMPTY_ELEMENTS:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def parsed(page: Path) -> Wellformed:
    found = Wellformed()
    found.feed(page.read_text())
    assert found.open == []
    return found


def table(folder: Path, name: str) -> list[dict[str, str]]:
    with (folder / "tables" / f"{name}.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def report(cli: Cli, folder: Path, rows: Iterable[Row], *options: object) -> Path:
    path = write_rows(folder / "rows.jsonl", rows)
    done = cli("report", path, "--out", folder / "out", *options)
    assert done.code == 0, done.err
    assert "Wrote" in done.out
    return folder / "out"


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of three systems on three sets with two people."""
    folder = tmp_path_factory.mktemp("report")
    rows = synthetic_rows(LEVELS, sets=SETS, people=PEOPLE)
    for row in rows:
        row["groups_given"] = 10 if row["system"] == "margin" else None
    runs = read_results([write_rows(folder / "rows.jsonl", rows)])
    return Report.of(Study(runs), "Mine & <yours>").write(folder / "new" / "out").parent


def test_a_report_has_a_page_markdown_and_tables(out: Path) -> None:
    found = parsed(out / "index.html")
    page, text = (out / "index.html").read_text(), (out / "report.md").read_text()
    assert "<title>Mine &amp; &lt;yours&gt;</title>" in page
    assert {"script", "link", "img", "iframe"} & found.tags == set()
    assert len(found.ids) == len(set(found.ids))
    assert all(address.startswith("#") for address in found.addresses)
    assert {address[1:] for address in found.addresses} <= set(found.ids)
    assert "http" not in page and "prefers-color-scheme: dark" in page
    for heading in ("Curves", "Area under the curve", "Tests", "People who err", "Waiting"):
        assert f"<h2>{heading}</h2>" in page and f"## {heading}" in text
    assert "margin (K)" in page and "live (K)" not in page
    # 3 axes for each of 6 blocks, for the mean over 3 sets of each person, and the ranks.
    assert page.count("<figure") == 3 * (6 + 2) + 1
    names = {path.stem for path in (out / "tables").iterdir()}
    written = {"curves", "areas", "areas_by_second", "finals", "reach", "tests", "ranks", "waiting"}
    assert names == written


def test_the_tables_hold_what_was_computed(out: Path) -> None:
    areas = {(r["set"], r["person"], r["system"]): r for r in table(out, "areas")}
    assert len(areas) == 18
    one = areas["digits", "perfect", "live"]
    assert float(one["low"]) <= float(one["mean"]) <= float(one["high"])
    assert (one["runs"], one["from"], one["to"]) == ("3", "0.0", "60.0")
    assert len(table(out, "tests")) == 3
    best = table(out, "ranks")[0]
    assert (best["system"], best["mean_rank"], best["units"]) == ("live", "1.0", "6")
    never = [r for r in table(out, "reach") if r["system"] == "random" and r["quality"] == "0.8"]
    assert all(r["never"] == "3" and r["questions_more_than"] == "60.0" for r in never)
    assert "No run reaches it on any of the sets: random." in (out / "report.md").read_text()


def test_the_same_rows_give_the_same_bytes_over_an_earlier_report(cli: Cli, tmp_path: Path) -> None:
    rows = synthetic_rows(LEVELS)
    out = report(cli, tmp_path, rows[:-1])
    assert (out / "tables" / "missing.csv").exists()
    report(cli, tmp_path, rows)
    first = {p: p.read_bytes() for p in sorted(out.rglob("*")) if p.is_file()}
    report(cli, tmp_path, list(reversed(rows)))
    assert {p: p.read_bytes() for p in sorted(out.rglob("*")) if p.is_file()} == first
    assert not (out / "tables" / "missing.csv").exists()  # what this report lacks is not kept


def test_another_page_is_not_written_over(cli: Cli, tmp_path: Path) -> None:
    rows = write_rows(tmp_path / "rows.jsonl", synthetic_rows(LEVELS))
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "index.html").write_text("<p>my own</p>")
    done = cli("report", rows, "--out", tmp_path / "out")
    assert done.code == 14 and "not a samekind report" in done.err
    assert (tmp_path / "out" / "index.html").read_text() == "<p>my own</p>"
    assert cli("report", rows, "--out", rows).code == 14


def test_one_system_and_one_seed_are_enough(cli: Cli, tmp_path: Path) -> None:
    out = report(cli, tmp_path, [synthetic_row()])
    text = (out / "report.md").read_text()
    assert "There is one seed for each system, so there are no bands." in text
    assert "nothing to compare" in text
    assert "1 seed" in text and "People who err" not in text
    parsed(out / "index.html")


def test_few_blocks_come_with_a_caveat_in_words(cli: Cli, tmp_path: Path) -> None:
    out = report(cli, tmp_path, synthetic_rows(LEVELS))
    text = (out / "report.md").read_text()
    assert "There is only 1 block" in text
    assert "Seeds of one set are not independent sets" in text
    assert "Mean ranks are not shown" in text


def test_different_score_points_are_said_and_missing_costs_have_no_panel(
    cli: Cli, tmp_path: Path
) -> None:
    rows = synthetic_rows({"live": 0.9})
    rows += [synthetic_row("late", seed, at=(10, 25, 60)) for seed in range(3)]
    rows += [synthetic_row("once", seed, at=(60,)) for seed in range(3)]
    for row in rows:
        for point in row["curve"]:
            del point["person_seconds"]
    out = report(cli, tmp_path, rows)
    text = (out / "report.md").read_text()
    assert "the common range: questions 10 to 60 (digits, digit, perfect)" in text
    assert "Scored only once, so without a curve and an area: once." in text
    assert (out / "index.html").read_text().count("<figure") == 2
    assert "seconds of the person (modelled)" not in (out / "index.html").read_text()


def test_fifteen_systems_stay_readable(cli: Cli, tmp_path: Path) -> None:
    levels = {f"system-{k:02}": 0.95 - 0.04 * k for k in range(15)}
    out = report(cli, tmp_path, synthetic_rows(levels, seeds=range(2)))
    page = (out / "index.html").read_text()
    legend = re.search(r'<ul class="legend">(.*?)</ul>', page)
    assert legend is not None and legend[1].count("<li>") == 8  # seven in colour, and the rest
    assert "15\xa0system-14" in legend[1]
    assert "All 105 pairs" in page


def test_a_chosen_score_systems_sets_and_qualities(cli: Cli, tmp_path: Path) -> None:
    out = report(
        cli, tmp_path, synthetic_rows(LEVELS, sets=SETS), "--metric", "unasked_ari", "--systems",
        "live", "--systems", "random", "--sets", "digits", "--quality", "0.5",
    )  # fmt: skip
    assert {row["system"] for row in table(out, "areas")} == {"live", "random"}
    assert {row["set"] for row in table(out, "areas")} == {"digits"}
    assert {row["quality"] for row in table(out, "reach")} == {"0.5"}
    assert "ARI, items that no question showed" in (out / "index.html").read_text()
    rows = tmp_path / "rows.jsonl"
    wrong = cli("report", rows, "--out", tmp_path / "other", "--metric", "purity")
    assert wrong.code == 2 and "Known: acc, ari" in wrong.err
    assert cli("report", rows, "--out", tmp_path / "other", "--quality", "80").code == 2
    assert not (tmp_path / "other").exists()


def test_published_figures_stand_beside_ours_with_their_protocol(cli: Cli, tmp_path: Path) -> None:
    rows = synthetic_rows({"live": 0.9}, sets=[("cifar10-2", "personalized")])
    text = (report(cli, tmp_path, rows) / "report.md").read_text()
    section = text[text.index("## Published figures beside ours") :]
    assert re.search(r"\| PCL.* \| PCL, Table 3 \| .*\.873", section)
    assert "| **live** | here (synthetic), perfect, 3 seeds | 60 |" in section
    assert "### How these were run" in section and "K was not given" in section


def test_provenance_and_missing_runs_are_told(cli: Cli, tmp_path: Path) -> None:
    rows = synthetic_rows(LEVELS)
    rows[0]["commit"] = "fffffff"
    for at, row in enumerate(rows):
        row["machine"] = {"cores": 2, "load": [at]}
    out = report(cli, tmp_path, [row for row in rows if row["seed"] or row["system"] != "random"])
    text = (out / "report.md").read_text()
    assert "The runs come from several commits" in text
    assert "| commits | abc1234 (7); fffffff (1) |" in text
    assert "| machines | cores 2 |" in text
    assert "Missing: 1 run." in text
    assert table(out, "missing") == [
        {"block": "digits, digit, perfect", "system": "random", "seed": "0"}
    ]


def test_suites_are_not_mixed(cli: Cli, tmp_path: Path) -> None:
    rows = synthetic_rows(LEVELS) + synthetic_rows(LEVELS, suite="other")
    out = report(cli, tmp_path, rows)
    areas = table(out, "areas")
    assert {row["suite"] for row in areas} == {"synthetic", "other"} and len(areas) == 6
    assert "digits, digit (other)" in (out / "index.html").read_text()


def test_names_from_rows_cannot_write_into_the_page(cli: Cli, tmp_path: Path) -> None:
    names = {"<b>x|y</b>": 0.9, 'a"b': 0.8, "$x^$": 0.7}
    rows = synthetic_rows(names, sets=[("<i>", "$x$ & y")], seeds=range(5))
    rows[0]["command"] = "<script>alert(1)</script>"
    out = report(cli, tmp_path, rows)
    assert {"script", "i"} & parsed(out / "index.html").tags == set()
    assert "$x^$</text>" in (out / "index.html").read_text()  # drawn, and not taken for a formula
    assert "\\<b\\>x\\|y" in (out / "report.md").read_text()


def test_without_matplotlib_it_is_told_what_to_install(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = write_rows(tmp_path / "rows.jsonl", synthetic_rows(LEVELS))
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    done = cli("report", rows, "--out", tmp_path / "out")
    assert done.code == 12 and "samekind[plots]" in done.err


def test_importing_the_room_brings_no_heavy_library() -> None:
    code = (
        "import sys, samekind.reports.report, samekind.reports.statistics, samekind.reports.svg;"
        "print(sorted({'torch', 'sklearn', 'scipy', 'matplotlib', 'PIL'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.strip() == "[]", done.stderr


def test_systems_that_had_other_vectors_are_told(cli: Cli, tmp_path: Path) -> None:
    rows = synthetic_rows({"live": 0.9, "margin": 0.8})
    assert "Caution" not in (report(cli, tmp_path, rows) / "report.md").read_text()
    for row in rows:
        row["encoder"] = f"network-{row['system']}"
    text = (report(cli, tmp_path, rows) / "report.md").read_text()
    assert "Caution: in 1 block not all runs had the same vectors" in text


def test_systems_that_were_never_run_together_are_not_ranked_against_each_other(
    cli: Cli, tmp_path: Path
) -> None:
    rows = synthetic_rows({"alone": 0.2}, sets=[("tiles", "shape")])
    rows += synthetic_rows({"b": 0.9, "c": 0.8})
    rows += synthetic_rows({"c": 0.8, "d": 0.7}, sets=[("digits", "parity")])
    text = (report(cli, tmp_path, rows) / "report.md").read_text()
    assert "so no system leads overall" in text
    assert re.search(r"\| alone \| .* \| \u2013 \| .* \| 1 of 3 \|", text)  # no rank


def test_a_report_says_as_json_what_was_written(cli: Cli, tmp_path: Path) -> None:
    path = write_rows(tmp_path / "rows.jsonl", synthetic_rows(LEVELS))
    done = cli("report", path, "--out", tmp_path / "out", "--json")
    found = json.loads(done.out)
    assert Path(found["page"]).is_file()
    assert found["runs"] > 0
