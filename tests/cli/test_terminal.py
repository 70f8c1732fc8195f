"""The terminal: questions fit the screen, keys answer, and Ctrl-C loses nothing."""

from __future__ import annotations

import io
import os
import pty
import re
import select
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from PIL import Image
from rich.console import Console as Screen

from piles import clouds
from samekind.cli.console import printable
from samekind.cli.drawings import drawn, picture
from samekind.cli.terminal import TerminalPerson, explained, menu
from samekind.items import Collection, Item, Preview
from samekind.ledger.store import open_store
from samekind.protocols import View
from samekind.questions import AllLike, OddOnes, Question, SameGroups, SamePair, WhichGroup
from samekind.session import Session
from samekind.session.people import People
from samekind.simulation.loop import run
from samekind.simulation.people import BACK, SKIP, STOP


class Shown(Item):
    """An item with any preview."""

    kind: ClassVar[str] = "image"

    def __init__(self, id: str, mime: str, data: bytes) -> None:
        self.id = id
        self._preview = Preview(mime, data)

    def load(self) -> Any:
        return None

    def preview(self) -> Preview:
        return self._preview


def png(width: int, height: int) -> bytes:
    data = io.BytesIO()
    Image.new("RGB", (width, height), (200, 30, 30)).save(data, "PNG")
    return data.getvalue()


def pictures(width: int = 32, height: int = 32) -> Collection:
    data = png(width, height)
    return Collection("pictures", [Shown(f"p{i}", "image/png", data) for i in range(26)])


def texts(words: str) -> Collection:
    return Collection("texts", [Shown(f"t{i}", "text/plain", words.encode()) for i in range(26)])


def lines_of(collection: Collection, question: Question, width: int, height: int) -> list[str]:
    screen = Screen(file=io.StringIO(), width=width, height=height, force_terminal=False)
    screen.print(drawn(collection, question, width, height))
    written = screen.file
    assert isinstance(written, io.StringIO)
    return written.getvalue().splitlines()


TWELVE = OddOnes((20, 21, 22, 23, 24), tuple(range(12)))
FIVE = WhichGroup(25, tuple(tuple(range(5 * g, 5 * g + 5)) for g in range(5)))


@pytest.mark.parametrize(
    "collection", [pictures(), pictures(60, 20), pictures(20, 60), texts("a b " * 300)]
)
@pytest.mark.parametrize(("width", "height"), [(120, 40), (100, 50), (200, 60)])
def test_a_question_with_five_groups_fits_the_screen(
    collection: Collection, width: int, height: int
) -> None:
    lines = lines_of(collection, FIVE, width, height)
    assert len(lines) <= height - 6  # heading, prompt, reason, keys and the line before them
    assert max(map(len, lines)) <= width
    assert all(f" {key} " in "\n".join(lines) for key in "12345")


@pytest.mark.parametrize("collection", [pictures(), texts("one\ntwo\n" * 50)])
def test_a_pair_fits_an_old_terminal(collection: Collection) -> None:
    lines = lines_of(collection, SamePair(0, 1), 80, 24)
    assert len(lines) <= 18
    assert max(map(len, lines)) <= 80


@pytest.mark.parametrize(
    "collection", [pictures(), pictures(60, 20), pictures(20, 60), texts("a b " * 300)]
)
@pytest.mark.parametrize(("width", "height"), [(120, 40), (80, 30), (200, 60)])
def test_twelve_doubtful_items_fit_the_screen_with_their_numbers(
    collection: Collection, width: int, height: int
) -> None:
    lines = lines_of(collection, TWELVE, width, height)
    assert len(lines) <= height - 6
    assert max(map(len, lines)) <= width
    assert all(f" {number} " in "\n".join(lines) for number in range(1, 13))


@pytest.mark.parametrize("collection", [pictures(), texts("one\ntwo\n" * 50)])
def test_two_groups_fit_the_screen(collection: Collection) -> None:
    lines = lines_of(collection, SameGroups((0, 1, 2, 3, 4), (5, 6, 7)), 120, 40)
    assert len(lines) <= 34
    assert max(map(len, lines)) <= 120


