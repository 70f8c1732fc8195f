"""Base of the methods with an autoencoder: codes without answers, then groups of codes."""

from __future__ import annotations

import warnings
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from samekind.clusterers.deep.base import Floats, Learner, NetworkClusterer
from samekind.clusterers.deep.settings import Setting
from samekind.clusterers.deep.stages import (
    Stage,
    check_steps,
    points_between,
    run_stage,
    steps_of,
)
from samekind.compute import quick_kernels
from samekind.constraints import Constraints
from samekind.errors import InputError
from samekind.objectives.dec import StudentShares, self_training, target_shares
from samekind.objectives.links import LinkMasks
from samekind.training.autoencoder import (
    Autoencoder,
    Coded,
    CorruptedPictures,
    CorruptedRows,
    PictureDecoder,
    RowDecoder,
    RowEncoder,
    checked_hidden,
)
from samekind.training.bank import Bank, in_use
from samekind.training.loop import Plan, SchedulePoint, Trainer, TwoViews
from samekind.training.network import Network
from samekind.training.steps import autocast

Parts = dict[str, Tensor]
ROWS_STEPS = 120
"""Steps on plain vectors when none are given: less than a second."""
ROW_LAYERS = (128, 128)
"""Layers of the encoder for plain vectors when none are given."""
MAX_KMEANS_ITEMS = 10_000
"""Items on which k-means starts the groups."""
KMEANS_STARTS = 20
READ_ITEMS = 512
"""Items that are read at a time."""
REFRESH = 140
"""Steps between two targets, as published."""


@dataclass(frozen=True)
class Coding:
    """Settings of the autoencoder, besides those of :class:`Setting`.

    Parameters
    ----------
    hidden : widths of the layers for plain vectors.
    latent : numbers of a code.
    left_out : of the numbers or pixels that pre-training reads.
    pretraining : its share of all steps.
    refresh : steps between two targets; None: 140, or a tenth of the steps where these are fewer.
    tolerance : share of the items that changes groups between two targets below which training
        ends.
    """

    hidden: tuple[int, ...] = ROW_LAYERS
    latent: int = 10
    left_out: float = 0.2
    pretraining: float = 0.5
    refresh: int | None = None
    tolerance: float = 0.0

    def __post_init__(self) -> None:
        checked_hidden(self.hidden)
        if self.latent < 1 or (self.refresh is not None and self.refresh < 1):
            raise InputError(
                "Expected at least one number per code and one step between two targets, got "
                f"latent={self.latent} and refresh={self.refresh}. Try 10 and 140."
            )
        if not 0 <= self.pretraining < 1 or not 0 <= self.left_out < 1:
            raise InputError(
                "Expected shares from 0 to below 1, got "
                f"pretraining={self.pretraining} and left_out={self.left_out}. Try 0.5 and 0.2."
            )


class Reconstruction(nn.Module):
    """Pre-training: reconstruct what was masked."""

    def forward(self, out: Coded, links: LinkMasks, point: SchedulePoint) -> Parts:
        """Return the one part of the loss of a batch."""
        return {"reconstruction": out.error.mean()}


class DECLoss(nn.Module):
    """DEC: memberships approach their target. IDEC: codes can still be decoded meanwhile.

    Parameters
    ----------
    n, k : items and groups.
    groups, reconstruction : weights of the two parts; 1 and 0 are DEC, 0.1 and 1 are IDEC.
    """

    target: Tensor

    def __init__(self, n: int, k: int, *, groups: float = 1.0, reconstruction: float = 0.0) -> None:
        super().__init__()
        self.groups, self.reconstruction = groups, reconstruction
        self.register_buffer("target", torch.full((n, k), 1.0 / k))

    def aim(self, q: Tensor) -> None:
        """Set the target to sharpened memberships (n, k) of all items."""
        self.target.copy_(target_shares(q))

    def of_items(self, out: Coded, items: Tensor, links: LinkMasks, point: SchedulePoint) -> Parts:
        """Return the parts of the loss of a batch."""
        parts = {"groups": self.groups * self_training(self.target[items], out.p)}
        if self.reconstruction:
            parts["reconstruction"] = self.reconstruction * out.error.mean()
        return parts


