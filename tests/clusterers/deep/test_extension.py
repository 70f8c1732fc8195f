"""Label extension: guesses reach the loss in the last part of a training, more and more of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from samekind import OCC, PCL
from samekind.clusterers.deep.occ import OCCLoss
from samekind.constraints import Constraints

KINDS = np.arange(120) % 2


class Spy(OCCLoss):
    """Notes the number of guessed links of each step."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[tuple[int, int]] = []

    def forward(self, out: Any, links: Any, point: Any) -> Any:
        self.seen.append((int(point.epoch), int(links.guessed.triu().sum())))
        return super().forward(out, links, point)


def guessed_by_epoch(method: Any, answers: int, **parameters: Any) -> dict[int, int]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 6)).astype(np.float32)
    X[:, 0] += 4 * KINDS
    pairs = rng.permutation(120)[: 2 * answers].reshape(-1, 2).tolist()
    known = Constraints.from_links(120, [(a, b, bool(KINDS[a] == KINDS[b])) for a, b in pairs])
    spy = Spy()
    model = method(n_clusters=2, random_state=0, objective=spy, epochs=8, **parameters)
    model.fit(X, constraints=known)
    return dict(spy.seen)


def test_guesses_grow_over_the_second_half_of_the_training() -> None:
    found = guessed_by_epoch(OCC, 10)
    assert not any(found[epoch] for epoch in range(4))
    assert found[4] > 0, "something is guessed from the first epoch of the extension on"
    assert found[7] >= found[4]
    assert guessed_by_epoch(OCC, 10, extension=0.25)[5] == 0
    assert not any(guessed_by_epoch(OCC, 10, extension=0.0).values())
    assert not any(guessed_by_epoch(OCC, 0).values()), "nothing is known to be extended"


def test_the_rule_of_pcls_program_finds_nothing_while_vectors_differ() -> None:
    assert not any(guessed_by_epoch(OCC, 10, certain=0.9999).values())
    assert guessed_by_epoch(OCC, 10, certain=0.5)[7] > 0


@pytest.mark.parametrize("extension", [None, 0.5])
def test_pcl_extends_only_if_it_is_told_to(extension: float | None) -> None:
    found = guessed_by_epoch(PCL, 10, extension=extension)
    assert any(found.values()) == (extension is not None)
