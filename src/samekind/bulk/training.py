"""Train an encoder on the pictures of shards: in this process, under torchrun, or on Ray."""

from __future__ import annotations

import json
import os
import secrets
import shutil
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from samekind.bulk.cluster import connected
from samekind.bulk.files import exists, expand, is_folder, is_url, suffix_of
from samekind.bulk.formats.folders import FolderReader
from samekind.bulk.pictures import ShardPile
from samekind.bulk.readers import open_reader
from samekind.encoders import default_cache
from samekind.encoders.learned.piles import TrainingPile, pile_of
from samekind.encoders.learned.plan import choose
from samekind.encoders.learned.training import Learning
from samekind.encoders.learned.weights import Kept, learnt_folder
from samekind.errors import InputError, MissingExtra, SamekindError, SourceError
from samekind.protocols import Progress
from samekind.sources import is_set, is_vector_store, open_source


@dataclass(frozen=True)
class TrainingJob:
    """A training as it is sent to other processes: what `samekind learn` was told.

    Parameters
    ----------
    source : pictures; all processes must see them under this path or URL.
    encoder, groups, size, device, seed : as in :meth:`samekind.encoders.learned.encoder.Learnt
        .learn`; minutes, epochs : how long, one of the two.
    """

    source: str
    encoder: str = "simclr"
    minutes: float | None = None
    epochs: float | None = None
    groups: int | None = None
    size: int | None = None
    device: str | None = None
    seed: int = 0

    def run(self) -> Kept:
        """Train here; with the other processes, if torch connects this one to some."""
        pile = open_training_pile(self.source)
        choice = choose(
            self.encoder,
            pile,
            groups=self.groups,
            size=self.size,
            device=self.device,
            seed=self.seed,
        )
        learning = Learning.chosen(choice, pile)
        return learning.run(learning.target(minutes=self.minutes, epochs=self.epochs))


def is_sharded(source: str) -> bool:
    """Whether pictures are read in bulk: shards, a URL, a pattern, or a store's source."""
    if is_set(source):
        return False
    place = expand(source)
    if is_vector_store(source) or is_url(source) or suffix_of(place) == ".tar":
        return True
    if not exists(place):
        return "*" in place
    try:
        return is_folder(place) and not isinstance(open_reader(source), FolderReader)
    except SourceError:  # nothing usable: the sources say so in their own words
        return False


def open_training_pile(source: str, progress: Progress | None = None) -> TrainingPile:
    """Open pictures to learn from: shards without loading them, or a folder, table or set."""
    if is_sharded(source):
        return ShardPile.at(source, progress)
    return pile_of(open_source(source, cache=default_cache(), progress=progress))


def train_on_ray(job: TrainingJob, on: str, workers: int) -> Kept:
    """Train with several processes of a Ray cluster (Ray Train).

    The cache must be in a folder that all machines share (``SAMEKIND_HOME``), because the pictures
    are decoded and the network is kept there.

    Parameters
    ----------
    on : address of the cluster; see :func:`samekind.bulk.cluster.connected`.
    workers : processes that train together, each with a GPU if the cluster has as many.
    """
    if workers < 1:
        raise InputError(f"Expected at least 1 worker, got {workers}.")
    with connected(on) as ray:
        try:
            from ray.train import RunConfig, ScalingConfig
            from ray.train.torch import TorchConfig, TorchTrainer
        except ImportError as missing:
            raise MissingExtra("Training on Ray", "cluster") from missing
        gpu = job.device != "cpu" and ray.cluster_resources().get("GPU", 0) >= workers
        folder = learnt_folder().absolute() / f"ray-{secrets.token_hex(6)}"
        result = folder / "kept.json"
        trainer = TorchTrainer(
            _train,
            train_loop_config={
                "job": asdict(job),
                "environment": _environment(),
                "result": str(result),
            },
            scaling_config=ScalingConfig(num_workers=workers, use_gpu=gpu),
            torch_config=TorchConfig(backend="nccl" if gpu else "gloo"),
            run_config=RunConfig(storage_path=str(folder)),
        )
        try:
            trainer.fit()
            return Kept(**json.loads(result.read_text(encoding="utf-8")))
        except FileNotFoundError as problem:
            raise InputError(
                f"The network is on another machine and not in {learnt_folder()}. Set "
                "SAMEKIND_HOME to a folder that all machines share, and train again."
            ) from problem
        except Exception as problem:  # Ray wraps what went wrong in a worker in types of its own
            raise SamekindError(f"Training on Ray failed: {_reason(problem)}") from problem
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def _environment() -> dict[str, str]:
    """Settings that workers need as well."""
    home = default_cache().absolute().parent if os.environ.get("SAMEKIND_HOME") else None
    found = {"SAMEKIND_HOME": str(home)} if home else {}
    return found | {k: v for k in ("SAMEKIND_DEVICE",) if (v := os.environ.get(k))}


def _train(config: dict[str, Any]) -> None:
    """What each worker does."""
    from ray import train

    os.environ |= config["environment"]
    kept = TrainingJob(**config["job"]).run()
    if train.get_context().get_world_rank() == 0:
        Path(config["result"]).write_text(json.dumps(asdict(kept)), encoding="utf-8")


def _reason(problem: BaseException) -> str:
    """The last line of what a worker says."""
    lines = [line.strip() for line in str(problem).splitlines() if line.strip()]
    return lines[-1] if lines else type(problem).__name__
