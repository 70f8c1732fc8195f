"""Names by what is on photos: how often the suggested name of a true group is right, and search.

``python -m benchmarks.page.naming --data FOLDER`` reads ``fruits.parquet`` and 2,500 pictures of
``cifar100-train-0.parquet`` (``--seed``) with EfficientNet-Lite2, takes the true kinds as groups,
and compares the names that would be suggested with those that would be right. The thresholds of
`workspace/object_names.py` and `workspace/word_search.py` were chosen on pictures of
``cifar100-test.parquet`` and on the fruits, so the fruits are no test of them.
"""

from __future__ import annotations

import io
import time
from argparse import ArgumentParser
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
from PIL import Image

from samekind.encoders.frozen.classes import classify
from samekind.encoders.frozen.efficientnet import LITE2, EfficientNetLite2
from samekind.workspace.object_names import telling_objects
from samekind.workspace.objects import Objects
from samekind.workspace.word_search import shown

N_SUGGESTED = 3
BATCH = 32


def _right(table: str) -> dict[str, set[str]]:
    lines = (line.split(":") for line in table.strip().splitlines())
    return {kind.strip(): {name.strip() for name in names.split(",")} for kind, names in lines}


FRUITS = _right("""
apple: apple, fruit
banana: banana, fruit
cherry: cherry, fruit
grape: grape, fruit
pepper: pepper, vegetable
tomato: tomato, fruit, vegetable
""")
COARSE = _right("""
aquatic_mammals: sea mammal
fish: fish
flowers: flower
food_containers: container, bottle, cup, bowl
fruit_and_vegetables: fruit, vegetable, food
household_electrical_devices: telephone, television, clock, lamp, computer
household_furniture: furniture
insects: insect
large_carnivores: big cat
large_man-made_outdoor_things: building
large_natural_outdoor_scenes: landscape
large_omnivores_and_herbivores: animal
medium_mammals: animal
non-insect_invertebrates: animal
people: person
reptiles: reptile
small_mammals: rodent
trees: tree
vehicles_1: vehicle
vehicles_2: vehicle
""")
FINE = _right("""
apple: apple, fruit
aquarium_fish: fish, goldfish, clownfish
baby: person
bear: bear
beaver: beaver, rodent
bed: bed, furniture
bee: bee, insect
beetle: beetle, insect
bicycle: bicycle
bottle: bottle
bowl: bowl
boy: person
bridge: bridge
bus: bus
butterfly: butterfly, insect
camel: camel
castle: castle, building
cattle: cattle, ox
chair: chair, furniture
chimpanzee: chimpanzee, ape
clock: clock
cockroach: cockroach, insect
couch: sofa, furniture
crab: crab, crustacean
crocodile: crocodile, alligator, reptile
cup: cup, coffee mug
dinosaur: dinosaur
dolphin: sea mammal
elephant: elephant
flatfish: fish
fox: fox
girl: person
hamster: hamster, rodent
house: building
keyboard: computer keyboard
lamp: lamp, table lamp
lawn_mower: lawn mower, machine
leopard: leopard, big cat
lion: lion, big cat
lizard: lizard, reptile
lobster: lobster, crustacean
man: person
motorcycle: motorcycle
mountain: mountain, landscape
mouse: rodent
mushroom: mushroom
orange: orange, fruit
orchid: flower
otter: otter
pear: fruit
pickup_truck: pickup truck, lorry
plate: plate of food
poppy: flower
porcupine: porcupine, rodent
rabbit: rabbit
ray: ray, fish
rocket: missile, spacecraft
rose: flower
seal: sea lion, sea mammal
shark: shark, fish
skunk: skunk
skyscraper: building
snail: snail
snake: snake, reptile
spider: spider
squirrel: squirrel, rodent
streetcar: tram
sunflower: flower
sweet_pepper: pepper, vegetable
table: table, dining table, furniture
tank: tank
telephone: telephone
television: television
tiger: tiger, big cat
tractor: tractor, farm machine
train: train
trout: fish
tulip: flower
turtle: turtle, reptile
wardrobe: wardrobe, furniture
whale: whale, sea mammal
wolf: wolf
woman: person
worm: worm
""")
"""For each kind, names that would be right; kinds without any word of the network are left out."""
MEANINGS = _right("""
streetcar: streetcar
truck: pickup_truck
bike: bicycle, motorcycle
seal: seal
serpent: snake
cow: cattle
bunny: rabbit
TV: television
cupboard: wardrobe
mower: lawn_mower
primate: chimpanzee
settee: couch
automobile: pickup_truck, bus
grizzly: bear
toadstool: mushroom
""")
"""Words that name no class, and the kinds that they mean."""