def test_a_picture_keeps_its_proportions() -> None:
    wide = picture(png(60, 20), 24).plain.splitlines()
    tall = picture(png(20, 60), 24).plain.splitlines()
    assert len(wide) == 4 and {len(line) for line in wide} == {24}
    assert len(tall) == 12 and {line.count("▀") for line in tall} == {8}


def test_nothing_that_is_shown_can_steer_the_terminal() -> None:
    assert printable("a\x1b[2Jb\nc") == "a?[2Jb\nc"
    lines = lines_of(texts("\x1b[31mred [bold]"), SamePair(0, 1), 100, 40)
    assert "\x1b" not in "".join(lines)
    assert "red [bold]" in "".join(lines)


def test_the_menu_names_every_key_in_one_line() -> None:
    line = menu(FIVE).plain
    assert len(line) <= 120
    for words in (
        "1-5 ",
        "0 None of these",
        "u Not sure",
        "z Back",
        "s Skip",
        "q Finish",
        "? Help",
    ):
        assert words in line
    assert menu(SamePair(0, 1)).plain.startswith("y Same · n Different · u Not sure")
    assert "the same kind" in explained(SamePair(0, 1)).plain


def test_the_menu_says_how_several_are_named() -> None:
    line = menu(TWELVE).plain
    assert len(line) <= 120
    assert line.startswith("1-12 Type their numbers, then Enter · Enter All belong · u Not sure")
    assert menu(OddOnes((0,), (1,))).plain.startswith("1 Type its number, then Enter")
    assert "separated by spaces or commas" in explained(TWELVE).plain
    assert "Enter    nothing typed: all belong" in explained(TWELVE).plain


@pytest.mark.parametrize(
    ("typed", "choice"),
    [
        ("2 5", "2,5"),
        ("12, 3,3", "3,12"),
        (" 7 ", "7"),
        ("", "none"),
        ("0", "none"),
        ("none", "none"),
        ("u", "unsure"),
        (" ", "unsure"),
        ("z", BACK),
        ("s", SKIP),
        ("q", STOP),
    ],
)
def test_numbers_are_typed_as_people_do(
    monkeypatch: pytest.MonkeyPatch, typed: str, choice: str
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{typed}\n"))
    session = Session(pictures(), np.random.default_rng(0).normal(size=(26, 3)))
    with TerminalPerson(Screen(file=io.StringIO()), session) as person:
        assert person.answer(TWELVE) == choice


def test_numbers_that_are_not_there_are_refused_and_asked_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("2 13\n2 x\n?\n2\n"))
    screen = Screen(file=io.StringIO(), width=120)
    session = Session(pictures(), np.random.default_rng(0).normal(size=(26, 3)))
    with TerminalPerson(screen, session) as person:
        assert person.answer(TWELVE) == "2"
    written = screen.file
    assert isinstance(written, io.StringIO)
    assert "Expected numbers from 1-12, got '2 13'." in written.getvalue()
    assert "Expected numbers from 1-12, got '2 x'." in written.getvalue()
    assert "nothing typed: all belong" in written.getvalue()


@dataclass(frozen=True)
class HowOld(Question):
    """A kind of question that the terminal has never heard of."""

    kind: ClassVar[str] = "how-old"
    prompt: ClassVar[str] = "How old is this?"
    item: int = 0

    def items(self) -> tuple[int, ...]:
        return (self.item,)

    def choices(self) -> tuple[str, ...]:
        return ("young", "older", "unsure")

    def links(self, choice: str) -> tuple[Any, ...]:
        return ()

    def truthful(self, same: Any) -> str:
        return "unsure"

    def to_json(self, name: Any) -> dict[str, Any]:
        return {}

    @classmethod
    def from_json(cls, data: Any, position: Any) -> HowOld:
        return cls()


def test_a_new_kind_of_question_gets_keys_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    assert menu(HowOld()).plain.startswith("y Young · o Older · u Not sure")
    monkeypatch.setattr("sys.stdin", io.StringIO("o\n"))
    screen = Screen(file=io.StringIO())
    session = Session(pictures(), np.random.default_rng(0).normal(size=(26, 3)))
    with TerminalPerson(screen, session) as person:
        assert person.answer(HowOld()) == "older"


