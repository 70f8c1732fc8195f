"""What is on photos, by the classes of the network: suggested names, and search by words."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import sklearn
from PIL import Image

from samekind.encoders.frozen import classes, efficientnet
from samekind.encoders.frozen.classes import classify, concepts, concepts_of_classes, photo_classes
from samekind.encoders.frozen.efficientnet import FEATURES, LITE0, EfficientNetLite0
from samekind.encoders.frozen.lite_weights import read_state
from samekind.workspace import word_search
from samekind.workspace.item_search import find_items
from samekind.workspace.name_suggestions import suggest_names
from samekind.workspace.objects import Objects, objects_of
from samekind.workspace.pile import Pile, Request
from samekind.workspace.word_search import shown

pytestmark = pytest.mark.skipif(not LITE0.installed, reason="the weights are not installed")
NUMBER = {one.name: number for number, one in enumerate(photo_classes())}
ON_PHOTOS = ("banana", "beagle", "Siamese cat", "toy poodle")
"""What the faked network sees, by the brightness of a photo."""


def features_of(*names: str) -> np.ndarray[Any, np.dtype[np.float32]]:
    """Features that the real last layer takes for these classes."""
    rows = read_state(LITE0.path())["_fc.weight"][[NUMBER[name] for name in names]]
    return np.asarray(40 * rows / (rows**2).sum(axis=1, keepdims=True), dtype=np.float32)


@pytest.fixture
def network(monkeypatch: pytest.MonkeyPatch) -> None:
    """A network that sees one of four things, by the brightness of a photo."""

    def see(images: Any) -> Any:
        bright = images.reshape(len(images), -1).mean(axis=1)
        return features_of(*(ON_PHOTOS[int(level // 64)] for level in bright))

    monkeypatch.setattr(efficientnet, "open_network", lambda *args, **options: see)


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    """Five photos each of bananas, beagles, Siamese cats and toy poodles, called in no order."""
    folder = tmp_path / "photos"
    folder.mkdir()
    for k in range(20):
        grey = 20 + 64 * (k % 4)
        picture = Image.new("RGB", (24, 24), (grey, grey, grey))
        picture.putpixel((k, 0), (0, 0, 0))
        picture.save(folder / f"IMG_{k:02}.png")
    return folder


@pytest.fixture
def opened(photos: Path, network: None) -> Callable[..., tuple[Pile, Any]]:
    def open_with(encoder: str = "efficientnet-lite0") -> tuple[Pile, Any]:
        request = Request(str(photos), encoder=encoder, bursts=False)
        pile = request.pile(request.items())
        return pile, request.session(pile, request.store())

    return open_with


def grouped(session: Any, labels: Any) -> Any:
    """Enough of a session to name its groups."""
    clustering = SimpleNamespace(
        labels=labels, names={}, members=lambda group: np.flatnonzero(labels == group)
    )
    return SimpleNamespace(clustering=clustering, collection=session.collection, seed=1)


def test_the_classes_are_in_the_order_of_the_network() -> None:
    assert len(photo_classes()) == 1000
    known = {0: "tench", 100: "black swan", 207: "golden retriever", 281: "tabby cat"}
    known |= {340: "zebra", 398: "abacus", 574: "golf ball", 779: "school bus", 954: "banana"}
    assert {number: photo_classes()[number].name for number in known} == known
    image = Image.open(Path(sklearn.__file__).parent / "datasets" / "images" / "china.jpg")
    features = EfficientNetLite0().read([SimpleNamespace(load=lambda: image)])  # type: ignore[list-item]
    seen = (classify(features, LITE0) @ concepts_of_classes()).toarray()[0]
    assert concepts()[int(seen.argmax())] == "building"
    assert {"bell tower", "palace"} <= {concepts()[k] for k in np.argsort(-seen)[:8]}


def test_probabilities_are_those_of_the_last_layer_and_unknown_photos_have_none() -> None:
    rng = np.random.default_rng(0)
    features = np.vstack([rng.random((3, FEATURES)), np.full(FEATURES, np.nan)]).astype(np.float32)
    state = read_state(LITE0.path())
    scores = features[0] @ state["_fc.weight"].T + state["_fc.bias"]
    p = np.exp(scores) / np.exp(scores).sum()
    found = classify(features, LITE0).toarray()
    best = np.argsort(-p)[: classes.N_TOP]
    assert np.allclose(found[0, best], p[best], rtol=1e-4)
    assert (found[0] > 0).sum() == classes.N_TOP and not found[3].any()
    assert Objects(classify(features, LITE0)).known.tolist() == [True, True, True, False]
    assert classify(features[:0], LITE0).shape == (0, 1000)


def test_objects_come_from_stored_features_once_and_only_from_the_network(
    opened: Callable[..., tuple[Pile, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    pile, _ = opened()
    monkeypatch.setattr(EfficientNetLite0, "read", None)  # no photo is looked at again
    monkeypatch.setattr("samekind.workspace.objects.CHUNK", 6)  # 20 photos in four parts
    objects = objects_of(pile)
    assert objects is not None and objects_of(pile) is objects
    top = np.asarray(objects.classes.argmax(axis=1)).ravel()
    assert [photo_classes()[k].name for k in top] == list(ON_PHOTOS) * 5
    assert objects_of(opened("pixels")[0]) is None and objects_of(None) is None


def test_groups_are_named_by_what_is_on_their_photos_and_less_on_others(
    opened: Callable[..., tuple[Pile, Any]],
) -> None:
    pile, session = opened()
    objects = objects_of(pile)
    kinds = np.arange(20) % 4  # bananas, beagles, cats, poodles
    each = grouped(session, kinds)
    names = [[one.name for one in suggest_names(each, k, objects)] for k in range(4)]
    assert [one[0] for one in names] == ["Banana", "Beagle", "Siamese cat", "Toy poodle"]
    assert names[2][1] == "Cat", "a wider word comes after the name"
    dogs = grouped(session, np.where(kinds == 3, 1, kinds))
    first, *_ = suggest_names(dogs, 1, objects)
    assert first.name == "Dog" and "certainty" in first.why, "breeds have a wider word in common"
    dogs.clustering.names[0] = "dog"
    assert "Dog" not in [one.name for one in suggest_names(dogs, 1, objects)], "it is taken"
    assert suggest_names(dogs, 1) == [], "nothing is in the names of the files"


def found(session: Any, text: str, objects: Objects | None) -> tuple[list[int], str]:
    result = find_items(session, text, objects=objects)
    return result.positions.tolist(), result.words


def test_words_find_photos_by_what_is_on_them(opened: Callable[..., tuple[Pile, Any]]) -> None:
    pile, session = opened()
    objects = objects_of(pile)
    places = np.arange(20)
    for text, kinds in {"Dogs": (1, 3), "siamese cat": (2,), "animal": (1, 2, 3)}.items():
        positions, words = found(session, text, objects)
        assert positions == places[np.isin(places % 4, kinds)].tolist(), text
        assert words.endswith("what the network sees on them."), "there is nothing to add"
    assert found(session, "dog img_13.png", objects)[0] == [13], "one word seen, one in the name"
    assert found(session, "dog img_12.png", objects)[0] == []
    positions, words = found(session, "dog", None)
    assert positions == [] and "not known in words" in words


def test_a_word_without_a_class_finds_what_is_near_it_or_says_that_nothing_is(
    opened: Callable[..., tuple[Pile, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    if not word_search.minilm.installed():
        pytest.skip("the language network is not installed")
    few = ("dog", "poodle", "animal", "cat", "beagle", "hound", "banana", "tree frog", "fruit")
    some = word_search._vectors(few)  # all names would take seconds
    vectors = np.zeros((len(concepts()), some.shape[1]), dtype=np.float32)
    vectors[[concepts().index(name) for name in few]] = some
    word_search.class_vectors.cache_clear()
    monkeypatch.setattr(word_search, "concept_vectors", lambda: vectors)
    pile, session = opened()
    objects = objects_of(pile)
    try:
        positions, words = found(session, "puppy", objects)
        assert positions and {k % 4 for k in positions} <= {1, 3}
        assert "no class “puppy”; nearest to it: dog and" in words
        positions, words = found(session, "grandmother", objects)
        assert positions == [] and words.endswith("No class of the network is near “grandmother”.")
        assert objects is not None
        assert "tree frog" not in shown(objects, "tree").near, "which is no tree"
        positions, words = found(session, "img_07", objects)
        assert positions == [7] and "near" not in words, "it is in a name"
    finally:
        word_search.class_vectors.cache_clear()


def test_the_vectors_of_names_are_stored_and_damage_is_noticed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    if not word_search.minilm.installed():
        pytest.skip("the language network is not installed")
    monkeypatch.setenv("SAMEKIND_HOME", str(tmp_path))
    made: list[int] = []

    def fake(texts: Any) -> Any:
        made.append(len(texts))
        return np.full((len(texts), word_search.minilm.FEATURES), 0.5, dtype=np.float32)

    monkeypatch.setattr(word_search, "_vectors", fake)
    compute = word_search.concept_vectors.__wrapped__
    assert np.array_equal(compute(), compute()) and made == [len(concepts())]
    (stored,) = (tmp_path / "cache" / "models").glob("class-names-*.npy")
    stored.write_bytes(b"damaged")
    assert compute().shape == (len(concepts()), 384) and len(made) == 2