@dataclass(eq=False, repr=False, kw_only=True)
class AutoencoderClusterer(NetworkClusterer):
    """A method that groups the codes of an autoencoder; see DEC, IDEC, SDEC, DCC and DCGMM.

    Parameters
    ----------
    steps : of the optimiser, pre-training included; None: twenty epochs over pictures, 120 steps
        for plain vectors. With a `start` all of them go to the groups, and codes start as the
        principal directions of its features.
    batch_size, learning_rate : None: as published.
    hidden : widths of the layers for plain vectors; None: (128, 128).
    latent : numbers per code.
    pretraining : its share of the steps. Published are 300,000 of pre-training and then as many as
        it takes; half is for short trainings.
    refresh : steps between two targets; None: 140, or a tenth of the steps where these are fewer.
    tolerance : training ends when a smaller share of the items than this changed groups between
        two targets; 0.001 as published, 0 uses all steps.

    Other parameters and the attributes are those of
    :class:`~samekind.clusterers.deep.base.NetworkClusterer`; ``space_`` holds the codes. With
    `warm_start`, the next fit keeps the pre-training and learns the groups from scratch.
    """

    steps: int | None = None
    batch_size: int | None = None
    learning_rate: float | None = None
    hidden: tuple[int, ...] | None = None
    latent: int = 10
    pretraining: float = 0.5
    refresh: int | None = None
    tolerance: float = 0.0

    def _setting(self, data: NDArray[Any], **more: Any) -> Setting:
        check_steps(self.steps)
        return super()._setting(data, learning_rate=self.learning_rate, **more)

    def _schedule(self) -> dict[str, Any]:
        return {"steps": self.steps}

    def _space(self, bank: Bank) -> Floats:
        """The codes, in which the groups lie."""
        return bank.z

    def _coding(self) -> Coding:
        return Coding(
            hidden=ROW_LAYERS if self.hidden is None else tuple(self.hidden),
            latent=self.latent,
            pretraining=self.pretraining,
            refresh=self.refresh,
            tolerance=self.tolerance,
        )


