"""Answers in a clusterwise pass: components join as one, and never together with what differs.

Given the anchor and z, points join on their own, so the probability of what the answers allow is
known: a component joins or stays as a whole, the anchor's joins, and those known to differ from a
member stay. Each choice is drawn among what is allowed, and the mass that is allowed is the
importance weight: weighted so, samples are those of the posterior given the answers.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import logsigmoid

from samekind.clusterers.ncp.amortized.conditioning import Answers
from samekind.constraints import Constraints


class Joined(NamedTuple):
    """Who joins in a pass."""

    member: Tensor
    """(B, R, N) the anchor not among them."""
    log_mass: Tensor
    """(B, R) logarithm of the probability of what is allowed."""


def joined_freely(odds: Tensor, left: Tensor, generator: torch.Generator | None) -> Joined:
    """Each point on its own. Without a generator: where joining is the more probable."""
    member = left & (_chance(odds, generator) < odds.sigmoid())
    return Joined(member, odds.new_zeros(odds.shape[:2]))


class Together:
    """What the answers allow in a pass; components that some answer is about have a number.

    >>> known = Constraints.from_links(4, [(0, 1, True), (2, 3, False)])
    >>> odds = torch.tensor([[[9.0, -9.0, 5.0, 5.0]]])
    >>> left = torch.tensor([[[False, True, True, True]]])
    >>> joined = Together(known).joined(odds, left, torch.tensor([[0]]), torch.arange(4), None)
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
        share = _chance(log_in, generator)
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


def _chance(like: Tensor, generator: torch.Generator | None) -> Tensor:
    """Uniform numbers of that shape; one half without a generator."""
    if generator is None:
        return torch.full_like(like, 0.5)
    return torch.rand(like.shape, generator=generator, device=like.device, dtype=like.dtype)
