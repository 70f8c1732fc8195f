"""Whether what a session says about its quality holds, for careful, erring and lazy people.

    python -m benchmarks.checks.statements run statements.jsonl --minutes 5
    python -m benchmarks.checks.statements show statements.jsonl

``run`` simulates sessions on drawn piles and on those of scikit-learn, and appends one row per
session; rows that are there are not made again. ``show`` prints, for each sort of person, how often
the interval holds the true accuracy, how far the stated fit of groups is from the truth, how many
slips are found, when stopping is suggested, and how often that is wrong: the next 20 answers would
have put more than 1 % of the items in place, or the person does not answer carefully.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.checks.piles import SHIPPED, Pile, pile_named
from samekind.protocols import Oracle
from samekind.questions import UNSURE, Question
from samekind.session import Session
from samekind.session.quality import group_fits
from samekind.session.review import doubtful_answers
from samekind.simulation.curve_recorder import in_place
from samekind.simulation.people import Noisy, Truth
from samekind.sources.files.rows import RowCollection, Rows

ANSWERS, EVERY, AHEAD = 60, 5, 20
CAREFUL = ("perfect", "5 % wrong", "10 % wrong")
LAZY = ("always first", "first after 8", "mostly first after 8", "random after 8")
ROUNDING = 0.005
"""Shares are stated in whole percent."""


@dataclass
class Careless:
    """A person who is careful for some answers, and then presses keys."""

    careful: Oracle
    after: int
    habit: float
    seed: int
    given: int = 0
    rng: np.random.Generator = field(init=False)

    def __post_init__(self) -> None:
        self.rng = np.random.default_rng((self.seed, 4))

    def answer(self, question: Question) -> str:
        """The true choice at first, then the first one, or with the other probability any."""
        self.given += 1
        if self.given <= self.after:
            return self.careful.answer(question)
        choices = [choice for choice in question.choices() if choice != UNSURE]
        first = self.rng.random() < self.habit
        return choices[0] if first else str(self.rng.choice(choices))


def person_of(name: str, pile: Pile, seed: int) -> Oracle:
    """A simulated person by the name in the rows."""
    truth = Truth(pile.kinds)
    seed = 1000 * seed + len(pile.kinds)
    if name in CAREFUL:
        rate = {"perfect": 0.0, "5 % wrong": 0.05, "10 % wrong": 0.1}[name]
        return Noisy(truth, rate, seed) if rate else truth
    after = 0 if name == "always first" else 8
    return Careless(truth, after, {"m": 0.8, "r": 0.0}.get(name[0], 1.0), seed)


def simulate(name: str, person: str, seed: int) -> dict[str, Any]:
    """Simulate a session, and note after every refit what it says and what is true."""
    pile = pile_named(name)
    rows = Rows(pile.X, keys=[f"item-{k}" for k in range(len(pile.X))])
    session = Session(RowCollection(name, rows, location=name, ready=True), pile.X, seed=seed)
    who = person_of(person, pile, seed)
    points = []
    while len(session.answers) < ANSWERS:
        asked = session.ask()
        if asked is None:
            break
        session.tell(asked.number, who.answer(asked.question))
        if len(session.answers) % EVERY == 0:
            session.refit()
            points.append(point(session, pile))
    if len(session.answers) % EVERY:  # nothing was left to ask
        session.refit()
        points.append(point(session, pile))
    return {"pile": name, "items": len(pile.X), "person": person, "seed": seed, "points": points}


def point(session: Session, pile: Pile) -> dict[str, Any]:
    """What the session says now, and the truth."""
    said, labels = session.progress(), session.clustering.labels
    truth = Truth(pile.kinds)
    wrong = {
        a.number for a in session.answers if a.choice not in (UNSURE, truth.answer(a.question))
    }
    listed = {odd.number for odd in doubtful_answers(session)}
    fits = group_fits(session.clustering, session.quality)
    groups = [
        [
            round(fit, 3),
            round(_commonest(pile.kinds[labels == number]), 3),
            int(sum(labels == number)),
        ]
        for number, fit in fits.items()
        if fit is not None
    ]
    found = said["quality"] or {}
    return {
        "answers": len(session.answers),
        "truth": round(in_place(session, pile.kinds), 4),
        **{name: found.get(name) for name in ("share", "low", "high", "checks", "slips")},
        "gain": None if said["gain"] is None else said["gain"]["share"],
        "enough": said["enough"],
        "notice": said["notice"],
        "wrong": len(wrong),
        "found": len(wrong & listed),
        "false": len(listed - wrong),
        "groups": groups,
    }


def _commonest(kinds: Any) -> float:
    """Share of the commonest kind of a group: what of it can belong together."""
    return float(np.bincount(kinds).max() / len(kinds))


def wanted(first: int) -> Iterator[tuple[str, str, int]]:
    """Sessions in the order in which they are simulated: every sort of person early."""
    piles = [*SHIPPED, *(f"drawn-{first + k}" for k in range(500))]
    for k, name in enumerate(piles):
        for person in CAREFUL:
            yield name, person, k
        yield name, LAZY[k % len(LAZY)], k


def run(file: Path, minutes: float, first: int) -> None:
    """Simulate sessions for some minutes."""
    lines = file.read_text().splitlines() if file.exists() else []
    done = {(row["pile"], row["person"], row["seed"]) for row in map(json.loads, lines)}
    until = time.monotonic() + 60 * minutes
    with file.open("a") as out:
        for key in wanted(first):
            if time.monotonic() > until:
                return
            if key not in done:
                out.write(json.dumps(simulate(*key)) + "\n")
                out.flush()


def show(file: Path) -> None:
    """Print the figures of all rows."""
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    for person in (*CAREFUL, *LAZY):
        some = [row for row in rows if row["person"] == person]
        if some:
            print(f"{person}: {len(some)} sessions. {_statements(some)}")
            print(f"    {_advice(some, person in LAZY)}")
            if person in CAREFUL:
                print(f"    {_slips(some)}")


def _statements(rows: Sequence[dict[str, Any]]) -> str:
    points = [p for row in rows for p in row["points"]]
    stated = [p for p in points if p["share"] is not None]
    noticed = [row for row in rows if any(p["notice"] for p in row["points"])]
    text = f"Noticed in {len(noticed)}. "
    if not stated:
        return text + "Nothing stated."
    held = [p["low"] - ROUNDING <= p["truth"] <= p["high"] + ROUNDING for p in stated]
    off = np.array([p["share"] - p["truth"] for p in stated])
    text += (
        f"Interval holds the truth in {100 * np.mean(held):.0f} % of {len(stated)} statements, "
        f"mean width {np.mean([p['high'] - p['low'] for p in stated]):.2f}, "
        f"bias {off.mean():+.3f}. "
    )
    groups = np.array([group for p in stated for group in p["groups"]])
    bias = np.average(groups[:, 0] - groups[:, 1], weights=groups[:, 2])
    return text + f"Fit of groups: bias {bias:+.3f} over {len(groups)} groups."


def _advice(rows: Sequence[dict[str, Any]], lazy: bool) -> str:
    first, wrong, good, good_told = [], 0, 0, 0
    for row in rows:
        truth = {p["answers"]: p["truth"] for p in row["points"]}
        told = next((p["answers"] for p in row["points"] if p["enough"]), None)
        good += row["points"][-1]["truth"] >= 0.97
        if told is not None:
            first.append(told)
            later = truth.get(told + AHEAD, row["points"][-1]["truth"])
            wrong += lazy or later - truth[told] > 0.01
            good_told += row["points"][-1]["truth"] >= 0.97
    when = f"after {np.median(first):.0f} answers (median)" if first else "never"
    return (
        f"Stopping suggested in {len(first)}, {when}; wrong in {wrong} "
        f"({100 * wrong / len(rows):.1f} % of sessions); in {good_told} of {good} that end above "
        "97 %."
    )


def _slips(rows: Sequence[dict[str, Any]]) -> str:
    last = [p for row in rows for p in row["points"] if p["answers"] in (40, ANSWERS)]
    easy = [p for p in last if p["share"] is not None and p["share"] >= 0.85]
    wrong, found, false = (sum(p[name] for p in easy) for name in ("wrong", "found", "false"))
    return (
        f"Where at least 85 % are stated to be right: {found} of {wrong} slips listed, and {false} "
        f"right answers ({len(easy)} looks)."
    )


def main() -> None:
    """Run or show."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("action", choices=("run", "show"))
    parser.add_argument("rows", type=Path)
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--first", type=int, default=1000, help="number of the first drawn pile")
    given = parser.parse_args()
    if given.action == "run":
        run(given.rows, given.minutes, given.first)
    show(given.rows)


if __name__ == "__main__":
    main()