class AutoencoderLearner(Learner):
    """Learns codes of the items once, then groups of codes from scratch at each fit.

    So a fit depends on items, answers and seed, not on the fits before it.

    Parameters
    ----------
    coding : beside the setting.
    """

    def __init__(
        self, setting: Setting, data: NDArray[Any], seed: int, coding: Coding | None = None
    ) -> None:
        super().__init__(setting, data, seed)
        self.coding = coding or Coding()
        self._kept: dict[str, Tensor] | None = None
        self._kept_at = 0
        self._grouped = False

    def __getstate__(self) -> dict[str, Any]:
        """As of any learner, without the weights before the groups."""
        return {**super().__getstate__(), "_kept": None}

    @property
    def steps(self) -> int:
        """Steps of the optimiser in all, pre-training included."""
        assert self._data is not None
        return steps_of(self.setting, self._data, ROWS_STEPS)

    @property
    def first_steps(self) -> int:
        """Steps of pre-training; none where features are given."""
        if self.setting.start is not None and self._pictures:
            return 0
        return round(self.coding.pretraining * self.steps)

    def fit(self, known: Constraints, k: int | None) -> Bank:
        """Group the items by a network trained on these answers."""
        k = self._group_count(known, k)
        trainer = self._trainer
        if trainer is None or self._kept is None or self._kept_at != self.first_steps:
            self._kept, self._grouped = None, False
            trainer = self._trainer = self._begin(known, k)
        else:
            self._return(trainer, k)
        with ExitStack() as stack:
            trainer.monitor = self._monitor(stack, trainer)
            if self._kept is None:
                self._learn_codes(trainer)
            self._start_groups(trainer)
            trainer.learn_from(known)
            self._learn_groups(trainer, known)
        self._fits += 1
        return self._reading(trainer)

    def stopped(self, known: Constraints, k: int | None) -> Bank | None:
        """Read the network after its training was stopped; None if it had not begun."""
        if self._trainer is None:
            return None
        if not self._grouped:
            self._start_groups(self._trainer)
        return self._reading(self._trainer)

    def _network(self, k: int) -> Network:
        assert self._data is not None
        coding, setting = self.coding, self.setting
        if self._pictures:
            backbone = setting.resnet()
            decoder = PictureDecoder(coding.latent, setting.size, base=setting.channels)
            return self._autoencoder(backbone, decoder, k)
        d = self._data.shape[1]
        rows_decoder = RowDecoder(coding.latent, coding.hidden, d)
        return self._autoencoder(RowEncoder(d, coding.hidden), rows_decoder, k)

    def _autoencoder(self, backbone: Any, decoder: nn.Module, k: int) -> Network:
        return Autoencoder(backbone, decoder, self._groups(k), latent=self.coding.latent)

    def _groups(self, k: int) -> nn.Module:
        """Make an unfitted module from codes to memberships; it draws nothing at random."""
        return StudentShares(self.coding.latent, k)

    def _plan(self) -> Plan:
        return replace(super()._plan(), schedule="constant", clip=20.0, linked_share=0.0)

    def _trainer_of(self, network: Network, data: Tensor, views: TwoViews) -> Trainer:
        views = self._corrupted(data, self.coding.left_out)
        return super()._trainer_of(network, data, views)

    def _corrupted(self, data: Tensor, left_out: float) -> TwoViews:
        if data.ndim == 2:
            return CorruptedRows(data, left_out=left_out)
        family = self.setting.view_family()
        return CorruptedPictures(family, left_out=left_out, dtype=self._dtype)

    def _return(self, trainer: Trainer, k: int) -> None:
        """Go back to the state after pre-training, with k unfitted groups."""
        assert self._kept is not None
        network = trainer.network
        network.cluster = self._groups(k).to(trainer.device)  # type: ignore[assignment]
        network.load_state_dict(self._kept, strict=False)
        trainer.step, self._grouped = self._kept_at, False
        trainer.learn_from(Constraints(len(trainer.data)))

    def _learn_codes(self, trainer: Trainer) -> None:
        network = trainer.network
        if self.first_steps:
            points = points_between(trainer.step, self.first_steps, trainer.batches.steps)
            run_stage(Stage(Reconstruction()), trainer, self.first_steps, points)
        elif isinstance(network, Autoencoder):
            (h,) = self._all_items(trainer, "h")
            network.code_directions(h)
        self._kept = {
            name: value.clone()
            for name, value in network.state_dict().items()
            if not name.startswith("cluster.")
        }
        self._kept_at = trainer.step

    @torch.no_grad()
    def _all_items(self, trainer: Trainer, *names: str) -> list[Tensor]:
        """Compute features ``h``, codes ``z`` or memberships ``p`` of all items, on the device."""
        network, found = trainer.network, []
        with in_use(network), quick_kernels(), autocast(trainer.compute):
            for part in torch.split(trainer.data, READ_ITEMS):
                out = network(trainer.views.plain(part), views=1)
                found.append([getattr(out, name).float() for name in names])
        whole = [torch.cat(parts) for parts in zip(*found, strict=True)]
        trainer.world.agree(*whole)
        return whole

    def _start_groups(self, trainer: Trainer) -> None:
        """Start with the groups of k-means, in codes rescaled to a spread of 1."""
        (z,) = self._all_items(trainer, "z")
        _, centres, spread = k_means(z, trainer.network.k, self.seed)
        network: Any = trainer.network
        network.rescale(1 / spread)
        with torch.no_grad():
            network.cluster.centres.copy_(centres / spread)
        self._see_plain(trainer)

    def _see_plain(self, trainer: Trainer) -> None:
        """Continue with a fresh optimiser and without masking."""
        views: Any = self._corrupted(trainer.data, 0.0)
        trainer.views = views.to(trainer.device)
        trainer.renew()
        self._grouped = True

    def _objective(self, trainer: Trainer) -> nn.Module:
        """Make the loss of the second part of the training."""
        return DECLoss(len(trainer.data), trainer.network.k)

    def _learn_groups(self, trainer: Trainer, known: Constraints) -> None:
        """Train on targets that are renewed every few steps."""
        objective = self._objective(trainer).to(trainer.device)
        trainer.change(objective)
        first, last = trainer.step, self.steps
        labels: Tensor | None = None
        while trainer.step < last:
            (q,) = self._all_items(trainer, "p")
            self._aim(trainer, objective, q)
            before, labels = labels, q.argmax(dim=1)
            if before is not None and self.coding.tolerance:
                if float((before != labels).float().mean()) < self.coding.tolerance:
                    break
            self._round(trainer, objective, known, first, last)

    def _aim(self, trainer: Trainer, objective: Any, q: Tensor) -> None:
        """Update the objective from the memberships (n, k) of all items."""
        objective.aim(q)

    def _round(
        self, trainer: Trainer, objective: Any, known: Constraints, first: int, last: int
    ) -> None:
        """Train the steps between two targets."""
        many = self.coding.refresh or min(REFRESH, max(1, (last - first) // 10))
        self._go(trainer, min(last, trainer.step + many), first, last)

    @staticmethod
    def _go(trainer: Trainer, until: int, first: int, last: int) -> None:
        trainer.run_until(until, points_between(first, last, trainer.batches.steps))

    def _bar_steps(self, trainer: Trainer) -> int | None:
        return self.steps - trainer.step


def k_means(z: Tensor, k: int, seed: int) -> tuple[Tensor, Tensor, float]:
    """Group codes (n, D) by k-means, on a sample if there are many: labels, centres, spread.

    The spread is the root of the mean squared distance to the own centre; 1 where all codes lie in
    their centres.
    """
    from sklearn.cluster import KMeans

    rng = np.random.default_rng((seed, 3))
    many = max(k, MAX_KMEANS_ITEMS)
    rows = np.sort(rng.permutation(len(z))[:many])
    some = z[torch.from_numpy(rows).to(z.device)].cpu().numpy().astype(np.float64)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # fewer distinct items than groups do not matter here
        found = KMeans(k, n_init=KMEANS_STARTS, random_state=int(rng.integers(2**31))).fit(some)
    centres = torch.from_numpy(found.cluster_centers_).to(z)
    far = torch.cdist(z, centres)  # (n, k)
    nearest, labels = far.min(dim=1)
    spread = float(nearest.square().mean().sqrt())
    return labels, centres, spread if spread > 1e-6 else 1.0
