"""Snapshots: the learnt space at chosen moments of a run, kept in a file for drawing.

The file is a plain ``.npz`` (compressed, no pickles), with s snapshots of n items and o
orientations:

==================  ===========  ==============================================================
array               shape        meaning
==================  ===========  ==============================================================
``format``          ()           ``samekind-snapshots-1``
``name``, ``note``  ()           what was sorted; how (method, seed), for the foot of a picture
``titles``          (s,)         heading of each snapshot
``answers``         (s,)         answers before it
``asked``           (s,)         the orientation asked about; empty before the first answer
``vectors_0`` ...   (n, d)       float16 or float32; d may differ between snapshots
``labels_0`` ...    (n,)         the group of each item
``orientations``    (o,)         names of the orientations
``truth_0`` ...     (n,)         true kinds, texts or numbers; empty or -1: not known
``acc``             (s, o)       accuracy of each snapshot under each orientation
==================  ===========  ==============================================================
"""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from samekind.atomic_files import draft_name, put_in_place
from samekind.clustering import Clustering
from samekind.errors import ExportError, InputError, SourceError, UnknownName
from samekind.evaluation import acc
from samekind.user_paths import expanded

FORMAT = "samekind-snapshots-1"
_FLOATS = (np.float16, np.float32)


@dataclass(frozen=True, eq=False)
class Snapshot:
    """One moment of a run.

    Parameters
    ----------
    title : its heading, such as "Before any answer".
    vectors : (n, d) the learnt space. labels : (n,) the groups.
    answers : how many were given before it. asked : the orientation that they were about.
    acc : accuracy by orientation, on all items of the run.
    """

    title: str
    vectors: NDArray[Any]
    labels: NDArray[np.intp]
    answers: int
    acc: Mapping[str, float]
    asked: str = ""


