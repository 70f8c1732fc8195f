"""Drawn animals of 37 breeds, for everything about many groups."""

from __future__ import annotations

import colorsys
import io

import numpy as np
from PIL import Image, ImageDraw

from samekind.items import Collection, Item, Preview
from samekind.ledger.store import MemoryStore
from samekind.questions import WhichGroup
from samekind.session import Session
from samekind.simulation.people import Truth

NAMES = (
    "Abyssinian", "Akita", "Basenji", "Beagle", "Bengal", "Birman", "Bombay", "Boxer", "Briard",
    "Chihuahua", "Collie", "Corgi", "Dachshund", "Dalmatian", "Greyhound", "Havanese", "Husky",
    "Korat", "Leonberger", "Maine Coon", "Manx", "Mastiff", "Newfoundland", "Ocicat", "Persian",
    "Pomeranian", "Poodle", "Pug", "Ragdoll", "Samoyed", "Scottish Fold", "Scottish Terrier",
    "Shiba Inu", "Siamese", "Sphynx", "Whippet", "Yorkshire Terrier",
)  # fmt: skip
PER_BREED = 8
KINDS = np.arange(len(NAMES) * PER_BREED) % len(NAMES)


class Animal(Item):
    """A polygon in the colour of its breed, turned a little."""

    kind = "image"

    def __init__(self, number: int) -> None:
        self.id = f"animal-{number:03d}"
        self.breed, self.turn = int(KINDS[number]), 11 * number

    def load(self) -> Image.Image:
        picture = Image.new("RGB", (96, 96), "#f4f1ea")
        hue = self.breed / len(NAMES)
        colour = tuple(round(255 * c) for c in colorsys.hsv_to_rgb(hue, 0.7, 0.85))
        draw = ImageDraw.Draw(picture)
        draw.regular_polygon((48, 48, 38), 3 + self.breed % 5, self.turn, fill=colour)
        draw.ellipse((42, 42, 54, 54), fill="#f4f1ea" if self.breed % 2 else "#222222")
        return picture

    def preview(self) -> Preview:
        out = io.BytesIO()
        self.load().save(out, "PNG")
        return Preview("image/png", out.getvalue())


def breeds(store: MemoryStore, name: str = "main") -> Session:
    """A session about the animals."""
    rng = np.random.default_rng(37)
    centres = rng.normal(size=(len(NAMES), 16))
    X = centres[KINDS] + rng.normal(scale=0.25, size=(len(KINDS), 16))
    animals: list[Item] = [Animal(k) for k in range(len(KINDS))]
    return Session(Collection("Animals", animals), X, store=store, name=name, seed=0)


def until_all_groups(session: Session, n: int = WhichGroup.many_groups) -> tuple[int, WhichGroup]:
    """Answer truly until `n` groups are shown, all there are; returns the open question."""
    while (asked := session.ask()) is not None:
        question = asked.question
        if isinstance(question, WhichGroup) and question.all_groups and len(question.groups) >= n:
            return asked.number, question
        session.tell(asked.number, Truth(KINDS).answer(question))
        if session.due:
            session.refit()
    raise AssertionError("There is no such question.")
