"""Every command in the documents is understood, and most of them are run, page by page.

Pages are run in a folder with the files that they take for granted. What is not run is still read
by the parser of its program, and listed with a reason in `NOT_RUN` or `OTHER_PROGRAMS`.
"""

from __future__ import annotations

import io
import json
import re
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Callable
from functools import cache, wraps
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer
from PIL import Image

from documented import DOCUMENTS, Block, all_blocks, blocks, words_of
from places import ROOT
from samekind.cli.main import app, main
from samekind.sources.sets import named
from samekind.sources.sets.labelled import LabelledSet
from samekind.sources.sets.tiles import tiles

NOT_RUN = {
    r"--on ray://|s3://": "needs a cluster; tests/bulk has one of its own",
    r"postgresql://": "needs a database; tests/ledger starts one where PostgreSQL is installed",
    r"photos\.lance|labels\.parquet": "made on that cluster; tests/bulk opens and checks both",
    r"^samekind plot evolution ": "draws for seconds; cli/test_plot_command.py draws smaller ones",
    r"^samekind learn |--encoder simclr": "trains for minutes; its Python runs in test_doc_programs",
    r"^samekind bench (quick|mine\.toml)": "680 runs; tests/simulation runs small suites",
    r"--method (pcl|ncp)\b.*(digits|tiles|holiday-photos|flowers)|(digits|tiles|holiday-photos|flowers).*--method (pcl|ncp)\b":
        "trains a network; tests/clusterers does so on less",
    r"my-weights\.safetensors|mine\.safetensors": "the weights are those of a training",
}  # fmt: skip
"""Commands of samekind that are read by its parser but not run, and why."""
OTHER_PROGRAMS = {
    "pip": "the extras are compared with pyproject.toml",
    "make": "planned by make, without doing it",
    "python": "its options are looked up in its source",
    "torchrun": "needs several GPUs; its options are looked up in the source of the program",
    "curl": "web/test_own_page.py makes the same calls",
    "createdb": "a program of PostgreSQL",
    "tensorboard": "a program of TensorBoard",
}
"""What happens to commands of other programs."""
SHORTER = [(r"--questions \d+", "--questions 3"), (r"--start 20 --over 20", "--start 1 --over 1")]
FIRST = {
    "sort-photos": ["ask holiday-photos"],
    "sort-new-photos": ["ask holiday-photos --orientation colour"],
    "groupings": ["ask ~/photos --orientation 'by place'"],
    "exchange-labels": ["ask ~/photos", "export ~/photos labels.json --format fiftyone"],
    "simulate": ["ask tiles --ledger me.samekind"],
}
"""What the reader of a page has done before."""
PAGES = [
    path
    for path in DOCUMENTS
    if path.name != "README.md" and any(block.language == "console" for block in blocks(path))
]


def typed(programs: tuple[str, ...]) -> list[tuple[Block, str]]:
    found = [(block, line) for block in all_blocks("console") for line in block.commands()]
    return [(block, line) for block, line in found if words_of(line)[0] in programs]


def reason_not_to_run(command: str) -> str | None:
    return next((why for pattern, why in NOT_RUN.items() if re.search(pattern, command)), None)


# -- every command is understood ------------------------------------------------------------------


@cache
def command_line() -> Any:
    return typer.main.get_command(app)


def parse(words: list[str]) -> None:
    """Let the command line read a command, without running it."""
    command = command_line()
    context = command.make_context("samekind", words)
    while hasattr(command, "resolve_command"):
        rest = [*getattr(context, "_protected_args", []), *context.args]
        name, command, rest = command.resolve_command(context, rest)
        context = command.make_context(name, rest, parent=context)


@cache
def source_of(words: tuple[str, ...]) -> str:
    """The source of a program and of what it shares with others of its kind."""
    path = words[1].replace(".", "/") + ".py" if words[0] == "-m" else words[0]
    shared = [*(ROOT / "recipes").glob("*.py"), *(ROOT / "benchmarks").glob("*.py")]
    return "".join(path.read_text() for path in {ROOT / path, *shared})


