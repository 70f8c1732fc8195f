"""SPICE: semantic pseudo-labelling for image clustering."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from samekind.clusterers.deep.contrasted import ContrastedClusterer, ContrastedLearner
from samekind.clusterers.deep.learner import Learner
from samekind.clusterers.deep.staged import Stage
from samekind.constraints import Constraints
from samekind.objectives.spice import prototype_labels
from samekind.training.answered import Answered
from samekind.training.augment import family_named
from samekind.training.bank import in_use
from samekind.training.finetune import Changes, Tuner, Tuning, picture_changes, row_changes
from samekind.training.heads import ClusterHead
from samekind.training.loop import Trainer
from samekind.training.neighbours import READ, said_of_all
from samekind.training.network import Network
from samekind.training.spice_heads import ExamplesLoss, Heads, Still, reliable_items
from samekind.training.steps import autocast, mixed_seed

SELF_SHARE, SEMI_SHARE, SELF_ALONE = 0.2, 0.3, 0.3
"""Of all steps: for the heads, for FixMatch, and for the heads where that is left out."""
HEADS = 10
BLOCK = 5000
"""Items among which prototypes and their examples are found."""
RATE = 5e-3
"""Of the heads, with Adam, as published."""


class SPICELearner(ContrastedLearner):
    """Features, then heads on still features, then FixMatch on what can be relied on."""

    semi = True
    _loss: ExamplesLoss | None = None
    _features: Tensor | None = None
    _tuned: Network | None = None

    def __getstate__(self) -> dict[str, Any]:
        """As of any learner; what only training needs stays behind."""
        return {**super().__getstate__(), "_loss": None, "_features": None}

    def _stages(self, trainer: Trainer) -> Sequence[Stage]:
        loss = self._loss = ExamplesLoss(HEADS, len(trainer.data), trainer.network.k)
        views = self._strong_views(trainer)
        share = SELF_SHARE if self.semi else SELF_ALONE
        heads = Stage(loss, share, views, self._find_examples, every=1.0)
        if not self.semi:
            return self._after_features([heads])
        # The last one only takes its share: FixMatch has a loop of its own.
        return self._after_features([heads, Stage(loss, SEMI_SHARE)])[:-1]

    def _train(self, trainer: Trainer, known: Constraints) -> None:
        self._tuned = self._features = None
        super()._train(trainer, known)
        left = self.steps - trainer.step
        if self.semi and left > 0:
            self._settle(trainer)
            self._tuned = self._learn_from_reliable(trainer, left)

    def _finished(self, trainer: Trainer) -> Network:
        self._settle(trainer)
        return self._tuned or trainer.network

    def _split_heads(self, trainer: Trainer) -> None:
        """Hold the features still and put several fresh heads on top."""
        network: Any = trainer.network
        self._features = said_of_all(trainer, network.backbone)
        self._start_head_at(trainer, self._features)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(mixed_seed(self.seed, 3))
            others = [ClusterHead(network.width, network.k) for _ in range(HEADS - 1)]
        network.cluster = Heads([network.cluster, *others]).to(trainer.device)
        network.backbone = Still(network.backbone, network.width)
        rate = RATE if self.rate is None else self.rate
        self._turn(trainer, optimiser="adam", learning_rate=rate, weight_decay=0.0)

    def _settle(self, trainer: Trainer) -> None:
        """Keep the best head, and let the features move again."""
        network: Any = trainer.network
        if isinstance(network.cluster, Heads) and self._loss is not None:
            network.cluster = network.cluster[self._loss.best()]
            network.backbone = network.backbone.released()
            trainer.renew()

    @torch.no_grad()
    def _find_examples(self, trainer: Trainer) -> None:
        """Prototypes of each head and the items near them, block by block."""
        if not isinstance(trainer.network.cluster, Heads):
            self._split_heads(trainer)
        loss, features = self._loss, self._features
        assert loss is not None and features is not None
        n, seed = len(features), mixed_seed(self.seed, trainer.step, 4)
        p = self._scores(trainer, seed)
        order = torch.from_numpy(np.random.default_rng(seed).permutation(n)).to(trainer.device)
        for block in torch.tensor_split(order, -(-n // BLOCK)):
            for head in range(HEADS):
                # In place: a recorded step looks there.
                loss.chosen[head, block] = prototype_labels(features[block], p[head, block])

    def _scores(self, trainer: Trainer, seed: int) -> Tensor:
        """Memberships (heads, n, k) of weak views."""
        chance = torch.Generator(trainer.device).manual_seed(seed)
        weak, network = self._changes(trainer).weak, trainer.network
        found = []
        with in_use(network), autocast(trainer.compute):
            for some in torch.split(trainer.data, READ):
                found.append(network.cluster(network.backbone(weak(some, chance))).float())
        return torch.cat(found, dim=1)

    def _changes(self, trainer: Trainer) -> Changes:
        strong: Any = self._strong_views(trainer)
        strong = strong.to(trainer.device)
        if trainer.data.ndim == 2:
            return Changes(row_changes(trainer.data).weak, strong)
        family = family_named(self.setting.family).at(self.setting.size)
        return Changes(picture_changes(family, trainer.data, trainer.compute).weak, strong)

    def _learn_from_reliable(self, trainer: Trainer, steps: int) -> Network:
        """FixMatch for so many steps, with reliable items in place of labelled ones."""
        network, data, n = trainer.network, trainer.data, len(trainer.data)
        h = said_of_all(trainer, network.backbone)
        p = said_of_all(trainer, lambda rows: network(rows, views=1).p)
        rows, labels = (part.cpu().numpy() for part in reliable_items(h, p))
        batch = trainer.batches.size
        answered = max(1, batch // 8)  # 64 of 512, as published
        company = max(1, min(n, batch - answered))
        tuning = Tuning(
            answered=answered,
            company=company,
            linked_share=0.0,
            epochs=(steps - 0.5) * company / n,  # it rounds up to whole steps
        )
        return Tuner(
            network,
            data,
            rows,
            labels,
            Answered.from_constraints(Constraints(n)),
            self._changes(trainer),
            tuning,
            compute=trainer.compute,
            seed=self.seed,
            compiled=self.setting.compile,
            watch=trainer.watch,
        ).run()


class SPICE(ContrastedClusterer):
    """SPICE: items near a prototype teach ten heads; the best one's reliable items teach the rest.

    Half of the steps learn features (SimCLR), 20 % the heads on still features (Self), 30 %
    FixMatch on the reliable items with the whole network (Semi). Without `semi`: 70 and 30 %.
    Published FixMatch has a million steps, many times all others; here features would starve. With
    a `start` features are not learnt and the rest shares all steps. The head with the lowest loss
    of late is used (the published program saves the one with the best accuracy by labels).

    As published: ten heads, prototypes from the surer half of a group's even share, blocks of 5000
    items, a second soft-max in the loss, Adam at .005; reliable is an item above .99 of whose 100
    neighbours 90 % agree, equally many per group; FixMatch with SGD at .03, one labelled item to
    seven others, threshold .95, average .999. Deviations: SimCLR in place of MoCo; examples are
    found for all blocks at each epoch, instead of eight rounds over each block; FixMatch goes on
    with the same network, with four operations in strong views; a group without reliable items
    gives its best ones, 2 % of an even group. On plain vectors: noisy rows, and the first head
    begins at k-means.

    Parameters
    ----------
    semi : whether to train the whole network on reliable items in the end.
    learning_rate : of the heads.
    n_clusters, steps, batch_size, start, backbone, stem, channels, size, family, image_shape,
    warm_start, device, compile, watch, random_state, verbose : as in
        :class:`~samekind.clusterers.deep.staged.StagedClusterer`.

    References
    ----------
    Niu et al., SPICE: Semantic Pseudo-Labeling for Image Clustering, IEEE TIP 2022,
    arXiv 2103.09382.
    """

    learner = SPICELearner
    published: ClassVar[dict[str, Any]] = {}

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        steps: int | None = None,
        semi: bool = True,
        batch_size: int | None = None,
        learning_rate: float | None = None,
        start: str | None = None,
        backbone: str | None = None,
        stem: str | None = None,
        channels: int | None = None,
        size: int | None = None,
        family: str | None = None,
        image_shape: tuple[int, ...] | None = None,
        warm_start: bool = True,
        device: str | None = None,
        compile: str = "",
        watch: Any = None,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.n_clusters = n_clusters
        self.steps = steps
        self.semi = semi
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.start = start
        self.backbone = backbone
        self.stem = stem
        self.channels = channels
        self.size = size
        self.family = family
        self.image_shape = image_shape
        self.warm_start = warm_start
        self.device = device
        self.compile = compile
        self.watch = watch
        self.random_state = random_state
        self.verbose = verbose

    def _new_learner(self, data: NDArray[Any], seed: int) -> Learner:
        learner = super()._new_learner(data, seed)
        assert isinstance(learner, SPICELearner)
        learner.semi = self.semi
        return learner