def test_the_person_can_go_back_and_finish(monkeypatch: pytest.MonkeyPatch) -> None:
    typed = "z\ny\nnonsense\n?\nn\nz\nu\ns\nq\n"
    monkeypatch.setattr("sys.stdin", io.StringIO(typed))
    screen = Screen(file=io.StringIO(), width=100)
    session = Session(pictures(), np.random.default_rng(0).normal(size=(26, 3)), strategy="random")
    with TerminalPerson(screen, session) as person:
        log = run(session, person)
    written = screen.file
    assert isinstance(written, io.StringIO)
    shown = written.getvalue()
    assert [answer.choice for answer in session.answers] == ["same", "unsure"]
    assert log.n_answers == 2 and person.finished
    assert "There is no answer to take back yet." in shown
    assert "'nonsense' is not one of the keys." in shown
    assert "there is nothing to confirm" in shown


def test_f_asks_for_more_items_like_the_one_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("f\n1\nq\n"))
    session = Session(pictures(), np.random.default_rng(0).normal(size=(26, 3)), strategy="random")
    asked = session.ask()
    assert asked is not None
    with TerminalPerson(Screen(file=io.StringIO(), width=100), session) as person:
        run(session, person)
    answer = session.answers[0]
    assert isinstance(answer.question, AllLike) and answer.choice == "1"
    assert answer.question.group == asked.question.items()[:1]


# -- a real terminal ------------------------------------------------------------------------------


PATIENCE = 300
"""Seconds after which something is taken never to happen, however busy the machine is."""


class Terminal:
    """``samekind ask`` in a pseudo terminal of 120 x 40."""

    def __init__(self, table: Path, ledger: Path, home: Path, *options: str) -> None:
        self.control, inside = pty.openpty()
        termios.tcsetwinsize(inside, (40, 120))
        self.before = termios.tcgetattr(inside)
        self.inside = inside
        self.process = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "samekind",
                "ask",
                str(table),
                "--ledger",
                str(ledger),
                *options,
            ],
            stdin=inside,
            stdout=inside,
            stderr=inside,
            start_new_session=True,
            preexec_fn=_take_terminal,
            env={
                "SAMEKIND_HOME": str(home),
                "TERM": "xterm-256color",
                "PYTHONPATH": ":".join([*sys.path, str(Path(__file__).parent)]),
            },
        )
        self.raw, self.seen = b"", ""

    def wait_for(self, words: str) -> str:
        """Read until the words appear, and return what came up to and with them."""
        until = time.monotonic() + PATIENCE
        while words not in self.seen:
            if not select.select([self.control], [], [], 1)[0]:
                going = self.process.poll() is None and time.monotonic() < until
                assert going, f"{words!r} did not appear; last was {self.seen[-200:]!r}"
                continue
            self.raw += os.read(self.control, 65536)
            self.seen = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", self.raw.decode("utf-8", "replace"))
        before, _, self.seen = self.seen.partition(words)
        self.raw = self.seen.encode()
        return before + words

    def press(self, keys: str) -> None:
        os.write(self.control, keys.encode())

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self.control)
        os.close(self.inside)


def _take_terminal() -> None:
    import fcntl

    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # tests in the background ignore it


@pytest.fixture
def terminal(tmp_path: Path, ledger: Path) -> Any:
    np.save(tmp_path / "clouds.npy", clouds(40)[0])
    opened = Terminal(tmp_path / "clouds.npy", ledger, tmp_path / "home")
    yield opened
    opened.close()


def choices(ledger: Path) -> list[str]:
    return [e.data["choice"] for e in open_store(ledger).read("main") if e.kind == "told"]


def test_one_key_is_an_answer_in_a_real_terminal(terminal: Terminal, ledger: Path) -> None:
    first = terminal.wait_for("Help")
    assert len(first.splitlines()) <= 40
    terminal.press("0")
    terminal.wait_for("Question 2")
    terminal.wait_for("Help")
    terminal.press("\x1b[A")  # an arrow key says nothing
    terminal.wait_for("That is not one of the keys.")
    terminal.wait_for("Help")
    terminal.press("1")
    terminal.wait_for("Question 3")
    terminal.wait_for("Help")
    terminal.press("q")
    terminal.wait_for("2 answers are saved")
    assert terminal.process.wait(PATIENCE) == 0
    assert choices(ledger) == ["none", "1"]
    assert termios.tcgetattr(terminal.inside)[3] == terminal.before[3]


