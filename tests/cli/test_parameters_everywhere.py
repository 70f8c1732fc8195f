"""Parameters of methods, strategies and encoders on the command line, lists, and JSON."""

# ruff: noqa: F811 (fixtures are imported by their names)

from __future__ import annotations

import gc
import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from command_line import Cli, cli, photos, table  # noqa: F401
from samekind.encoders import make_encoder
from samekind.errors import InputError
from samekind.ledger.fold import last_header
from samekind.ledger.store import open_store
from samekind.registry import find, first_line, registered


@pytest.mark.parametrize("kind", ["method", "strategy", "encoder"])
def test_descriptions_are_read_without_importing_anything(kind: str) -> None:
    for name in registered(kind):
        assert first_line(kind, name) == (find(kind, name).__doc__ or "").strip().splitlines()[0]


def test_descriptions_are_read_by_many_threads_at_once() -> None:
    """As on the page. Parsing the files would fail here: see `first_line`."""

    class Cycle:
        """Garbage with a finaliser, so that the threads change places at every collection."""

        def __init__(self) -> None:
            self.itself = self

        def __del__(self) -> None:
            sum(range(50))

    def read(_: int) -> str:
        for _ in range(20):
            Cycle()
        return first_line("method", "live")

    before, interval = gc.get_threshold(), sys.getswitchinterval()
    gc.set_threshold(20)
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as threads:
            lines = set(threads.map(read, range(400)))
    finally:
        gc.set_threshold(*before)
        sys.setswitchinterval(interval)
    assert lines == {(find("method", "live").__doc__ or "").splitlines()[0]}


def test_the_list_imports_no_network_library(tmp_path: Path) -> None:
    code = (
        "import sys; from samekind.cli.main import main\n"
        "try: main(['list', '--json'])\n"
        "except SystemExit: pass\n"
        "print(sorted({'torch', 'sklearn', 'scipy', 'pandas'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    listed, imported = done.stdout.strip().splitlines()
    assert "live" in json.loads(listed)["methods"]
    assert imported == "[]"


def test_a_name_lists_the_parameters_of_all_that_have_it(cli: Cli) -> None:
    done = cli("list", "cobra")
    assert "Method cobra:" in done.out
    assert "Strategy cobra:" in done.out
    assert "n_parts" in done.out
    assert "components" in cli("list", "pixels").out
    assert json.loads(cli("list", "tiles", "--json").out)["set"]["name"] == "tiles"
    wrong = cli("list", "cobar")
    assert wrong.code == 5
    assert "Did you mean 'cobra'?" in wrong.err


def test_parameters_of_strategy_and_encoder_are_obeyed_and_remembered(
    cli: Cli, photos: Path
) -> None:
    chosen = ("--strategy", "live", "--with", "strategy.check_every=7", "--encoder", "pixels")
    done = cli("ask", photos, *chosen, "--with", "encoder.size=16", typed="q\n")
    assert done.code == 0, done.err
    (ledger,) = (photos.parent / "home").rglob("*.samekind")
    settings = last_header(open_store(ledger), "main")["settings"]
    assert find("strategy", settings["strategy"])().check_every == 7
    assert make_encoder(settings["encoder"]).size == 16  # type: ignore[attr-defined]
    assert cli("ask", photos, typed="q\n").code == 0
    assert cli("simulate", "digits", "--strategy", "random", "--with", "strategy.tries=3",
               "--questions", 1).code == 0  # fmt: skip


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("--with", "strategy.check_every=7"), "Expected --strategy NAME"),
        (("--strategy", "live", "--with", "strategy.every=7"), "no parameter 'every'"),
        (("--encoder", "pixels", "--with", "encoder.size=large"), "a whole number"),
    ],
)
def test_unusable_parameters_are_refused_before_any_work(
    cli: Cli, photos: Path, given: tuple[str, ...], said: str
) -> None:
    done = cli("ask", photos, *given, typed="q\n")
    assert done.code == 2
    assert said in done.err


def test_names_with_parameters_are_checked() -> None:
    with pytest.raises(InputError, match="NAME=VALUE"):
        find("strategy", "random(3)")


def test_groups_and_exports_are_reported_as_json(cli: Cli, table: Path, tmp_path: Path) -> None:
    found = json.loads(cli("cluster", table, "--json", "--out", tmp_path / "a.csv").out)
    assert sum(group["size"] for group in found["groups"]) == found["items"] == 40
    assert (tmp_path / "a.csv").is_file()
    assert cli("ask", table, typed="q\n").code == 0
    report = json.loads(cli("export", table, tmp_path / "b.csv", "--json").out)
    assert report["files"] == 1


def test_nothing_but_the_result_is_printed_when_piped(cli: Cli, photos: Path) -> None:
    done = cli("cluster", photos, "--encoder", "pixels", "--json")
    json.loads(done.out)
    assert "\x1b" not in done.err
    assert "%" not in done.err


def test_a_shell_completes_commands_and_names() -> None:
    env = {
        "_SAMEKIND_COMPLETE": "complete_bash",
        "COMP_WORDS": "samekind ask x --method cob",
        "COMP_CWORD": "4",
    }
    import os

    done = subprocess.run(
        [sys.executable, "-c", "from samekind.cli.main import main; main()"],
        env={**os.environ, **env}, capture_output=True, text=True,
    )  # fmt: skip
    assert done.stdout.split() == ["cobra", "cobras"], done.stderr
