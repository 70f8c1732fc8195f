"""Tickets: written messages to a help desk, which can be sorted by topic, tone or product."""

from __future__ import annotations

import hashlib

import numpy as np

from samekind.items import Collection
from samekind.sources.files.texts import TextItem
from samekind.sources.sets.labelled import LabelledSet

TOPICS = {
    "delivery": (
        "the parcel has not arrived", "the courier left it at the wrong door",
        "tracking has not moved since Monday", "the box came a week late",
    ),
    "payment": (
        "my card was charged twice", "the invoice shows the wrong amount",
        "the refund is still missing", "the discount was not taken off",
    ),
    "fault": (
        "it stopped working after an hour", "the screen stays black", "it makes a grinding noise",
        "the battery does not hold its charge",
    ),
    "account": (
        "I cannot log in any more", "the password mail never comes",
        "my profile shows another name", "please close my account",
    ),
    "advice": (
        "which size would you suggest", "does it fit an older model",
        "how do I clean it properly", "can it be used outdoors",
    ),
}  # fmt: skip
TONES = {
    "angry": (
        "This is unacceptable.", "I am really fed up.", "Worst service ever!", "Sort it out now.",
    ),
    "polite": (
        "Many thanks in advance.", "Could you kindly have a look?", "I would be grateful for help.",
        "Sorry to trouble you.",
    ),
    "brief": ("Please reply.", "Any news?", "Thanks.", "Waiting."),
}  # fmt: skip
PRODUCTS = {
    "lamp": ("the desk lamp", "the reading light", "the floor lamp"),
    "kettle": ("the kettle", "the electric water boiler", "the tea kettle"),
    "bicycle": ("the bike", "the city bicycle", "the folding bike"),
    "headphones": ("the headphones", "the earbuds", "the wireless headset"),
}
OPENINGS = ("Hello,", "Hi there,", "Good morning,", "Dear team,", "To whom it may concern,", "")
FRAMES = ("About {p}: {t}.", "I ordered {p} and {t}.", "It is about {p}, {t}.", "{p}, {t}.")


def tickets(seed: int = 0) -> LabelledSet:
    """500 composed messages as texts: topic (5), tone (3), product (4)."""
    rng = np.random.default_rng([seed, 53])
    kinds = {
        "topic": rng.choice(list(TOPICS), 500),
        "tone": rng.choice(list(TONES), 500),
        "product": rng.choice(list(PRODUCTS), 500),
    }
    items = []
    for k in range(500):
        topic, tone, product = (str(kinds[name][k]) for name in ("topic", "tone", "product"))
        frame = str(rng.choice(FRAMES))
        said = frame.format(p=rng.choice(PRODUCTS[product]), t=rng.choice(TOPICS[topic]))
        parts = [
            str(rng.choice(OPENINGS)),
            said[0].upper() + said[1:],
            str(rng.choice(TONES[tone])),
        ]
        text = " ".join(part for part in parts if part)
        stamp = hashlib.blake2b(text.encode(), digest_size=8).hexdigest()
        items.append(TextItem(f"ticket-{k:04d}", text=text, stamp=stamp))
    return LabelledSet("tickets", Collection("tickets", items, location="tickets"), kinds)