@dataclass(frozen=True)
class Stored:
    """A picture in a table."""

    data: bytes

    def load(self) -> Any:
        return Image.open(io.BytesIO(self.data))


def open_photos(file: Path, columns: list[str], n: int, seed: int) -> tuple[Objects, Any]:
    """What the network sees on some pictures of a table, and their kinds by column."""
    table = pq.read_table(file)
    some = np.sort(np.random.default_rng(seed).permutation(table.num_rows)[:n])
    table = table.take(some)
    encoder, pictures = EfficientNetLite2(), [Stored(data) for data in table["image"].to_pylist()]
    rows = [encoder.read(pictures[k : k + BATCH]) for k in range(0, len(pictures), BATCH)]  # type: ignore[arg-type]
    return Objects(classify(np.vstack(rows), LITE2)), {c: np.array(table[c]) for c in columns}


def judge_names(title: str, objects: Objects, kinds: Any, right: Mapping[str, set[str]]) -> None:
    """Print how many true groups get a right name first, and among the first three."""
    first = any_right = nothing = 0
    for kind in sorted(set(kinds)):
        inside, outside = np.flatnonzero(kinds == kind), np.flatnonzero(kinds != kind)
        found = [name for name, _ in telling_objects(objects, inside, outside)][:N_SUGGESTED]
        good = [name in right.get(kind, ()) for name in found]
        first, any_right = first + (good[:1] == [True]), any_right + any(good)
        nothing += not found
        print(f"  {kind}: {', '.join(found) or '-'}{'' if any(good) else '   (wrong)'}")
    n = len(set(kinds))
    counts = f"{first} right first, {any_right} among {N_SUGGESTED}, {nothing} without any"
    print(f"{title}: {n} groups, {counts}")


def judge_search(objects: Objects, kinds: Any) -> None:
    """Print precision and recall of searches for kinds that are classes, and for other words."""
    exact, near = [], []
    words = {kind.replace("_", " "): {kind} for kind in sorted(set(kinds))}
    for word, meant in [*words.items(), *MEANINGS.items()]:
        found = shown(objects, word, by_meaning=word in MEANINGS)
        if found.exact or found.near:
            hits = int(np.isin(kinds[found.photos], list(meant)).sum())
            total = int(np.isin(kinds, list(meant)).sum())
            (exact if found.exact else near).append((hits, int(found.photos.sum()), total))
        elif word in MEANINGS:
            print(f"  {word}: no class is near")
    for title, rows in (("classes", exact), ("other words", near)):
        shares = [hits / n for hits, n, _ in rows if n]
        recall = np.mean([hits / total for hits, _, total in rows])
        print(
            f"search for {title}: {len(rows)} words, {len(shares)} find any, mean precision "
            f"{np.mean(shares):.2f}, mean recall {recall:.2f}"
        )


def main() -> None:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--n", type=int, default=2500)
    given = parser.parse_args()
    begun = time.monotonic()
    fruits, kinds = open_photos(given.data / "fruits.parquet", ["species_name"], 1200, given.seed)
    judge_names("fruits, species", fruits, kinds["species_name"], FRUITS)
    file = given.data / "cifar100-train-0.parquet"
    photos, kinds = open_photos(file, ["coarse_name", "fine_name"], given.n, given.seed)
    judge_names("cifar100, coarse", photos, kinds["coarse_name"], COARSE)
    judge_names("cifar100, fine", photos, kinds["fine_name"], FINE)
    judge_search(photos, kinds["fine_name"])
    print(f"{time.monotonic() - begun:.0f} s")


if __name__ == "__main__":
    main()
