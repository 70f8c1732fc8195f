"""SimCLR, BYOL, CC, TCL, ProPos: encoders that learn from the person's own pictures, unlabelled.

Learning happens once for a pile (``samekind learn``, or :meth:`Learnt.learn`); the network is kept
and found again by the pile. From then on these are encoders like those with frozen networks.
"""

from __future__ import annotations

import shlex
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from samekind.encoders.learned.weights import Kept, adopt, find_kept, find_kept_at, resolved
from samekind.encoders.pixels import Images
from samekind.encoders.reduction import Reduction
from samekind.errors import InputError, SamekindError
from samekind.items import Collection, Item
from samekind.protocols import Progress

if TYPE_CHECKING:
    from samekind.training.progress import Monitor

PREPROCESSING = "squash-bilinear-v1"


class Learnt:
    """A network that learnt from a pile; a subclass is one way to learn.

    Parameters
    ----------
    kept : the network; None: none yet, see :meth:`recalled` and :meth:`learn`.
    components : most numbers per item after the projection.
    """

    name: str
    kinds: tuple[str, ...] = ("image",)
    needs_groups: bool = False
    """Whether it learns groups beside the features, and must be told how many."""

    def __init__(self, kept: Kept | None = None, *, components: int = 256) -> None:
        self.kept = kept
        self.components = components
        self.width: int | None = kept.width if kept else None
        self.size: int | None = kept.size if kept else None
        self._network: Any = None

    @property
    def fingerprint(self) -> str:
        """The digest of the weights: vectors of two trainings never meet in the cache."""
        if self.kept is None:
            return f"{self.name}/nothing-learnt"
        return f"{self.name}/{self.kept.digest}/{self.kept.size}px-{PREPROCESSING}"

    @property
    def reason(self) -> str:
        """Description of the training, in words."""
        return self.kept.describe() if self.kept else f"{self.name}, which has learnt nothing yet"

    def recalled_at(self, place: str) -> Self:
        """This encoder with what was learnt last from the pictures in a place."""
        kept = find_kept_at(self.name, resolved(place))
        if kept is None:
            raise InputError(
                f"The encoder {self.name!r} has learnt nothing from {place!r} yet. "
                f"Let it learn first: {learn_command(self.name, shlex.quote(place))}"
            )
        return type(self)(kept, components=self.components)

    def recalled(self, collection: Collection) -> Self:
        """This encoder with what was learnt from a pile; an error says how to learn.

        A network still works if pictures were added or removed since, but a warning says so.
        """
        kept = find_kept(self.name, collection)
        if kept is None:
            place = shlex.quote(collection.location or collection.name)
            raise InputError(
                f"The encoder {self.name!r} has learnt nothing from {collection.name!r} yet. "
                f"Let it learn first: {learn_command(self.name, place)}"
            )
        if kept.pile != collection.fingerprint:
            warnings.warn(
                f"The pictures of {collection.name!r} have changed since {self.name!r} learnt from "
                f"{kept.pictures:,} of them. It is used as it is; to learn anew: "
                f"{learn_command(self.name, shlex.quote(collection.location))}",
                RuntimeWarning,
                stacklevel=2,
            )
        return type(self)(kept, components=self.components)

    def learn(
        self,
        collection: Collection,
        *,
        minutes: float | None = None,
        epochs: float | None = None,
        groups: int | None = None,
        size: int | None = None,
        device: str | None = None,
        seed: int = 0,
        monitor: Monitor | None = None,
        progress: Progress | None = None,
    ) -> Self:
        """Learn from a pile, go on with a training that was stopped, and keep the network.

        Parameters
        ----------
        minutes, epochs : how long: one of them. Minutes are turned into epochs by measuring.
        groups : how many groups, for methods that learn them beside the features.
        size : pixels a side; None: chosen from the pictures.
        device : None: the best there is.
        monitor : who is told about the training, and who may stop it.
        progress : told while pictures are read.
        """
        from samekind.encoders.learned.training import Learning

        learning = Learning.of(
            self.name,
            collection,
            groups=groups,
            size=size,
            device=device,
            seed=seed,
            monitor=monitor,
            progress=progress,
        )
        kept = learning.run(learning.target(minutes=minutes, epochs=epochs))
        return type(self)(kept, components=self.components)

    def prepare(self, image: Any) -> Any:
        """The picture at the network's size. Safe to call ahead, in a thread, and twice."""
        return Images(size=self._known().size).prepare(image)

    def read(self, items: Sequence[Item]) -> NDArray[np.float32]:
        """Features (n, width) of the network, each item by itself."""
        kept = self._known()
        if not items:
            return np.empty((0, kept.width), dtype=np.float32)
        features: NDArray[np.float32] = self._opened().features(self._pictures(items))
        return features

    def membership(self, items: Sequence[Item]) -> NDArray[np.float32] | None:
        """How likely each item belongs to each group that was learnt; None: no groups were."""
        found: NDArray[np.float32] | None = self._opened().membership(self._pictures(items))
        return found

    def fit(self, raw: Any) -> Self:
        """Learn the middle and the principal axes of the pile; the network stays as it is."""
        self._reduction = Reduction(components=self.components).fit(raw)
        return self

    def transform(self, raw: Any) -> NDArray[np.float32]:
        """Centred, made unit length, projected: (n, at most `components`)."""
        return self._reduction.transform(raw)

    def state(self) -> dict[str, Any]:
        """The network and the learnt parameters, as plain arrays and values."""
        kept = self._known()
        network = np.frombuffer(kept.path.read_bytes(), dtype=np.uint8)
        facts = {**asdict(kept), "place": ""}  # files that are passed on need not tell it
        return {**self._reduction.state(), "network": network, "kept": facts}

    def restored(self, state: Mapping[str, Any]) -> Self:
        """This encoder with the network and the parameters of a state."""
        kept = adopt(self.name, state["kept"], np.asarray(state["network"]).tobytes())
        encoder = type(self)(kept, components=self.components)
        encoder._reduction = Reduction.from_state(state)
        if len(encoder._reduction.mean_) != kept.width:
            raise ValueError(f"{len(encoder._reduction.mean_)} numbers per item, not {kept.width}")
        return encoder

    def _known(self) -> Kept:
        if self.kept is None:
            raise InputError(
                f"The encoder {self.name!r} has learnt nothing yet. Let it learn from pictures "
                f"first: {learn_command(self.name, 'PATH')}"
            )
        return self.kept

    def _opened(self) -> Any:
        if self._network is None:
            from samekind.training.selflearn import LearntNetwork

            kept = self._known()
            try:
                network = LearntNetwork.load(kept.path)
            except (SamekindError, OSError) as problem:
                raise InputError(
                    f"What {self.name!r} has learnt cannot be read from {kept.path} ({problem}). "
                    f"Delete that file and learn again: {learn_command(self.name, 'PATH')}"
                ) from problem
            # Shortened numbers would move features a little, and all devices share the cache.
            exact = replace(network.compute, dtype="float32")
            self._network = replace(network, compute=exact)
        return self._network

    def _pictures(self, items: Sequence[Item]) -> NDArray[np.uint8]:
        size = self._known().size
        return Images(size=size).read(items).reshape(-1, 3, size, size)


class SimCLR(Learnt):
    """Learnt from your own pictures (SimCLR): two views of a picture agree, others do not."""

    name = "simclr"


class BYOL(Learnt):
    """Learnt from your own pictures (BYOL): one view predicts another; no picture is a rival."""

    name = "byol"


class CC(Learnt):
    """Learnt from your own pictures (CC): features, and beside them groups of a given number."""

    name = "cc"
    needs_groups = True


class TCL(Learnt):
    """Learnt from your own pictures (TCL): as CC, with strong views; sure groups then lead."""

    name = "tcl"
    needs_groups = True


class ProPos(Learnt):
    """Learnt from your own pictures (ProPos): BYOL whose groups are driven apart; slow, strong."""

    name = "propos"
    needs_groups = True


METHODS: dict[str, type[Learnt]] = {
    method.name: method for method in (SimCLR, BYOL, CC, TCL, ProPos)
}


def learn_command(name: str, place: str) -> str:
    """Return the command that trains an encoder."""
    groups = " --groups K" if METHODS[name].needs_groups else ""
    return f"samekind learn {place} --encoder {name}{groups}"