def check_program(words: list[str], page: str) -> None:
    """Check that a program of ours exists and knows the options."""
    at = next(k for k, word in enumerate(words) if word == "-m" or word.endswith(".py"))
    if words[at : at + 2] == ["-m", "samekind"]:
        parse(words[at + 2 :])
        return
    source = source_of(tuple(words[at : at + 2]))
    for option in (word for word in words[at:] if word.startswith("--")):
        assert f'"{option}"' in source, f"{page}: {option}"


def test_every_command_of_samekind_is_understood() -> None:
    found = typed(("samekind",))
    assert len(found) > 100
    for block, line in found:
        words = words_of(line)
        if ">" in words:
            words = words[: words.index(">")]
        try:
            parse(words[1:])
        except (typer.Exit, Exception) as problem:
            pytest.fail(f"{block.page}:{block.line}: {line}: {problem!r}")


def test_an_option_that_does_not_exist_is_noticed() -> None:
    with pytest.raises(Exception, match="No such option"):
        parse(["ask", "tiles", "--no-such-option"])
    with pytest.raises(AssertionError):
        check_program(["python", "recipes/pcl.py", "--no-such-option"], "a page")


def test_every_command_of_another_program_is_accounted_for() -> None:
    programs = {words_of(line)[0] for block in all_blocks("console") for line in block.commands()}
    assert programs == {"samekind", *OTHER_PROGRAMS}


def test_every_program_of_ours_knows_the_options_that_are_shown() -> None:
    for block, line in typed(("python", "torchrun")):
        words = words_of(line)
        if "-c" in words:
            compile(words[words.index("-c") + 1], block.page, "exec")
        else:
            check_program(words, block.page)


def test_every_command_in_a_setting_of_another_program_is_understood() -> None:
    """JSON blocks are whole; those that start samekind do so with words that it knows."""
    started = 0
    for block in all_blocks("json"):
        for server in json.loads(block.text).get("mcpServers", {}).values():
            assert server["command"] == "samekind", block.page
            parse(server["args"])
            started += 1
    assert started > 0


def test_every_make_target_can_be_planned() -> None:
    targets = sorted({words_of(line)[1] for _, line in typed(("make",))})
    assert {"run", "test", "check", "faults"} <= set(targets)
    command = [shutil.which("make") or "make", "--dry-run", *targets]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_every_reason_not_to_run_a_command_is_needed() -> None:
    lines = [line for _, line in typed(("samekind",))]
    for pattern in NOT_RUN:
        assert any(re.search(pattern, line) for line in lines), pattern


# -- most commands are run ------------------------------------------------------------------------