@dataclass(frozen=True, eq=False)
class Snapshots:
    """Moments of one pile under several orientations, with the true kinds of its items.

    >>> kinds = {"colour": np.array(["red", "blue"]), "shape": np.array(["star", "star"])}
    >>> before = Clustering.first([0, 1], np.eye(2))
    >>> Snapshots(kinds, name="two tiles").with_moment("Before", before, 0).moments[0].acc
    {'colour': 1.0, 'shape': 0.5}
    """

    truths: Mapping[str, NDArray[Any]]
    moments: Sequence[Snapshot] = ()
    name: str = ""
    note: str = ""

    def __post_init__(self) -> None:
        if not self.truths:
            raise InputError("Snapshots need the true kinds of at least one orientation.")
        for orientation, truth in self.truths.items():
            if truth.shape != (self.n_items,) or truth.dtype.kind not in "iuU":
                raise InputError(
                    f"Expected one text or number per item as the kinds of {orientation!r}, got an "
                    f"array of {truth.dtype}, shape {truth.shape}, for {self.n_items} items."
                )
        for moment in self.moments:
            shapes = (moment.vectors.shape[:1], moment.labels.shape)
            if moment.vectors.ndim != 2 or set(shapes) != {(self.n_items,)}:
                raise InputError(
                    f"{moment.title!r} has vectors of shape {moment.vectors.shape} and labels of "
                    f"shape {moment.labels.shape}. Give one row and one label per item "
                    f"({self.n_items})."
                )
            if not np.isfinite(moment.vectors).all():
                raise InputError(f"The vectors of {moment.title!r} have NaN or infinite numbers.")

    @property
    def n_items(self) -> int:
        """How many items each snapshot shows."""
        return len(next(iter(self.truths.values())))

    def with_moment(
        self, title: str, clustering: Clustering, answers: int, *, asked: str = ""
    ) -> Self:
        """The same with one more snapshot at the end, scored under every orientation."""
        scores = {
            orientation: round(acc(_codes(truth), clustering.labels), 4)
            for orientation, truth in self.truths.items()
        }
        vectors = np.asarray(clustering.space, dtype=np.float32)
        moment = Snapshot(title, vectors, clustering.labels, answers, scores, asked)
        return replace(self, moments=(*self.moments, moment))

    def under(self, orientations: Sequence[str]) -> Self:
        """The same snapshots with only these orientations, in this order."""
        for name in orientations:
            if name not in self.truths:
                raise UnknownName("orientation", name, self.truths)
        return replace(self, truths={name: self.truths[name] for name in orientations})

    def sampled(self, most: int, *, seed: int = 0) -> Self:
        """At most `most` items, the same ones in every snapshot; the accuracies stay those of all.

        A million items would be a blot, and their map would take hours.
        """
        if most < 1:
            raise InputError(f"Expected to keep at least 1 item, got {most}.")
        if self.n_items <= most:
            return self
        kept = np.sort(np.random.default_rng(seed).choice(self.n_items, most, replace=False))
        moments = tuple(
            replace(m, vectors=m.vectors[kept], labels=m.labels[kept]) for m in self.moments
        )
        truths = {name: truth[kept] for name, truth in self.truths.items()}
        return replace(self, truths=truths, moments=moments)

    def save(self, path: str | Path, *, half: bool = True) -> None:
        """Write a new file. `half` keeps vectors as float16: enough for a picture."""
        final = expanded(path)
        columns: dict[str, ArrayLike] = {
            "format": FORMAT,
            "name": self.name,
            "note": self.note,
            "titles": np.array([m.title for m in self.moments], dtype=np.str_),
            "answers": np.array([m.answers for m in self.moments], dtype=np.int64),
            "asked": np.array([m.asked for m in self.moments], dtype=np.str_),
            "orientations": np.array(list(self.truths), dtype=np.str_),
            "acc": np.array([[m.acc[o] for o in self.truths] for m in self.moments]),
        }
        for place, moment in enumerate(self.moments):
            small = half and bool(np.abs(moment.vectors).max(initial=0) < 60_000)
            columns[f"vectors_{place}"] = moment.vectors.astype(_FLOATS[0 if small else 1])
            columns[f"labels_{place}"] = moment.labels
        columns |= {f"truth_{place}": truth for place, truth in enumerate(self.truths.values())}
        draft = draft_name(final)
        try:
            with draft.open("wb") as file:
                np.savez_compressed(file, **columns)  # type: ignore[arg-type]
            put_in_place(draft, final)
        except FileExistsError as problem:
            raise ExportError(f"{final} exists already. Choose another name.") from problem
        except OSError as problem:
            raise ExportError(
                f"{final} cannot be written: {problem.strerror}. Choose a folder that exists."
            ) from problem
        finally:
            draft.unlink(missing_ok=True)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a file that :meth:`save` wrote; pickles inside it are refused."""
        place = expanded(path)
        advice = "Give a file that `samekind plot evolution --save FILE` wrote."
        try:
            with np.load(place, allow_pickle=False) as file:
                found = {name: file[name] for name in file.files}
        except OSError as problem:
            raise SourceError(f"{place} cannot be read: {problem.strerror}. {advice}") from problem
        except (ValueError, TypeError, EOFError, zipfile.BadZipFile, zlib.error) as problem:
            raise SourceError(f"{place} is not a file of snapshots. {advice}") from problem
        if str(found.get("format", "")) != FORMAT:
            given = str(found.get("format", "no format at all"))
            raise SourceError(f"{place} should have the format {FORMAT}, but has {given}. {advice}")
        try:
            return cls._from_arrays(found)
        except (KeyError, IndexError) as problem:
            raise SourceError(
                f"{place} is damaged: {problem} is missing or short. Write it again."
            ) from problem

    @classmethod
    def _from_arrays(cls, found: Mapping[str, NDArray[Any]]) -> Self:
        orientations = [str(name) for name in found["orientations"]]
        moments = [
            Snapshot(
                str(title),
                found[f"vectors_{k}"].astype(np.float32),
                found[f"labels_{k}"].astype(np.intp),
                int(found["answers"][k]),
                {name: float(found["acc"][k, at]) for at, name in enumerate(orientations)},
                str(found["asked"][k]),
            )
            for k, title in enumerate(found["titles"])
        ]
        truths = {name: found[f"truth_{at}"] for at, name in enumerate(orientations)}
        return cls(truths, moments, str(found["name"]), str(found["note"]))


def _codes(truth: NDArray[Any]) -> NDArray[np.intp]:
    """Kinds as numbers, -1 where not known, as the scores want them."""
    known = truth != (-1 if truth.dtype.kind in "iu" else "")
    codes = np.unique(truth, return_inverse=True)[1].astype(np.intp)
    return np.where(known, codes, -1)
