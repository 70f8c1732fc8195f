"""Answers limit the choices: the posterior given what a person said, without training again.

A point whose component has a group joins it; a point may not join a group with a member of a
component that is known to be different. Both can always be honoured, because contradictions have
been kept aside by the constraints. The mass that is cut away at each step is the importance weight
that turns such samples into samples of the posterior given the answers.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from samekind.constraints import Constraints


class Answers:
    """What the answers allow, for :class:`~samekind.clusterers.ncp.amortized.sampler.Sampler`.

    Memory of a state: the group of each answered component, -1 before its first member is placed;
    the last column stands for all items without answers and stays -1.

    >>> known = Constraints.from_links(3, [(0, 1, True), (1, 2, False)])
    >>> answers = Answers(known)
    >>> memory = answers.start(torch.device("cpu"))[None]
    >>> memory = answers.remember(memory, torch.tensor([0]), torch.tensor([0]))
    >>> answers.choices(memory, torch.tensor([1]), 2).tolist()
    [[True, False]]
    >>> answers.choices(memory, torch.tensor([2]), 2).tolist()
    [[False, True]]
    """

    def __init__(self, constraints: Constraints) -> None:
        components, foes = constraints.components, constraints.component_links()
        size = np.bincount(components, minlength=1)
        matters = size > 1
        matters[foes.ravel()] = True
        number = np.where(matters, np.cumsum(matters) - 1, matters.sum())
        C = int(matters.sum())
        table = np.zeros((C + 1, C + 1), dtype=bool)
        table[number[foes[:, 0]], number[foes[:, 1]]] = True
        self.component = torch.from_numpy(number[components].astype(np.int64))
        """(n,) number of each item's component; the last number: no answers."""
        self.different = torch.from_numpy(table | table.T)
        self.n_components = C

    def order(self, n_orders: int = 1, generator: torch.Generator | None = None) -> Tensor:
        """(n_orders, n) random orders with the answered items first, component by component.

        Early answers leave little to cut away later, so weights stay even.
        """
        n = len(self.component)
        device = None if generator is None else generator.device
        chance = torch.rand(n_orders, n, generator=generator, device=device)
        turn = torch.rand(n_orders, self.n_components + 1, generator=generator, device=device)
        turn[:, -1] = 2.0
        block = turn[:, self.component.to(turn.device)]
        within = chance.argsort(1)
        return within.gather(1, block.gather(1, within).argsort(dim=1, stable=True))

    def start(self, device: torch.device) -> Tensor:
        """(C + 1,) no component has a group."""
        self.component = self.component.to(device)
        self.different = self.different.to(device)
        return torch.full((self.n_components + 1,), -1, device=device)

    def choices(self, memory: Tensor, items: Tensor, n_choices: int) -> Tensor:
        """(R, n_choices) the component's group, or any without a member that differs."""
        component = self.component[items]
        own = memory.gather(1, component[:, None])  # (R, 1)
        told = self.different[component] & (memory >= 0)  # (R, C + 1)
        barred = torch.zeros(len(memory), n_choices + 1, dtype=torch.bool, device=memory.device)
        # The last column takes what bars nothing.
        barred.scatter_(1, torch.where(told, memory, n_choices), True)
        slots = torch.arange(n_choices, device=memory.device)
        return torch.where(own >= 0, slots == own, ~barred[:, :n_choices])

    def remember(self, memory: Tensor, items: Tensor, choice: Tensor) -> Tensor:
        """The group of each item's component is known now."""
        after = memory.scatter(1, self.component[items][:, None], choice[:, None])
        after[:, -1] = -1
        return after