@pytest.fixture(scope="module")
def vectors(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Vectors that were computed once, also by other tests; sessions are not shared."""
    folder = tmp_path_factory.getbasetemp() / "home" / "cache"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@pytest.fixture
def home(tmp_path: Path, vectors: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the files that the pages take for granted."""
    from sklearn.datasets import load_iris

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SAMEKIND_HOME", str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "cache").symlink_to(vectors)
    rng = np.random.default_rng(0)
    monkeypatch.setattr("samekind.web.server._run", lambda *_: None)  # all but waiting for requests
    folders = ("holiday-photos", "new-photos", "photos", "my-photos", "pets", "slides", "new-tiles")
    for name in folders:
        (tmp_path / name).mkdir()
        for k in range(6):
            colour = (200, 40, 40) if k % 2 else (40, 60, 200)
            pixels = np.clip(rng.normal(colour, 20, size=(32, 32, 3)), 0, 255).astype(np.uint8)
            Image.fromarray(pixels).save(tmp_path / name / f"{name}-{k}.png")
    iris = load_iris()
    species = iris.target_names[iris.target]
    np.savez(tmp_path / "flowers.npz", X=iris.data, species=species)
    rows = (",".join((*map(str, row), kind)) for row, kind in zip(iris.data, species, strict=True))
    (tmp_path / "flowers.csv").write_text("\n".join(("a,b,c,d,species", *rows)))
    np.save(tmp_path / "mine.npy", rng.normal(size=(30, 4)).astype("float32"))
    quick = (ROOT / "benchmarks" / "rows" / "quick.jsonl").read_text().splitlines()
    (tmp_path / "quick.jsonl").write_text("\n".join(quick[::80]))
    (tmp_path / "benchmarks").symlink_to(ROOT / "benchmarks")
    with tarfile.open(tmp_path / "shards.tar", "w") as shard:
        shard.add(tmp_path / "slides", arcname=".")
    return tmp_path


@pytest.fixture
def fewer(monkeypatch: pytest.MonkeyPatch) -> None:
    """A few of the demo tiles and of the digits."""
    digits = named.SETS["digits"]

    def some(whole: LabelledSet, count: int) -> LabelledSet:
        kept = {name: labels[:count] for name, labels in whole.orientations.items()}
        return LabelledSet(whole.name, whole.collection.take(range(count)), kept)

    some_tiles = wraps(tiles)(lambda seed=0: some(tiles(seed), 24))
    some_digits = wraps(digits)(lambda seed=0: some(digits(seed), 120))
    monkeypatch.setitem(named.SETS, "tiles", some_tiles)
    monkeypatch.setitem(named.SETS, "digits", some_digits)


@pytest.fixture
def run(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[[str], str]:
    """Run a command as a shell would; a person who is asked answers twice and stops."""

    def run(command: str) -> str:
        words = [word.replace("~", str(home)) for word in words_of(command)]
        into = words[words.index(">") + 1] if ">" in words else None
        monkeypatch.setattr("sys.stdin", io.StringIO("0\nu\nq\n"))
        with pytest.raises(SystemExit) as done:
            main(words[1 : words.index(">")] if into else words[1:])
        out, err = capsys.readouterr()
        assert not done.value.code, f"{command}: {err}"
        if into:
            Path(into).write_text(out)
        return out

    return run


def write_files_of(page: Path) -> None:
    """Write the files that a page shows: a map of labels, a graph, a suite, a strategy."""
    for block in blocks(page):
        if page.stem == "simulate" and block.language == "json":
            Path("sizes.json").write_text(block.text)
        if page.stem == "graphs" and block.language == "text":
            Path("friends.edges").write_text(block.text)
        if page.stem == "write-your-own-strategy" and block.language == "python":
            Path("closest.py").write_text(block.text)
    if page.stem == "graphs":
        import networkx

        graph = networkx.barbell_graph(6, 0)
        networkx.set_node_attributes(graph, {node: int(node > 5) for node in graph}, "value")
        networkx.write_gml(graph, "football.gml")


@pytest.mark.usefixtures("fewer")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_commands_of_a_page_run_one_after_the_other(
    page: Path, run: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    write_files_of(page)
    monkeypatch.syspath_prepend(Path.cwd())
    for command in FIRST.get(page.stem, []):
        run(f"samekind {command}")
    for block in blocks(page):
        for command in block.commands() if block.language == "console" else ():
            program = words_of(command)[0]
            if program == "python" and "-c" in words_of(command):
                exec(words_of(command)[-1], {})
            if program != "samekind" or reason_not_to_run(command):
                continue
            for long, short in SHORTER:
                command = re.sub(long, short, command)
            if " simulate " in command and "--questions" not in command:
                command = command.replace(" simulate ", " simulate --questions 3 ")
            if " serve " in command:
                command = re.sub(r" --port \d+", "", command) + " --port 0"
            shown = run(command)
            for line in re.findall(r"^(?!\$ )(\S+ \S+)", block.text, flags=re.M):
                assert line in shown, f"{block.page}: the output begins with {line}"
    sys.modules.pop("closest", None)
