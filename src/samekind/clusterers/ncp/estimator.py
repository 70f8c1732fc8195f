"""NCP: groups and their uncertainty, when the number of groups is unknown."""

from __future__ import annotations

import warnings
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from samekind.clusterers.group_count import Known, Pairs, checked_constraints
from samekind.clusterers.live.seeds import restricted
from samekind.clusterers.ncp.draws import Draws, sparse_pairs, stratified
from samekind.compute import best_device, check_torch
from samekind.constraints import Constraints
from samekind.errors import InputError, UnknownName

if TYPE_CHECKING:
    from samekind.clusterers.ncp.amortized.calibration import Calibration
    from samekind.clusterers.ncp.weights import Trained

Floats = NDArray[Any]
Ints = NDArray[np.intp]

VARIANTS: dict[str, str] = {
    "pointwise": "samekind.clusterers.ncp.pointwise:Pointwise",
    "clusterwise": "samekind.clusterers.ncp.clusterwise:Clusterwise",
    "acp": "samekind.clusterers.ncp.clusterwise:Clusterwise",
    "acp-s": "samekind.clusterers.ncp.clusterwise:Clusterwise",
}
"""Posteriors by name; each takes (network, x, known, seed) and has the same methods."""
ESTIMATES = ("probable", "central")
MAX_SCORED_ITEMS = 5_000
"""Largest grouping whose probability is computed: it needs all items at once."""


