"""Sets of texts with two labelings each: small talk in four languages, and rated snippets."""

from __future__ import annotations

import html
import io
import tarfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from samekind.errors import MissingExtra
from samekind.items import Collection, Item
from samekind.sources.files.plain_text import decode
from samekind.sources.files.texts import TextItem
from samekind.sources.sets.checksums import check_content, check_file, content_sum
from samekind.sources.sets.labelled import LabelledSet
from samekind.sources.sets.locations import data_folder, missing, packaged

LANGUAGES = ("english", "italian", "korean", "ukrainian")
TOPICS = ("ai", "emotion", "literature", "money", "psychology", "science")
"""Topics with at least 25 conversations in each language."""
TALK_SUM = "138994de89c5395534b8a8b3bdd4088d788abfb321e06aa8891742d64852ea83"
SNIPPETS = "vaderSentiment-3.3.2.tar.gz"
SNIPPETS_SUM = "5d7c06e027fc8b99238edb0d53d970cf97066ef97654009890b83703849632f9"
SOURCES = {
    "product reviews": "amazonReviewSnippets",
    "film reviews": "movieReviewSnippets",
    "newspaper": "nytEditorialSnippets",
    "tweets": "tweets",
}
MIN_RATING = 1.0
"""Mean rating (of 20 people, from -4 to 4) from which a snippet counts as good or bad."""
SNIPPETS_PER_KIND = 150
"""Snippets of each source and tone."""


def small_talk(seed: int = 0) -> LabelledSet:
    """Short conversations as texts: language (4), topic (6). Needs the extra 'sets'.

    From the package chatterbot-corpus (BSD). The language is obvious from the words, the topic is
    not. Always the same, whatever the seed.
    """
    folder = packaged("small-talk", "chatterbot_corpus", "data")
    texts: list[str] = []
    kinds: list[tuple[str, str]] = []
    for language in LANGUAGES:
        for topic in TOPICS:
            talks = _conversations(folder / language / f"{topic}.yml")
            texts += talks
            kinds += [(language, topic)] * len(talks)
    found = content_sum([*texts, *(f"{language} {topic}" for language, topic in kinds)])
    check_content("chatterbot-corpus", found, TALK_SUM, "1.3.3")
    return _labelled("small-talk", texts, kinds, ("language", "topic"))


def snippets(seed: int = 0, data: str | Path | None = None) -> LabelledSet:
    """1,200 English snippets as texts: source (4), tone (2). From vaderSentiment-3.3.2.tar.gz.

    Hutto and Gilbert (2014), in the source archive of the package (MIT), but not in the installed
    package: ``pip download --no-deps --no-binary :all: vaderSentiment==3.3.2``. 150 of each
    source and tone, drawn once; always the same, whatever the seed.
    """
    path = data_folder(data) / SNIPPETS
    if not path.is_file():
        how = "pip download --no-deps --no-binary :all: vaderSentiment==3.3.2"
        raise missing("snippets", f"the file {SNIPPETS}", data, f"Get it with: {how}")
    check_file(path, SNIPPETS_SUM)
    rng = np.random.default_rng(0)
    texts: list[str] = []
    kinds: list[tuple[str, str]] = []
    for source, rated in _rated(path).items():
        for tone, sign in (("good", 1), ("bad", -1)):
            clear = [text for rating, text in rated if sign * rating >= MIN_RATING]
            drawn = np.sort(rng.choice(len(clear), SNIPPETS_PER_KIND, replace=False))
            texts += [clear[place] for place in drawn]
            kinds += [(source, tone)] * SNIPPETS_PER_KIND
    return _labelled("snippets", texts, kinds, ("source", "tone"))


def _labelled(
    name: str, texts: Sequence[str], kinds: Sequence[tuple[str, str]], columns: tuple[str, str]
) -> LabelledSet:
    """Texts in random order, with ids by that order."""
    order = np.random.default_rng(0).permutation(len(texts))
    items: list[Item] = [
        TextItem(f"text-{number:04d}", text=texts[place]) for number, place in enumerate(order)
    ]
    labels = {
        column: np.asarray([kinds[place][which] for place in order])
        for which, column in enumerate(columns)
    }
    return LabelledSet(name, Collection(name, items, (), name), labels)


def _conversations(path: Path) -> list[str]:
    """The conversations of a file, each as one text with a line per turn."""
    try:
        import yaml
    except ImportError as error:
        raise MissingExtra("The set 'small-talk'", "sets") from error
    talks = yaml.safe_load(path.read_text("utf-8"))["conversations"]
    return ["\n".join(str(turn).strip() for turn in talk) for talk in talks]


def _rated(path: Path) -> dict[str, list[tuple[float, str]]]:
    """For each source its snippets with their mean ratings, read in memory."""
    top = SNIPPETS.removesuffix(".tar.gz")
    with tarfile.open(path) as outer:
        packed = outer.extractfile(f"{top}/additional_resources/hutto_ICWSM_2014.tar.gz")
        assert packed is not None, "the checksum was right"
        with tarfile.open(fileobj=io.BytesIO(packed.read())) as inner:
            return {
                source: _lines(inner, f"hutto_ICWSM_2014/{file}_GroundTruth.txt")
                for source, file in SOURCES.items()
            }


def _lines(archive: tarfile.TarFile, name: str) -> list[tuple[float, str]]:
    stream = archive.extractfile(name)
    assert stream is not None, "the checksum was right"
    cells = (line.split("\t", 2) for line in decode(stream.read()).splitlines())
    return [(float(rating), html.unescape(text).strip()) for _, rating, text in cells]