@dataclass(frozen=True)
class AllLikeInTwentyFour:
    """Asks which of 24 items are the same kind, and nothing else."""

    def propose(self, view: View, n: int = 1) -> Sequence[Question]:
        p = [int(i) for i in view.rng.permutation(len(view.clustering.labels))]
        asked = AllLike(tuple(p[:3]), tuple(p[3:27]), why="A check.")
        return [asked] if asked.truthful(view.constraints.same) == "unsure" else []


def test_numbers_are_shown_while_they_are_typed_and_can_be_corrected(
    tmp_path: Path, ledger: Path
) -> None:
    np.save(tmp_path / "clouds.npy", clouds(40)[0])
    asking = ("--strategy", "test_terminal:AllLikeInTwentyFour")
    terminal = Terminal(tmp_path / "clouds.npy", ledger, tmp_path / "home", *asking)
    try:
        assert len(terminal.wait_for("Help").splitlines()) <= 40
        terminal.press("25\x7f4 5\n")  # 25, corrected to 24, and 5
        assert "24 5" in terminal.wait_for("Question 2").replace("25\b \b", "2")
        terminal.wait_for("Help")
        terminal.press("4u")  # not sure, whatever was typed before
        terminal.wait_for("Question 3")
        terminal.wait_for("Help")
        terminal.press("\n")
        terminal.wait_for("Question 4")
        terminal.wait_for("Help")
        terminal.press("q")
        terminal.wait_for("3 answers are saved")
        assert terminal.process.wait(PATIENCE) == 0
    finally:
        terminal.close()
    assert choices(ledger) == ["5,24", "unsure", "none"]


@pytest.mark.parametrize("by", ["key", "signal"])
def test_ctrl_c_ends_with_130_and_the_answers_are_saved(
    terminal: Terminal, ledger: Path, by: str
) -> None:
    terminal.wait_for("Help")
    terminal.press("0")
    terminal.wait_for("Question 2")
    terminal.wait_for("Help")
    if by == "key":
        terminal.press("\x03")
    else:
        os.kill(terminal.process.pid, signal.SIGINT)
    terminal.wait_for("All your answers are saved.")
    assert terminal.process.wait(PATIENCE) == 130
    assert choices(ledger) == ["none"]
    assert termios.tcgetattr(terminal.inside)[3] == terminal.before[3]


def test_an_answer_that_came_too_late_is_refused_in_words(
    monkeypatch: pytest.MonkeyPatch, ledger: Path
) -> None:
    X, _ = clouds(26)
    here, there = (Session(pictures(), X, store=open_store(ledger), seed=0) for _ in range(2))
    monkeypatch.setattr("sys.stdin", io.StringIO("1\nq\n"))
    screen = Screen(file=io.StringIO(), width=100, height=40)
    asked = here.ask()
    assert asked is not None
    tell, late = here.tell, [asked.number]

    def tell_late(number: int, choice: str, **more: Any) -> None:
        if late:  # somebody at another server is a moment quicker
            there.tell(late.pop(), "none", by="ben")
        tell(number, choice, **more)

    monkeypatch.setattr(here, "tell", tell_late)
    with TerminalPerson(screen, here) as person:
        log = run(here, person)
    assert log.n_answers == 0 and [a.by for a in here.answers] == ["ben"]
    assert isinstance(screen.file, io.StringIO)
    assert "answered by ben in the meantime" in screen.file.getvalue()


def test_agreement_is_printed_for_several_people(capsys: pytest.CaptureFixture[str]) -> None:
    from samekind.cli.ask import show_people

    X, _ = clouds(26)
    session = Session(pictures(), X, seed=0)
    show_people(session)
    assert capsys.readouterr().out == "", "nothing for one person alone"
    session.people = People(overlap=1.0)
    for name in ("anna", "ben"):
        asked = session.ask(by=name)
        assert asked is not None
        session.tell(asked.number, "1", by=name)
    show_people(session)
    said = capsys.readouterr().out
    assert "1 question was answered by two people, who agreed on 1." in said
    assert "anna" in said and "1 of 1" in said
