"""NCPGraph: groups of the nodes of a graph and their uncertainty, number of groups unknown."""

from __future__ import annotations

import warnings
from collections.abc import Hashable
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from samekind.clusterers.group_count import Known, Pairs, checked_constraints
from samekind.clusterers.live.seeds import restricted
from samekind.clusterers.ncp.draws import Draws, sparse_pairs, stratified
from samekind.clusterers.ncp.graph_nodes import Profile, SeenNodes, single_node
from samekind.compute import best_device, check_torch
from samekind.constraints import Constraints
from samekind.errors import InputError, UnknownName

if TYPE_CHECKING:
    from samekind.clusterers.ncp.amortized.graphs import Graphs

Floats = NDArray[Any]
Ints = NDArray[np.intp]

INPUTS = ("auto", "graph", "vectors")
ESTIMATES = ("central", "probable")


class NCPGraph(ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """Groups of the nodes of a graph with their posterior, by a network trained on many graphs.

    The neural clustering process for graphs. A trained network looks at the whole graph, and then
    places nodes one after the other, each in one of the groups so far or in a new one. Many such
    draws estimate how many groups there are and which nodes belong together. Answers limit the
    choices: every draw honours every answer, and weights make averages those of the posterior given
    the answers.

    Parameters
    ----------
    n_samples : draws; more make probabilities finer and fitting slower.
    orders : random orders of the nodes (and signs of eigenvectors) over which draws are spread.
    estimate : which grouping ``labels_`` is: ``central``, the one that agrees best with all draws
        about which nodes belong together; or ``probable``, the most probable one that was found.
    max_placed : largest number of nodes placed one by one. Of larger graphs a stratified sample
        with all answered nodes is placed; the others join their most probable group, with a
        warning. The network looks at all of them.
    inputs : what X is. ``graph``: a symmetric adjacency, in which X[i, j] is the weight of the edge
        between two nodes and 0 if there is none. ``vectors``: rows that are linked to their nearest
        neighbours. ``auto``: a square X is a graph.
    n_neighbors : of vectors.
    weights : file that :meth:`train` wrote; None: the weights that come with the package.
    device : where to compute; None: the fastest there is.
    random_state : a seed makes the result the same every time.

    Attributes
    ----------
    labels_ : (n,) the grouping by `estimate`.
    nodes_ : names of the nodes, in the order of all that follows.
    log_prob_, log_prob_spread_ : logarithm of its probability (before answers), averaged over
        orders, and how much orders differ; for the nodes that were placed one by one.
    n_clusters_ : groups in it.
    n_clusters_posterior_ : (k + 1,) probability of 0, 1, 2, ... groups.
    co_membership_ : (n, n) probability that two nodes are in one group. Of more than `max_placed`
        nodes a sparse matrix with the pairs of a sample, and ones on the diagonal.
    membership_ : (n, k) how strongly each node belongs to each group.
    space_ : (n, d) leading eigenvectors of the graph.
    draws_ : the draws, for the strategy ``posterior``.

    Notes
    -----
    Loops are left out, and only ratios of weights matter. A node without edges is a group of its
    own in every draw, unless an answer is about it. The parts of a graph that is not connected are
    grouped together, as one graph. At most 5,000 nodes. The weights of the package were trained on
    graphs of 10 to 200 nodes, see `amortized/graph_laws.py`; far from these the posterior may be
    sure and wrong.

    References
    ----------
    Amortized Probabilistic Detection of Communities in Graphs, arXiv 2010.15727.

    >>> two_cliques = np.kron(np.eye(2), np.ones((8, 8)))
    >>> two_cliques[7, 8] = two_cliques[8, 7] = 1
    >>> NCPGraph(random_state=0).fit(two_cliques).n_clusters_
    2
    """

    strategy: ClassVar[str] = "posterior"

    def __init__(
        self,
        *,
        n_samples: int = 128,
        orders: int = 8,
        estimate: Literal["central", "probable"] = "central",
        max_placed: int = 400,
        inputs: Literal["auto", "graph", "vectors"] = "auto",
        n_neighbors: int = 10,
        weights: str | Path | None = None,
        device: str | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_samples = n_samples
        self.orders = orders
        self.estimate = estimate
        self.max_placed = max_placed
        self.inputs = inputs
        self.n_neighbors = n_neighbors
        self.weights = weights
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
        """Group the nodes of X: an adjacency, a networkx graph, or vectors. `y` is ignored."""
        rng = self._checked_rng()
        self.nodes_, table = self._graph(X, fitting=True)
        known = checked_constraints(constraints, table.shape[0], must_link, cannot_link)
        seen = self._seen(table, known, rng, warn=True)
        self.space_ = seen.space
        if seen.posterior is None:
            drawn, best = single_node(), np.zeros(1, dtype=np.intp)
            self.log_prob_, self.log_prob_spread_ = 0.0, 0.0
        else:
            drawn = seen.posterior.samples(self.n_samples)
            scored = seen.posterior.chosen(drawn, self.estimate)
            self.log_prob_, self.log_prob_spread_ = scored.log_prob, scored.spread
            best = scored.labels
        drawn, chosen = seen.with_singles(drawn), seen.all_labels(best)
        self.n_clusters_posterior_ = drawn.n_groups_distribution().double().cpu().numpy()
        self.draws_ = Draws.of(seen.items, drawn)
        self._label_all(seen, best, chosen)
        some = self.draws_.items
        together = self.draws_.together(some)
        n = table.shape[0]
        self.co_membership_ = together if len(some) == n else sparse_pairs(together, some, n)
        self._profile = Profile.of(table, self.labels_, self.n_clusters_)
        return self

    def predict(self, X: Any) -> Ints:
        """The groups of other nodes, by their edges to the groups that were fitted.

        Of a graph, each row of X has the edges of one other node to the nodes that were fitted;
        of vectors it is a vector.
        """
        check_is_fitted(self)
        X = validate_data(self, X, dtype=[np.float64, np.float32], accept_sparse="csr", reset=False)
        links = sparse.csr_array(X)
        if self._neighbours is not None:
            links = self._neighbours.kneighbors_graph(_dense(X))
        return self._profile.placed(links, self.labels_)

    def sample_posterior(
        self, X: Any, n: int, *, constraints: Constraints | None = None
    ) -> NDArray[np.intp]:
        """(n, nodes) groupings of X, equally likely draws; given answers, draws that honour them.

        Needs no fit: what was learnt is in the weights.
        """
        if n < 1:
            raise InputError(f"Expected at least 1 grouping to draw, got n={n}.")
        rng = self._checked_rng()
        _, table = self._graph(X, fitting=False)
        known = checked_constraints(constraints, table.shape[0])
        seen = self._seen(table, known, rng, warn=False)
        drawn = single_node() if seen.posterior is None else seen.posterior.samples(n)
        found = Draws.of(seen.items, seen.with_singles(drawn))
        placed = Draws.of(seen.rows, drawn)
        every = np.empty((len(found.labels), table.shape[0]), dtype=np.intp)
        every[:, seen.items] = found.labels
        if len(seen.rest) and seen.posterior is not None:
            for row, own in zip(every, placed.labels.astype(np.intp), strict=True):
                share = seen.posterior.others(own, seen.rest_rows)
                pick = (rng.random((len(share), 1)) > share.cumsum(axis=1)[:, :-1]).sum(axis=1)
                name = np.zeros(share.shape[1], dtype=np.intp)
                name[own] = row[seen.rows]  # the same groups, numbered among all items
                row[seen.rest] = name[pick]
        return np.asarray(every[found.equally_likely(n, rng)])

    def score_partition(self, X: Any, labels: Any, *, orders: int = 16) -> float:
        """Logarithm of the probability of a grouping of X, averaged over at least so many orders.

        Without answers, and of the nodes that have edges. Differences between groupings of the same
        X say how much more probable one is than the other.
        """
        rng, groups = self._checked_rng(), np.asarray(labels)
        _, table = self._graph(X, fitting=False)
        if groups.shape != (table.shape[0],):
            raise InputError(
                f"Expected one label for each of {table.shape[0]} nodes, got labels of shape "
                f"{groups.shape}."
            )
        seen = self._seen(table, None, rng, warn=False, everything=True)
        if seen.posterior is None:
            return 0.0
        return float(seen.posterior.score(groups[seen.rows], orders).log_prob)

    @classmethod
    def train(
        cls,
        generator: Any,
        path: str | Path,
        *,
        steps: int | None = None,
        seconds: float | None = None,
        sizes: Any = None,
        graph_sizes: Any = None,
        batch: int = 32,
        lr: float = 7e-4,
        device: str | None = None,
        seed: int = 0,
        progress: Any = None,
    ) -> Self:
        """Train new weights, write them to `path`, and return an estimator that uses them.

        Parameters
        ----------
        generator : draws graphs with known groups, such as
            :class:`~samekind.clusterers.ncp.amortized.graph_laws.MixedGraphs`.
        path : safetensors file.
        steps, seconds : how long; exactly one of them.
        sizes, graph_sizes : of the network and of its encoder.
        batch, lr, device, seed, progress : as in `amortized.training.train`.
        """
        from samekind.clusterers.ncp.graph_weights import train_graph_network

        train_graph_network(
            generator, path, sizes=sizes, graph_sizes=graph_sizes, steps=steps, seconds=seconds,
            batch=batch, lr=lr, device=device, seed=seed, progress=progress,
        )  # fmt: skip
        return cls(weights=str(path), device=device)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _checked_rng(self) -> np.random.Generator:
        check_torch(type(self).__name__)
        for name in ("n_samples", "orders", "max_placed", "n_neighbors"):
            value = getattr(self, name)
            if value < 1:
                raise InputError(f"Expected {name} to be at least 1, got {value!r}.")
        if self.estimate not in ESTIMATES:
            raise UnknownName("estimate", self.estimate, ESTIMATES)
        if self.inputs not in INPUTS:
            raise UnknownName("kind of input", self.inputs, INPUTS)
        return np.random.default_rng(check_random_state(self.random_state).randint(2**31))

    def _graph(self, X: Any, *, fitting: bool) -> tuple[tuple[Hashable, ...], Any]:
        """Names of nodes, and the weights of edges (n, n)."""
        from samekind.clusterers.ncp.amortized.graph_reading import is_networkx, read_graph

        if is_networkx(X):
            found = read_graph(X)
            if fitting:
                self._neighbours, self.n_features_in_ = None, len(found.nodes)
            return found
        X = validate_data(
            self, X, dtype=[np.float64, np.float32], accept_sparse="csr", reset=fitting
        )
        if self.inputs == "graph" or (self.inputs == "auto" and X.shape[0] == X.shape[1]):
            if fitting:
                self._neighbours = None
            return read_graph(X)
        return self._linked(_dense(X), fitting)

    def _linked(self, X: Floats, fitting: bool) -> tuple[tuple[Hashable, ...], Any]:
        """The graph of the nearest neighbours of vectors."""
        from sklearn.neighbors import NearestNeighbors

        from samekind.clusterers.ncp.amortized.graph_reading import read_graph

        model = NearestNeighbors(n_neighbors=min(self.n_neighbors, max(1, len(X) - 1))).fit(X)
        if fitting:
            self._neighbours = model
        if len(X) == 1:
            return read_graph(sparse.csr_array((1, 1)))
        table = sparse.csr_array(model.kneighbors_graph())
        return read_graph(table.maximum(table.T))

    def _seen(
        self,
        table: Any,
        known: Constraints | None,
        rng: np.random.Generator,
        *,
        warn: bool,
        everything: bool = False,
    ) -> SeenNodes:
        """What the network sees of a graph, and which nodes it places."""
        from samekind.clusterers.ncp.amortized.graph_encoder import encoder_of_graphs
        from samekind.clusterers.ncp.amortized.graph_reading import described
        from samekind.clusterers.ncp.graph_posterior import GraphPosterior
        from samekind.clusterers.ncp.graph_weights import graph_network_of

        n = table.shape[0]
        touched = np.empty(0, dtype=np.intp) if known is None else known.touched
        is_seen = np.asarray(table.sum(axis=1)).ravel() > 0
        if warn and n > 1 and not is_seen.all():
            count = int((~is_seen).sum())
            _warn(f"{count} of {n} nodes have no edges: each is a group of its own until answered.")
        is_seen[touched] = True
        nodes = np.flatnonzero(is_seen)
        network = graph_network_of(self.weights, best_device(self.device).device)
        n_vectors = encoder_of_graphs(network).sizes.n_vectors
        space = np.zeros((n, n_vectors), dtype=np.float32)
        if not len(nodes):  # one node
            return SeenNodes(n, np.arange(n), np.arange(n), None, space)
        device = str(next(network.parameters()).device)
        x: Graphs = described(table[nodes][:, nodes], n_vectors, device)
        space[nodes] = (x.vectors[0] * x.values[0].abs()).cpu().numpy()
        rows = nodes
        if len(nodes) > self.max_placed and not everything:
            rows = nodes[
                stratified(space[nodes], np.searchsorted(nodes, touched), self.max_placed, rng)
            ]
            if warn:
                _warn(
                    f"{n} nodes are too many to be placed one by one, so a sample of {len(rows)} "
                    "is, and each other node joins its most probable group. Probabilities are "
                    "about the sample; raise max_placed to enlarge it."
                )
        told = None if known is None else restricted(known, rows)
        posterior = GraphPosterior(
            network, x, np.searchsorted(nodes, rows), told, min(self.orders, self.n_samples),
            int(rng.integers(2**62)),
        )  # fmt: skip
        return SeenNodes(n, nodes, rows, posterior, space)

    def _label_all(self, seen: SeenNodes, best: Ints, chosen: Ints) -> None:
        """Set groups and memberships of all nodes, from those that the network placed."""
        strength = self.draws_.strength(chosen)
        self.n_clusters_ = strength.shape[1]
        self.labels_ = np.empty(seen.n, dtype=np.intp)
        self.membership_ = np.zeros((seen.n, self.n_clusters_), dtype=np.float32)
        self.labels_[seen.items], self.membership_[seen.items] = chosen, strength
        if len(seen.rest) and seen.posterior is not None:
            name = np.zeros(int(best.max()) + 1, dtype=np.intp)
            name[best] = self.labels_[seen.rows]
            share = seen.posterior.others(best, seen.rest_rows)
            self.membership_[np.ix_(seen.rest, name)] = share
            self.labels_[seen.rest] = name[share.argmax(axis=1)]


def _dense(X: Any) -> Floats:
    return np.asarray(X.toarray() if sparse.issparse(X) else X)


def _warn(words: str) -> None:
    warnings.warn(words, stacklevel=4)
