"""Curves over questions, pair comparisons and seconds of the person."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from samekind.questions.wording import plural
from samekind.reports.bands import AXES, Band, band, line
from samekind.reports.contents import Folded, Gallery, Key, Part, Picture, Section
from samekind.reports.figures import metric_title, score
from samekind.reports.pictures import draw_panel
from samekind.reports.results import Block, Result
from samekind.reports.study import HIGHLIGHTED, Place, Study
from samekind.reports.svg import sample

Bands = dict[str, Band]


def curve_section(study: Study) -> Section:
    """One row of panels per set, grouping and person; first the mean over all of them."""
    parts: list[Part] = [
        "Mean over seeds with its 95 % band (Student). A line is drawn where all its seeds were "
        "scored, and is straight between two scores. A run that ran out of questions keeps its "
        "last score. A pair comparison is one look at two things. The seconds of the person are "
        "modelled from the kinds of questions; nobody was timed.",
        *_seed_counts(study),
        *_ranges(study),
    ]
    if len(study.systems) > HIGHLIGHTED:
        parts.append(
            f"In colour: the {HIGHLIGHTED} systems of a panel with the best mean rank. The others "
            "are thin grey lines; one that is best in a panel is numbered there."
        )
    for person in study.people:
        parts += _over_sets(study, person)
    panels = [part for place in study.places for part in _place(study, place)]
    parts += _side_by_side(panels)
    return Section("curves", "Curves", parts)


def block_bands(study: Study, blocks: Sequence[Block], axis: str) -> Bands:
    """The bands of the systems that have runs in all these blocks."""
    found: Bands = {}
    for system in study.systems:
        runs: list[list[Result]] = [study.cells.get((block, system), []) for block in blocks]
        here = band(runs, study.metric, axis) if all(runs) else None
        if here is not None:
            found[system] = here
    return found


def _place(study: Study, place: Place) -> list[Part]:
    """The people of one set and grouping; those after the first are folded."""
    blocks = [block for block in study.blocks if block.place == place]
    title = study.place_name(place)
    shown = [found for block in blocks if (found := _gallery(study, [block], block.person, title))]
    if not shown:
        return []
    parts: list[Part] = [shown[0]]
    if len(shown) > 1:
        others = ", ".join(block.person for block in blocks[1:])
        parts.append(Folded(f"{title}: {others}", shown[1:]))
    return parts


def _side_by_side(parts: Sequence[Part]) -> list[Part]:
    """Galleries of one picture each, under the same legend, as one gallery."""
    found: list[Part] = []
    for part in parts:
        before = found[-1] if found else None
        if not isinstance(part, Gallery) or len(part.pictures) > 1:
            found.append(part)
            continue
        here = replace(part, title="", pictures=[replace(part.pictures[0], caption=part.title)])
        if isinstance(before, Gallery) and not before.title and before.legend == part.legend:
            found[-1] = replace(before, pictures=[*before.pictures, *here.pictures])
        else:
            found.append(here)
    return found


def _over_sets(study: Study, person: str) -> list[Part]:
    blocks = study.shared(study.of_person(person))
    if len(blocks) < 2:
        return []
    title = f"Mean over {len(blocks)} sets and groupings"
    found = _gallery(study, blocks, person, title)
    if found is None:
        return []
    return [found] if person == study.people[0] else [Folded(f"{title}: {person}", [found])]


def _gallery(study: Study, blocks: Sequence[Block], person: str, title: str) -> Gallery | None:
    by_axis = {axis: block_bands(study, blocks, axis) for axis in AXES}
    by_axis = {
        axis: bands
        for axis, bands in by_axis.items()
        if any(len(band.x) > 1 for band in bands.values())
    }
    if not by_axis:
        return None
    drawn = [s for s in study.systems if any(s in bands for bands in by_axis.values())]
    colours = study.colours(drawn)
    whole = f"{title}: {person}"
    heights = _heights([band for bands in by_axis.values() for band in bands.values()])
    pictures = []
    for axis, bands in by_axis.items():
        name = _anchor(f"{blocks[0].suite} {whole} {axis}")
        svg = draw_panel(
            name, bands, {s: study.number(s) for s in bands}, colours,
            (AXES[axis], metric_title(study.metric)), heights,
        )  # fmt: skip
        pictures.append(Picture(svg, "", f"{whole}, over {AXES[axis]}. {_ends(study, bands)}"))
    return Gallery(whole, pictures, _legend(study, drawn, colours))


def _ends(study: Study, bands: Bands) -> str:
    """The scores at the ends of the lines, as a text alternative."""
    ends = sorted(bands, key=lambda s: (-float(bands[s].mean[-1]), s))[:7]
    return "At the end: " + ", ".join(
        f"{study.name(s)} {score(float(bands[s].mean[-1]))}" for s in ends
    )


def _legend(study: Study, drawn: Sequence[str], colours: Mapping[str, int]) -> list[Key]:
    keys = [
        Key(sample(place), f"{study.number(system)} {study.name(system)}")
        for system, place in colours.items()
    ]
    rest = [system for system in drawn if system not in colours]
    if rest:
        names = ", ".join(f"{study.number(system)}\xa0{study.name(system)}" for system in rest)
        keys.append(Key(sample(None), names))
    return keys


def _heights(bands: Sequence[Band]) -> tuple[float, float]:
    """Range of the axis of scores: full tenths around the bands, at least three."""
    least = min(float(band.low.min()) for band in bands)
    high = min(1.0, np.ceil(10 * max(float(band.high.max()) for band in bands) + 0.2) / 10)
    low = min(np.floor(10 * least - 0.2) / 10, high - 0.3)
    if least > -0.02 and low < 0.11:
        low = -0.02  # a line at 0 stays visible above the axis
    return float(low), float(high) + 0.02


def _seed_counts(study: Study) -> list[str]:
    """The number of seeds of a line."""
    counts = sorted({len(runs) for runs in study.cells.values()})
    if counts == [1]:
        return ["There is one seed for each system, so there are no bands."]
    seeds = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    return [f"Seeds for each line: {seeds}."]


def _ranges(study: Study) -> list[str]:
    """Sentences on blocks whose curves cover different ranges."""
    narrowed: dict[str, list[str]] = {}
    once: set[str] = set()
    for block, within in study.spans.items():
        lines = [
            (system, found)
            for (b, system), runs in study.cells.items()
            if b == block
            for run in runs
            if (found := line(run, study.metric)) is not None
        ]
        once |= {system for system, (x, _) in lines if len(x) < 2}
        spans = {(float(x[0]), float(x[-1])) for _, (x, _) in lines if len(x) > 1}
        if within and len(spans) > 1:
            words = f"questions {within[0]:g} to {within[1]:g}"
            narrowed.setdefault(words, []).append(study.block_name(block))
    sentences = []
    if narrowed:
        total = sum(map(len, narrowed.values()))
        ranges = "; ".join(
            f"{words} ({'; '.join(names) if len(names) <= 3 else plural(len(names), 'block')})"
            for words, names in narrowed.items()
        )
        sentences.append(
            f"In {plural(total, 'block')} not all systems were scored over the same questions. "
            f"Areas and final scores are those of the common range: {ranges}."
        )
    if once:
        sentences.append(
            f"Scored only once, so without a curve and an area: {', '.join(sorted(once))}."
        )
    return sentences


def _anchor(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
