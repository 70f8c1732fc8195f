"""Answers limit the choices: the posterior given what a person said, without training again.

A point whose component has a group joins it; a point may not join a group with a member of a
component that is known to be different. Both can always be honoured, because contradictions have
been kept aside by the constraints. The mass that is cut away at each step is the importance weight
that turns such samples into samples of the posterior given the answers.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import logsigmoid

from samekind.constraints import Constraints


class Answers:
    """Choices that the answers allow, for the pointwise `Sampler`.

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
        components, links = constraints.components, constraints.component_links()
        size = np.bincount(components, minlength=1)
        matters = size > 1
        matters[links.ravel()] = True
        number = np.where(matters, np.cumsum(matters) - 1, matters.sum())
        C = int(matters.sum())
        table = np.zeros((C + 1, C + 1), dtype=bool)
        table[number[links[:, 0]], number[links[:, 1]]] = True
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
        uniform = torch.rand(n_orders, n, generator=generator, device=device)
        turn = torch.rand(n_orders, self.n_components + 1, generator=generator, device=device)
        turn[:, -1] = 2.0
        block = turn[:, self.component.to(turn.device)]
        within = uniform.argsort(1)
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


class Joined(NamedTuple):
    """Who joins in a pass."""

    member: Tensor
    """(B, R, N) the anchor not among them."""
    log_mass: Tensor
    """(B, R) logarithm of the probability of what is allowed."""


def joined_freely(odds: Tensor, left: Tensor, generator: torch.Generator | None) -> Joined:
    """Each point on its own. Without a generator: where joining is the more probable."""
    member = left & (_uniform(odds, generator) < odds.sigmoid())
    return Joined(member, odds.new_zeros(odds.shape[:2]))


class ClusterwiseAnswers:
    """Restrictions by the answers in a pass; components with answers have a number.

    >>> known = Constraints.from_links(4, [(0, 1, True), (2, 3, False)])
    >>> odds = torch.tensor([[[9.0, -9.0, 5.0, 5.0]]])
    >>> left = torch.tensor([[[False, True, True, True]]])
    >>> anchor, answers = torch.tensor([[0]]), ClusterwiseAnswers(known)
    >>> joined = answers.joined(odds, left, anchor, torch.arange(4), None)
    >>> joined.member.tolist()
    [[[False, True, True, False]]]
    """

    def __init__(self, constraints: Constraints) -> None:
        answers = Answers(constraints)
        self.n_items, self.n = constraints.n_items, answers.n_components
        self.component, self.different = answers.component, answers.different  # (n,), (C+1, C+1)

    def joined(
        self,
        odds: Tensor,
        left: Tensor,
        anchor: Tensor,
        place: Tensor,
        generator: torch.Generator | None,
    ) -> Joined:
        """Draw the members among what is allowed.

        Parameters
        ----------
        odds, left : (B, R, M) of the points at hand; the anchor (B, R) is not left.
        place : (M,) which items they are.
        generator : None takes the more probable of what is allowed, the surest component first;
            the mass is then no weight.
        """
        number = self.component.to(odds.device)[place]  # (M,)
        different = self.different.to(odds.device)
        own = number[anchor]  # (B, R)
        log_in = self._of_components(left, logsigmoid(odds), number)  # (B, R, C)
        log_out = self._of_components(left, logsigmoid(-odds), number)
        # What was taken in an earlier pass has no choice and no mass.
        here = self._of_components(left, torch.ones_like(odds), number) > 0
        inside, log_mass = self._chosen(log_in, log_out, here, own, different, generator)
        free = number == self.n
        alone = joined_freely(odds, left & free, generator).member
        rows = torch.cat([inside, inside.new_zeros(*inside.shape[:2], 1)], -1)
        together = rows[..., number] & left
        return Joined(torch.where(free, alone, together), log_mass)

    def _of_components(self, left: Tensor, values: Tensor, number: Tensor) -> Tensor:
        """(B, R, C) sums over the members of each component that are left."""
        sums = values.new_zeros(*values.shape[:2], self.n + 1)
        kept = torch.where(left, values, 0.0)
        return sums.index_add(2, number, kept)[..., : self.n]

    def _chosen(
        self,
        log_in: Tensor,
        log_out: Tensor,
        here: Tensor,
        own: Tensor,
        different: Tensor,
        generator: torch.Generator | None,
    ) -> tuple[Tensor, Tensor]:
        """(B, R, C) components that join, one decided after the other, and the mass allowed."""
        inside = torch.zeros_like(log_in, dtype=torch.bool)
        slots = torch.arange(self.n, device=log_in.device)
        is_own = own[..., None] == slots
        barred = different[own][..., : self.n]  # an anchor without answers bars nothing
        order = slots.expand_as(log_in)
        if generator is None:
            order = (log_in - log_out).argsort(-1, descending=True)
        share = _uniform(log_in, generator)
        log_mass = log_in.new_zeros(log_in.shape[:2])
        for turn in order.unbind(-1):  # (B, R) a component for each row
            at = turn[..., None]
            yes, no = log_in.gather(-1, at), log_out.gather(-1, at)  # (B, R, 1)
            may, must = ~barred.gather(-1, at), is_own.gather(-1, at)
            both, is_here = torch.logaddexp(yes, no), here.gather(-1, at)
            joins = is_here & (must | (may & (share.gather(-1, at) < (yes - both).exp())))
            mass = torch.where(must, yes, torch.where(may, both, no))
            log_mass = log_mass + torch.where(is_here, mass, 0.0)[..., 0]
            inside = inside.scatter(-1, at, joins)
            barred = barred | (different[turn][..., : self.n] & joins)
        return inside, log_mass


def _uniform(like: Tensor, generator: torch.Generator | None) -> Tensor:
    """Uniform numbers of that shape; one half without a generator."""
    if generator is None:
        return torch.full_like(like, 0.5)
    return torch.rand(like.shape, generator=generator, device=like.device, dtype=like.dtype)
