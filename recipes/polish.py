"""Polish on one page: the live learner asks, and a deep network learns from the same answers.

    python recipes/polish.py --set cifar10 --data FOLDER --start features.safetensors

500 questions are asked by the live learner, in turns, on features that were learnt without labels
(``recipes/learn.py``); nobody tells it the number of groups. Its groups are scored, then a network
is trained once on all answers, and its groups are scored too. Training and test pictures are one
pile, as in IDC. The answers are kept in a file (``--answers``), so that several methods, or another
machine, can learn from the same ones.
"""

from __future__ import annotations

import inspect
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
from arguments import idc_arguments, idc_settings, person, write

from samekind.clusterers.live.estimator import Live
from samekind.constraints import Constraints
from samekind.evaluation import score
from samekind.registry import find
from samekind.session import Session
from samekind.simulation.loop import run
from samekind.sources import PictureSet, open_cifar
from samekind.training.selflearn import LearntNetwork

PER_REFIT = 10


def main() -> None:
    wanted = idc_arguments(__doc__ or "", polish=True)
    began = time.monotonic()
    pile = open_cifar(wanted.set, wanted.data)
    images, _, truth = pile.whole(wanted.orientation)
    images, truth = images[: wanted.items], truth[: wanted.items]
    print(f"{wanted.set}, {wanted.orientation}: {len(images)} pictures", flush=True)
    curve: list[dict[str, Any]] = []

    def note(told: int, method: str, labels: Any, asked: Any) -> None:
        rest = np.setdiff1d(np.arange(len(truth)), asked)  # not put right by the answers themselves
        row = {"questions": told, "learner": method, **score(truth, labels)}
        row |= {f"unasked_{k}": v for k, v in score(truth[rest], labels[rest]).items()}
        row |= {"groups": len(np.unique(labels)), "seconds": round(time.monotonic() - began, 1)}
        curve.append(row)
        print({k: round(v, 4) if isinstance(v, float) else v for k, v in row.items()}, flush=True)

    if wanted.answers and Path(wanted.answers).exists():
        known, told = read_answers(wanted.answers, len(images))
    else:
        known = asked(wanted, pile, images, truth, note)
        told = len(known.answers)
        if wanted.answers:
            keep_answers(wanted.answers, known)
    method = find("method", wanted.method)
    settings = idc_settings(wanted, list(inspect.signature(method).parameters))
    model = method(n_clusters=None, **settings)
    model.fit(images, constraints=known)
    note(told, wanted.method, model.labels_, known.touched)
    if wanted.save_features:
        model.save_features(wanted.save_features)
    write(wanted, wanted.method, curve)


def asked(wanted: Any, pile: PictureSet, images: Any, truth: Any, note: Any) -> Constraints:
    """What the person answered to the live learner."""
    features = LearntNetwork.load(wanted.start).features(images)
    features /= np.linalg.norm(features, axis=1, keepdims=True)
    _, collection, _ = pile.whole(wanted.orientation)
    session = Session(
        collection.take(range(len(images))),
        features,
        clusterer=Live(random_state=wanted.seed),
        strategy="live",
        seed=wanted.seed,
        refit_every=PER_REFIT,
        ahead=PER_REFIT,
        budget=wanted.questions,
    )
    noted = {told for told in (0, 50, 100, 200, 500, 1000) if told < wanted.questions}
    oracle = person(wanted, truth, session.clustering.labels)

    def see(session: Session, told: int) -> None:
        if told in noted:
            note(told, "live", session.clustering.labels, session.constraints.touched)

    see(session, 0)
    run(session, oracle, wanted.questions, on_refit=see)
    session.refit()
    note(len(session.answers), "live", session.clustering.labels, session.constraints.touched)
    return session.constraints


def keep_answers(path: str, known: Constraints) -> None:
    """Write links: enough to learn from."""
    links = known.links()
    rows = [links.a.tolist(), links.b.tolist(), links.same.tolist()]
    Path(path).write_text(json.dumps({"links": rows, "answers": len(known.answers)}))


def read_answers(path: str, n: int) -> tuple[Constraints, int]:
    """Links of a file, and how many answers they came from."""
    kept = json.loads(Path(path).read_text())
    a, b, same = kept["links"]
    links = list(zip(a, b, map(bool, same), strict=True))
    return Constraints.from_links(n, links), int(kept["answers"])


if __name__ == "__main__":
    main()
