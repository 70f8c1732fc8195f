"""The small pile that the files of 0.1 are about, and how these files were made.

``PYTHONPATH=src:tests python tests/recorded/pile_of_files.py`` made them at commit 3e4e0db. They must
not be made again: a version that cannot read them breaks its promise to those who have such files.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from collections.abc import Sequence
from contextlib import chdir
from pathlib import Path
from typing import Any

import numpy as np
from making import HERE, one_core, private_home
from PIL import Image

from samekind.clusterers.live.portable import PortableHead
from samekind.encoders import Encoded, default_cache, encode_more
from samekind.exports import MANIFEST, OrientationFile, plan_export, run_export
from samekind.items import Collection
from samekind.ledger.store import open_store
from samekind.protocols import View
from samekind.questions import OddOnes, Question, SameGroups, SamePair, WhichGroup
from samekind.session import Session
from samekind.session.acts import merge, move, out, perform, split, together
from samekind.simulation.loop import run
from samekind.simulation.people import Truth
from samekind.sources import open_labelled
from samekind.workspace.orientation import orientation_of
from samekind.workspace.pile import Pile, open_pile
from samekind.workspace.polished_vectors import choose, keep, polished_folder, vectors_of
from samekind.workspace.predict import fitted_encoder, place_items

FILES = HERE / "files"
LEDGER = "answers.samekind"
ORIENTATION = "colour.orientation"
POLISH = "00c0ffee00c0ffee"
PLACEHOLDER = "@PILE@"
"""Stands in the kept manifest for the folder of the pile, which is another one in every test."""
ITEMS, HELD_OUT = 32, 12
WHEN = 1_700_000_000
"""When the first picture of the pile was changed, the next a second later: stamps are made of it."""


def write_pile(folder: Path) -> np.ndarray:
    """The first demo tiles as small files, always the same bytes; their colours as kinds."""
    labelled = open_labelled("tiles")
    _write(labelled.collection, ITEMS, folder)
    return labelled.truth("colour")[0][:ITEMS]


def write_held_out(folder: Path) -> None:
    """Other tiles, which no session has seen."""
    held_out = open_labelled("tiles").held_out
    assert held_out is not None
    _write(held_out, HELD_OUT, folder)


def _write(collection: Collection, n: int, folder: Path) -> None:
    folder.mkdir()
    for number, item in enumerate(collection[:n]):
        path = folder / f"{item.id}.png"
        picture: Image.Image = item.load()
        picture.reduce(3).save(path, compress_level=0)  # no packing, so that all zlibs agree
        os.utime(path, (WHEN + number, WHEN + number))


def facts_of(session: Session) -> dict[str, Any]:
    """All that a session knows, without sentences."""
    progress = session.progress()
    constraints, clustering = session.constraints, session.clustering
    name = session.positions.name
    return {
        "seed": session.seed,
        "settings": session.settings,
        "answers": [
            [a.number, a.question.kind, [name(i) for i in a.question.items()], a.choice, a.by,
             a.seconds, a.question.at_random]
            for a in session.answers
        ],
        "links": [
            [name(link.a), name(link.b), link.same] for a in session.answers for link in a.links
        ],
        "kinds": [[name(i) for i in kind] for kind in constraints.kinds],
        "labels": clustering.labels.tolist(),
        "names": {str(number): clustering.name(number) for number in clustering.numbers},
        "progress": {
            key: progress[key]
            for key in ("answers", "choices", "unsure", "seconds", "placed", "conflicts", "groups",
                        "items", "snapshot", "until_refit", "gone", "renamed", "quality")
        },
    }  # fmt: skip


def open_session(store: Any, name: str, pile: Pile) -> Session:
    """A session of the kept ledger, as a door opens it."""
    X = vectors_of(POLISH, pile.collection) if name == "polished" else pile.X
    return Session(pile.collection, X, store=store, name=name)


class Scripted:
    """A strategy that asks what it was given."""

    def __init__(self, questions: Sequence[Question]) -> None:
        self.questions = list(questions)

    def propose(self, view: View, n: int = 1) -> Sequence[Question]:
        return self.questions


def write_ledger(path: Path, pile: Pile, kinds: np.ndarray) -> None:
    """A ledger with every kind of event and of question."""
    store = open_store(path)
    settings = {"path": "pile", "encoder": "pixels", "method": "live", "strategy": "live"}
    session = Session(pile.collection, pile.X, store=store, seed=7, settings=settings)
    _scripted(session, kinds)
    run(session, Truth(kinds), 9)
    asked = session.ask()
    assert asked is not None
    session.skip(asked.number)
    session.refit()
    session.rename(session.clustering.numbers[0], "warm ☀ colours")
    session.rename(session.clustering.numbers[-1], "soon without a name")
    session.rename(session.clustering.numbers[-1], "")
    _by_hand(session)
    session.edit(2, next(c for c in session.asked(2).question.choices() if c != _told(session, 2)))
    session.undo(5)  # asked again later
    session.refit()
    polished = Session(pile.collection, pile.X, store=store, name="polished", seed=1)
    run(polished, Truth(kinds), 5)
    choose(store, "polished", POLISH)
    store.close()


def read_ledger(path: Path, pile: Pile) -> dict[str, Any]:
    """What a ledger adds up to as it was left, and after one more refit."""
    store = open_store(path)
    found = {}
    for name in store.sessions():
        session = open_session(store, name, pile)
        found[name] = {"left": facts_of(session)}
        session.refit()
        found[name]["refitted"] = facts_of(session)
    store.close()
    return found


def _told(session: Session, number: int) -> str:
    return next(a.choice for a in session.answers if a.number == number)


def _scripted(session: Session, kinds: np.ndarray) -> None:
    """Every kind of question that a strategy asks: answered rightly, unsure, and as a check."""
    where = [np.flatnonzero(kinds == kind).tolist() for kind in range(4)]
    one, two, three, four = where
    person, real = Truth(kinds), session.strategy
    checks: list[Question] = [
        WhichGroup(item, ((one[0],), (two[0],), (three[0],)), at_random=True)
        for item in (one[2], two[3], three[3], four[2], one[3], two[4])
    ]
    asked: list[Question] = [
        SamePair(one[0], one[1]), SamePair(one[0], two[0]), SamePair(three[0], four[0]),
        SameGroups((one[0], one[1]), (three[0],)), SameGroups((two[0],), (two[1], two[2])),
        OddOnes((three[0],), (three[1], four[1], three[2])), *checks,
    ]  # fmt: skip
    for position, question in enumerate(asked):
        session.strategy = Scripted([question])
        put = session.ask()
        assert put is not None and put.question == question, (put, question)
        unsure = position == 2
        choice = "unsure" if unsure else person.answer(question)
        session.tell(put.number, choice, by="you" if position % 2 else "me", seconds=1.5)
    session.strategy = real


def _by_hand(session: Session) -> None:
    """Merge, split, move, take out, put together; one of them taken back."""
    labels, numbers = session.clustering.labels, session.clustering.numbers
    members = {number: np.flatnonzero(labels == number).tolist() for number in numbers}
    large = max(members, key=lambda number: len(members[number]))
    others = [number for number in numbers if number != large]
    perform(session, split(session, large, members[large][:2]))
    perform(session, move(session, members[others[0]][-1:], large))
    perform(session, out(session, members[others[1]][-1:]), by="you")
    perform(session, together(session, members[large][3:5]))
    session.undo(perform(session, together(session, [0, 1])))
    perform(session, merge(session, others[-1], others[-2]))


def write_orientation(path: Path, pile: Pile, kinds: np.ndarray) -> None:
    """An orientation file from the live learner."""
    session = Session(pile.collection, pile.X, name="colour", seed=3)
    run(session, Truth(kinds), 15)
    session.refit()
    session.rename(session.clustering.numbers[0], "grün ✓")
    orientation_of(pile, session).save(path)


def placed_by(path: Path) -> dict[str, Any]:
    """Where an orientation file places the held-out tiles, and with which probabilities."""
    file = OrientationFile.load(path)
    items = open_pile("held-out", encoder="pixels").collection
    placed = place_items(file, items).items
    head = PortableHead.from_state(file.head_state)
    reader = fitted_encoder(file)
    before = Encoded(np.empty((0, len(head.mean)), np.float32), reader, (), np.empty(0, np.intp))
    strengths = head.predict(encode_more(before, items).X).strengths
    return {
        "groups": [[group.number, group.name, group.size] for group in file.groups],
        "about": [file.orientation, file.kind, file.encoder, file.fingerprint, file.method,
                  file.answers, file.items, file.seed, file.outside],
        "placed": [[p.id, p.group, p.name, p.fits] for p in placed],
        "confidence": [[p.confidence, p.strangeness] for p in placed],
        "probabilities": np.asarray(strengths, dtype=float).tolist(),
    }  # fmt: skip


def write_export(folder: Path, pile: Pile, kinds: np.ndarray) -> None:
    """Copies in folders with their manifest, in which a placeholder names the pile."""
    session = Session(pile.collection, pile.X, seed=3)
    run(session, Truth(kinds), 10)
    session.rename(session.clustering.numbers[0], "one / two: three")
    run_export(plan_export(pile.collection, session.clustering, folder))
    manifest = folder / MANIFEST
    here = json.dumps(str(Path("pile").absolute()))[1:-1]
    text = manifest.read_text(encoding="utf-8")
    assert here in text
    manifest.write_text(text.replace(here, PLACEHOLDER), encoding="utf-8")


def main() -> None:
    if (FILES / LEDGER).exists():
        sys.exit(f"{LEDGER} is there already. Files of 0.1 are kept.")
    expected: dict[str, Any] = {}
    with one_core(), private_home(), tempfile.TemporaryDirectory() as work, chdir(work):
        kinds = write_pile(Path("pile"))
        write_held_out(Path("held-out"))
        pile = open_pile("pile", encoder="pixels")
        shutil.copytree(default_cache(), FILES / "cache")
        expected["vectors"] = np.asarray(pile.X, dtype=float).tolist()
        rng = np.random.default_rng(5)
        better = rng.normal(size=(ITEMS, 6)) + 4 * np.eye(6)[kinds]
        keep(POLISH, pile.collection, better, {"method": "polish"})
        shutil.copytree(polished_folder(), FILES / "polished")
        write_ledger(FILES / LEDGER, pile, kinds)
        shutil.copy(FILES / LEDGER, LEDGER)  # opening it adds events
        expected["ledger"] = read_ledger(Path(LEDGER), pile)
        write_orientation(FILES / ORIENTATION, pile, kinds)
        expected["orientation"] = placed_by(FILES / ORIENTATION)
        write_export(FILES / "export", pile, kinds)
    text = json.dumps(expected, separators=(",", ":"), ensure_ascii=False)
    (FILES / "expected.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
