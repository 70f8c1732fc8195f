"""SIGKILL at random moments, with two servers and a terminal on one ledger."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from benchmarks.faults.outcome import Outcome
from benchmarks.gaussians import write_kinds
from benchmarks.people.checking import compare, summary
from benchmarks.people.crowd import PATIENCE, Person, Server, environment
from samekind.ledger.sql import SqlStore

NAMES = ("anna", "ben", "carla", "at the terminal")
KEYS, UNSURE = ("1", "0"), "u"
NOTHING_LEFT = "no more questions worth asking"
CHOICES = {"1": {"1", "same"}, "0": {"none", "different"}, UNSURE: {"unsure"}}
"""What the keys that are pressed at the terminal may mean."""
N_ITEMS, PAUSE, ALL_AT_ONCE = 4000, 1.0, 0.25
"""Longest pause before something is killed, and how often everything is killed at once."""


ROUNDS_PER_PILE = 10
"""Then another pile is begun, before this one is all answered."""


class Terminal:
    """``samekind ask`` in a process of its own, at which somebody presses keys at random."""

    def __init__(self, home: Path, pile: Path, ledger: str, name: str, seed: int) -> None:
        more = ("--ledger", ledger, "--by", name, "--seed", "0")
        self.command = [sys.executable, "-m", "samekind", "ask", str(pile), *more]
        self.home, self.ledger, self.name = home, ledger, name
        self.rng, self.lost = random.Random(seed), 0
        self.confirmed: list[str] = []
        """Keys whose answer was confirmed: the next question was shown, and no refusal."""
        self.start()

    def start(self) -> None:
        """Start it, and wait for its first question."""
        self.process = subprocess.Popen(
            self.command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=environment(self.home),
        )
        self.said: list[str] = []
        self.ready = threading.Event()
        self.reader = threading.Thread(target=self._answer, daemon=True)
        self.reader.start()
        begun = self.ready.wait(PATIENCE)
        ended = self.process.poll() is not None
        if not begun or (ended and not any(NOTHING_LEFT in line for line in self.said)):
            raise RuntimeError(f"The terminal did not begin: {''.join(self.said[-20:])}")

    def _answer(self) -> None:
        self.pressed, text = "", ""
        for line in self.process.stdout or ():
            self.said.append(line)
            text += f" {line.strip()}"  # a refusal may be longer than a line
            if "is not one of the keys" in line:  # a question of another kind
                self.pressed = UNSURE
                self._press(UNSURE)
            if not line.startswith("Question "):
                continue
            if self.pressed and "was not saved" not in text:
                self.confirmed.append(self.pressed)
            self.ready.set()
            self.pressed, text = self.rng.choice(KEYS), ""
            if not self._press(self.pressed):
                break
        self.ready.set()

    def _press(self, key: str) -> bool:
        try:
            assert self.process.stdin is not None
            self.process.stdin.write(f"{key}\n")
            self.process.stdin.flush()
        except (OSError, ValueError):
            return False
        return True

    def kill(self) -> None:
        """End it as a power cut would, and read what it had printed."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.reader.join(PATIENCE)
        with SqlStore(self.ledger) as store:
            told = [event.data for event in store.read("main") if event.kind == "told"]
        kept = [data["choice"] for data in told if data["by"] == self.name]
        self.lost = differing(self.confirmed, self.pressed, kept)


def differing(confirmed: list[str], pressed: str, kept: list[str]) -> int:
    """Count confirmed answers that the ledger does not hold, and answers nobody confirmed.

    The key pressed last is added to the confirmed ones if the ledger holds it already: a process
    may be killed after an answer was stored, and before it could say so.
    """
    if len(kept) == len(confirmed) + 1 and kept[-1] in CHOICES.get(pressed, ()):
        confirmed.append(pressed)
    pairs = zip(confirmed, kept, strict=False)
    wrong = sum(choice not in CHOICES[key] for key, choice in pairs)
    return wrong + abs(len(confirmed) - len(kept))


def doors(rounds: int, seed: int) -> Outcome:
    """People at two servers and at a terminal; one of the three, or all, are killed each round."""
    outcome = Outcome()
    for begun in range(0, rounds, ROUNDS_PER_PILE):
        outcome.add(_one_pile(min(ROUNDS_PER_PILE, rounds - begun), seed + begun))
    return outcome


def _one_pile(rounds: int, seed: int) -> Outcome:
    outcome, rng = Outcome(), random.Random(seed)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        home, pile, ledger = folder / "home", folder / "pile.npy", str(folder / "a.samekind")
        kinds = write_kinds(pile, N_ITEMS, 16, 4, seed)
        servers = [Server(home, pile, ledger, NAMES, "--seed", "0")]
        servers[0].wait()
        servers.append(Server(home, pile, ledger, NAMES, "--seed", "0"))
        servers[1].wait()
        terminal = Terminal(home, pile, ledger, NAMES[-1], seed)
        people = [
            Person(
                who,
                [servers[k % 2], servers[1 - k % 2]],
                lambda id: int(kinds[int(id.removeprefix("row-"))]),
                think=0.05,
                error=0.05,
                seed=seed * 100 + k,
            )
            for k, who in enumerate(NAMES[:-1])
        ]
        try:
            for person in people:
                person.start()
            for k in range(rounds):
                time.sleep(rng.uniform(0, PAUSE))
                everything = [*servers, terminal]
                at_once = rng.random() < ALL_AT_ONCE
                struck = everything if at_once else [rng.choice(everything)]
                _strike(struck)
                lost = terminal.lost
                outcome.note(not lost, f"round {k}: {lost} answers of the terminal")
            for person in people:
                person.stopped.set()
            for person in people:
                person.join(PATIENCE)
        finally:
            for one in (*servers, terminal):
                one.kill()
        _judge(outcome, ledger, people, terminal, servers)
    return outcome


def _strike(struck: list[Server | Terminal]) -> None:
    """Kill some processes, and start them again."""
    for one in struck:
        one.process.send_signal(signal.SIGKILL)
    for one in struck:
        if isinstance(one, Terminal):
            one.kill()
            one.start()
        else:
            one.restart()


def _judge(
    outcome: Outcome, ledger: str, people: list[Person], terminal: Terminal, servers: list[Server]
) -> None:
    """Compare the ledger with what people were told."""
    logs = {person.name: person.log for person in people}
    with SqlStore(ledger) as store:
        found = compare(store, "main", logs)
    lost = found["lost"] + found["doubled"] + found["answered_twice_by_one"]
    outcome.lost = lost + terminal.lost
    outcome.problems += [f"{name}: {found[name]}" for name in summary(found)]
    outcome.problems += [str(person.problem) for person in people if person.problem]
    outcome.problems += [line for server in servers for line in server.faults()][:5]
    if outcome.lost:
        outcome.problems.append(f"{outcome.lost} answers lost or doubled")
    outcome.figures = {
        "answers on the page": found["confirmed"],
        "answers at the terminal": len(terminal.confirmed),
        "refused, because someone else was quicker": sum(
            sum(log.refused.values()) for log in logs.values()
        ),
    }