class NCP(ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """Groups of unknown number with their posterior, by a network that was trained to group.

    The neural clustering process. Vectors are projected onto their principal axes and brought to
    one scale (see :class:`~samekind.clusterers.ncp.amortized.calibration.Calibration`). Then a
    trained network places items one after the other, each in one of the groups so far or in a new
    one. Many such draws estimate how many groups there are and which items belong together. Answers
    limit the choices: every draw honours every answer, and weights make averages those of the
    posterior given the answers.

    Parameters
    ----------
    n_samples : draws; more make probabilities finer and fitting slower.
    orders : random orders of the items over which draws are spread.
    estimate : which grouping ``labels_`` is: ``central``, the one that agrees best with all draws
        about which items belong together; or ``probable``, the most probable one that was found.
        Where much is uncertain that is often a single group: all of its probability lies on one
        grouping, while that of many groups is shared by very many.
    max_placed : largest number of items placed one by one. Of larger sets a stratified sample with
        all answered items is placed; the others join their most probable group, with a warning.
    weights : file that :meth:`train` wrote; None: those of the package, ``plane`` for two columns
        and ``general`` for all other vectors. ``glyphs`` takes pictures of drawn signs,
        (n, height, width), and ``photos`` vectors of photographs by the encoder
        ``efficientnet-lite0-features``.
    variant : ``pointwise`` places items one by one; ``clusterwise`` takes out one whole group per
        pass and groups all items of a large set, with fewer draws. ``acp-s`` does so after all
        items looked at each other once, ``acp`` lets those that are left do so in every pass,
        which is the slowest. ``auto`` is the variant of `weights`, or pointwise without weights.
    device : where to compute; None: the fastest there is.
    random_state : a seed makes the result the same every time.

    Attributes
    ----------
    labels_ : (n,) the central grouping, or the most probable one that was found.
    variant_ : the variant that was used.
    log_prob_, log_prob_spread_ : logarithm of its probability (before answers), averaged over
        orders, and how much orders differ; for the items that were placed one by one. Clusterwise
        it is an estimate, and the spread its relative standard error.
    n_clusters_ : groups in it.
    n_clusters_posterior_ : (k + 1,) probability of 0, 1, 2, ... groups.
    co_membership_ : (n, n) probability that two items are in one group. Of more than
        `max_placed` items a sparse matrix with the pairs of a sample, and ones on the diagonal.
    membership_ : (n, k) how strongly each item belongs to each group.
    space_ : (n, d) calibrated vectors. kept_variance_ : share of the variance that they hold.
    draws_ : the draws, for the strategy ``posterior``.

    References
    ----------
    Neural Clustering Processes, ICML 2020.

    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 2)) + 12 * np.eye(3, 2)[np.arange(60) % 3]
    >>> model = NCP(random_state=0).fit(X)
    >>> model.labels_.shape, bool(abs(model.n_clusters_posterior_.sum() - 1) < 1e-6)
    ((60,), True)
    """

    strategy: ClassVar[str] = "posterior"

    def __init__(
        self,
        *,
        n_samples: int = 128,
        orders: int = 8,
        estimate: Literal["central", "probable"] = "central",
        max_placed: int = 500,
        weights: str | Path | None = None,
        variant: Literal["auto", "pointwise", "clusterwise", "acp", "acp-s"] = "auto",
        device: str | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_samples = n_samples
        self.orders = orders
        self.estimate = estimate
        self.max_placed = max_placed
        self.weights = weights
        self.variant = variant
        self.device = device
        self.random_state = random_state

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        constraints: Known = None,
        must_link: Pairs = None,
        cannot_link: Pairs = None,
    ) -> Self:
        """Group the rows of X, or pictures if the weights are for pictures. `y` is ignored."""
        rng = self._checked_rng()
        self.variant_ = self._which()
        trained = self._trained(self.variant_, X)
        X = trained.points(X, partial(validate_data, self))
        known = checked_constraints(constraints, len(X), must_link, cannot_link)
        self._calibration = self._calibrated(X, trained, rng)
        self.space_ = self._calibration(X)
        rows = self._rows(self.space_, known, rng, self.variant_)
        posterior = self._posterior(trained, self.space_[rows], known, rows, rng, self.variant_)
        drawn = posterior.samples(self._n_draws(len(X)), self.orders)
        best = posterior.chosen(drawn, self.estimate)
        self._predictor = posterior.predictor(best.labels)
        self.log_prob_, self.log_prob_spread_ = best.log_prob, best.spread
        self.kept_variance_ = self._calibration.kept
        self.n_clusters_posterior_ = drawn.n_groups_distribution().double().cpu().numpy()
        self.draws_ = Draws.of(rows, drawn)
        self._label_all(trained, best.labels)
        self.co_membership_ = self._pairs(known, rng)
        return self

    def predict(self, X: Any) -> Ints:
        """The groups of other items: one more step each, after the items that were fitted."""
        check_is_fitted(self)
        trained = self._trained(self.variant_, X)
        X = trained.points(X, partial(validate_data, self, reset=False))
        found = self._predictor(trained.network, self._calibration(X))
        return np.asarray(found.argmax(axis=1), dtype=np.intp)

    def sample_posterior(
        self, X: Any, n: int, *, constraints: Constraints | None = None
    ) -> NDArray[np.intp]:
        """(n, items) groupings of X, equally likely draws; given answers, draws that honour them.

        Needs no fit: what was learnt is in the weights.
        """
        from sklearn.utils import check_array

        if n < 1:
            raise InputError(f"Expected at least 1 grouping to draw, got n={n}.")
        rng, variant = self._checked_rng(), self._which()
        trained = self._trained(variant, X)
        X = trained.points(X, check_array)
        known = checked_constraints(constraints, len(X))
        space = self._calibrated(X, trained, rng)(X)
        rows = self._rows(space, known, rng, variant)
        posterior = self._posterior(trained, space[rows], known, rows, rng, variant)
        drawn = Draws.of(rows, posterior.samples(n, self.orders))
        labels, which = drawn.labels.astype(np.intp), drawn.equally_likely(n, rng)
        if len(rows) == len(X):
            return np.asarray(labels[which])
        rest = np.setdiff1d(np.arange(len(X)), rows)
        every = np.empty((len(labels), len(X)), dtype=np.intp)
        every[:, rows] = labels
        for row, groups in zip(every, labels, strict=True):
            share = posterior.predictor(groups)(trained.network, space[rest])
            # Drawn, not the most probable: these are draws.
            row[rest] = (rng.random((len(rest), 1)) > share.cumsum(axis=1)[:, :-1]).sum(axis=1)
        return np.asarray(every[which])

    def score_partition(self, X: Any, labels: Any, *, orders: int = 16) -> float:
        """Logarithm of the probability of a grouping of X, averaged over so many orders.

        Without answers. Differences between groupings of the same X say how much more probable
        one is than the other.
        """
        from sklearn.utils import check_array

        rng, variant = self._checked_rng(), self._which()
        trained = self._trained(variant, X)
        X, groups = trained.points(X, check_array), np.asarray(labels)
        if groups.shape != (len(X),):
            raise InputError(
                f"Expected one label for each of {len(X)} items, got labels of shape "
                f"{groups.shape}."
            )
        if len(X) > MAX_SCORED_ITEMS:
            raise InputError(
                f"Expected at most {MAX_SCORED_ITEMS} items, got {len(X)}: a probability needs all "
                "of them at once. Score a sample of them."
            )
        space = self._calibrated(X, trained, rng)(X)
        posterior = self._posterior(trained, space, None, np.arange(len(X)), rng, variant)
        return float(posterior.score(groups, orders).log_prob)

    @classmethod
    def train(
        cls,
        generator: Any,
        path: str | Path,
        *,
        steps: int | None = None,
        seconds: float | None = None,
        calibrate: bool = True,
        sizes: Any = None,
        batch: int = 64,
        lr: float = 1e-3,
        device: str | None = None,
        seed: int = 0,
        progress: Any = None,
    ) -> Self:
        """Train new weights, write them to `path`, and return an estimator that uses them.

        Parameters
        ----------
        generator : draws labelled data sets of vectors that look like the data to group, such as
            `GaussianMixtures`.
        path : safetensors file.
        steps, seconds : how long; exactly one of them.
        calibrate : train and use on principal axes and one scale; False takes vectors as they are,
            for those whose scale and place mean something.
        sizes : :class:`~samekind.clusterers.ncp.amortized.network.Sizes` of the network.
        batch, lr, device, seed, progress : as in `amortized.training.train`.
        """
        from samekind.clusterers.ncp.weights import train_network

        train_network(
            generator, path, sizes=sizes, calibrate=calibrate, steps=steps, seconds=seconds,
            batch=batch, lr=lr, device=device, seed=seed, progress=progress,
        )  # fmt: skip
        return cls(weights=str(path), device=device)

    def _checked_rng(self) -> np.random.Generator:
        check_torch(type(self).__name__)
        for name, least in (("n_samples", 1), ("orders", 1), ("max_placed", 1)):
            value = getattr(self, name)
            if value < least:
                raise InputError(f"Expected {name} to be at least {least}, got {value!r}.")
        if self.estimate not in ESTIMATES:
            raise UnknownName("estimate", self.estimate, ESTIMATES)
        return np.random.default_rng(check_random_state(self.random_state).randint(2**31))

    def _which(self) -> str:
        """The variant to use."""
        if self.variant != "auto":
            if self.variant not in VARIANTS:
                raise UnknownName("variant", self.variant, ("auto", *VARIANTS))
            return self.variant
        if self.weights is None:
            return "pointwise"
        from samekind.clusterers.ncp.weights import variant_of

        return variant_of(self.weights)

    def _trained(self, variant: str, X: Any) -> Trained:
        from samekind.clusterers.ncp.weights import network_of

        device = best_device(self.device).device
        return network_of(self.weights, device, variant, _columns(X))

    def _n_draws(self, n: int) -> int:
        if self.variant_ == "pointwise":
            return self.n_samples
        from samekind.clusterers.ncp.clusterwise import n_drawn

        count = n_drawn(self.n_samples, n)
        if count < self.n_samples:
            warnings.warn(
                f"{n} items are many, so {count} draws are made instead of {self.n_samples}, and "
                f"co_membership_ covers a sample of {self.max_placed}.",
                stacklevel=3,
            )
        return count

    def _calibrated(self, X: Floats, trained: Trained, rng: np.random.Generator) -> Calibration:
        from samekind.clusterers.ncp.amortized.calibration import Calibration

        if trained.reader is not None and not trained.calibrated:
            return Calibration.unchanged(trained.reader.width)
        dim = trained.network.sizes.inputs
        if trained.calibrated:
            return Calibration.of(X, dim, rng)
        if X.shape[1] != dim:
            raise InputError(
                f"Expected vectors of {dim} numbers, on which these weights were trained as they "
                f"are, got {X.shape[1]}. Give such vectors, or train with calibrate=True."
            )
        return Calibration.unchanged(dim)

    def _rows(
        self, space: Floats, known: Constraints | None, rng: np.random.Generator, variant: str
    ) -> Ints:
        """Items that the network places one by one; the others follow by one more step."""
        n = len(space)
        if n <= self.max_placed or variant != "pointwise":
            return np.arange(n)
        rows = stratified(space, _touched(known), self.max_placed, rng)
        warnings.warn(
            f"{n} items are too many to be placed one by one, so a sample of {len(rows)} is, and "
            "each other item joins its most probable group. Probabilities are about the sample; "
            "raise max_placed to enlarge it.",
            stacklevel=3,
        )
        return rows

    def _posterior(
        self,
        trained: Trained,
        x: Floats,
        known: Constraints | None,
        rows: Ints,
        rng: np.random.Generator,
        variant: str,
    ) -> Any:
        from importlib import import_module

        module, _, name = VARIANTS[variant].partition(":")
        told = None if known is None else restricted(known, rows)
        return getattr(import_module(module), name)(
            trained.network, x, told, int(rng.integers(2**62))
        )

    def _label_all(self, trained: Trained, labels: Ints) -> None:
        """Set groups and memberships of all items, from those that the network placed."""
        n, rows, strength = len(self.space_), self.draws_.items, self.draws_.strength(labels)
        self.n_clusters_ = strength.shape[1]
        if len(rows) == n:
            self.labels_, self.membership_ = labels, strength
            return
        rest = np.setdiff1d(np.arange(n), rows)
        self.membership_ = np.empty((n, self.n_clusters_), dtype=np.float32)
        self.membership_[rows] = strength
        self.membership_[rest] = self._predictor(trained.network, self.space_[rest])
        self.labels_ = np.empty(n, dtype=np.intp)
        self.labels_[rows] = labels
        self.labels_[rest] = self.membership_[rest].argmax(axis=1)

    def _pairs(self, known: Constraints | None, rng: np.random.Generator) -> Any:
        """Probabilities of pairs: of all items, or of a sample in a sparse matrix."""
        n, some = len(self.space_), self.draws_.items
        if len(some) == n:
            some = stratified(self.space_, _touched(known), self.max_placed, rng)
        together = self.draws_.together(some)
        return together if len(some) == n else sparse_pairs(together, some, n)


def _columns(X: Any) -> int | None:
    """How many numbers each item has, before X is checked; None if that cannot be told."""
    try:
        shape = np.shape(X)
    except ValueError:  # rows of different lengths
        return None
    return shape[1] if len(shape) == 2 else None


def _touched(known: Constraints | None) -> Ints:
    return np.empty(0, dtype=np.intp) if known is None else known.touched
