"""Placing points one after the other: the state of many groupings side by side.

A state is one way to have grouped the points placed so far. States of all data sets lie in one
table; `owner` says whose they are. At each step only K + 1 values of g per state are new, and an
empty slot of H is the group that would be opened.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import torch
from torch import Tensor

from samekind.clusterers.ncp.amortized.likelihood import reordered, unplaced
from samekind.clusterers.ncp.amortized.network import Functions, Points

FIRST_SLOTS = 8
"""Room for groups at the beginning; it doubles when it is full."""


class Allowed(Protocol):
    """Which choices a state may make, by what it has chosen before.

    What a state must remember is one row of whole numbers; the engine carries the rows along.
    """

    def start(self, device: torch.device) -> Tensor:
        """(M,) the memory of a state in which nothing is placed."""
        ...

    def choices(self, memory: Tensor, items: Tensor, n_choices: int) -> Tensor:
        """(R, n_choices) bool: where each state may put its item (R,)."""
        ...

    def remember(self, memory: Tensor, items: Tensor, choice: Tensor) -> Tensor:
        """(R, M) the memory after the items were put there."""
        ...


@dataclass(frozen=True)
class State:
    """R partial groupings."""

    owner: Tensor
    """(R,) the data set of each."""
    H: Tensor
    """(R, slots, dh) sums over members; zero in empty slots."""
    groups: Tensor
    """(R, slots, dg) g of them; zero in empty slots."""
    n_groups: Tensor
    """(R,)"""
    log_prob: Tensor
    """(R,) of the choices so far, under the network."""
    log_weight: Tensor
    """(R,) logarithm of the probability mass that was left at each step by what is allowed."""
    memory: Tensor | None


class StepChoices(NamedTuple):
    """The choices of one step."""

    log_probs: Tensor
    """(R, C) under the network."""
    proposal: Tensor
    """(R, C) the same among what is allowed, adding up to one."""
    log_mass: Tensor
    """(R,) logarithm of what is allowed of the probability."""
    rows: Tensor
    """(R, C) row of each open choice in the next two."""
    H: Tensor
    groups: Tensor


class Engine:
    """Steps through the points of B data sets in the given orders.

    Parameters
    ----------
    network : the functions of the process.
    points : of the data sets, in their own order.
    order : (B, N) which point is placed at each step; padding last.
    mask : (B, N) which points there are, in their own order.
    allowed : what limits the choices; None: nothing.
    """

    def __init__(
        self,
        network: Functions,
        points: Points,
        order: Tensor,
        mask: Tensor | None = None,
        allowed: Allowed | None = None,
    ) -> None:
        self.network, self.order, self.allowed = network, order, allowed
        placed = reordered(points, order)
        self.h = placed.h
        self.context = network.context(unplaced(placed.u), placed.h)  # (B, N, c)
        self.there = None if mask is None else mask.gather(1, order)

    def start(self) -> State:
        """One state per data set: nothing is placed."""
        B, _, width = self.h.shape
        device, kind = self.h.device, self.h.dtype
        depth = self.network.g(self.h[:1, :1]).shape[-1]
        memory = None
        if self.allowed is not None:
            memory = self.allowed.start(device).expand(B, -1).clone()
        return State(
            torch.arange(B, device=device),
            torch.zeros(B, FIRST_SLOTS, width, device=device, dtype=kind),
            torch.zeros(B, FIRST_SLOTS, depth, device=device, dtype=kind),
            torch.zeros(B, dtype=torch.long, device=device),
            torch.zeros(B, device=device, dtype=kind),
            torch.zeros(B, device=device, dtype=kind),
            memory,
        )

    def look(self, state: State, step: int) -> StepChoices:
        """The distribution of the choice at a step, for each state."""
        C = int(state.n_groups.max()) + 1
        H, groups = _roomy(state.H, C), _roomy(state.groups, C)
        is_open = torch.arange(C, device=H.device) <= state.n_groups[:, None]  # (R, C)
        row, slot = is_open.nonzero(as_tuple=True)  # (V,)
        new_H = H[row, slot] + self.h[state.owner, step][row]
        new_groups = self.network.g(new_H)
        rest = groups.sum(1)[row] - groups[row, slot]
        found = self.network.f(rest + new_groups, self.context[state.owner, step][row])
        scores = found.new_full((len(H), C), -torch.inf).index_put((row, slot), found)
        rows = (is_open.flatten().cumsum(0) - 1).view(is_open.shape)
        log_probs = scores.log_softmax(1)
        may = is_open
        if self.allowed is not None and state.memory is not None:
            items = self.order[state.owner, step]
            may = is_open & self.allowed.choices(state.memory, items, C)
        if self.there is not None:  # padding: the only choice is 0 and costs nothing
            gone = ~self.there[state.owner, step][:, None]
            only = torch.arange(C, device=H.device) == 0
            nothing = log_probs.new_zeros(()).expand_as(log_probs)
            log_probs = torch.where(gone, nothing.masked_fill(~only, -torch.inf), log_probs)
            may = torch.where(gone, only, may)
        kept = log_probs.masked_fill(~may, -torch.inf)
        log_mass = kept.logsumexp(1)
        return StepChoices(log_probs, kept - log_mass[:, None], log_mass, rows, new_H, new_groups)

    def move(
        self, state: State, choices: StepChoices, step: int, parent: Tensor, choice: Tensor
    ) -> State:
        """The states that come from `parent` (R',) by putting the point into `choice` (R',)."""
        C = choices.log_probs.shape[1]
        rows = choices.rows[parent, choice]
        memory, items = state.memory, self.order[state.owner[parent], step]
        if self.allowed is not None and memory is not None:
            memory = self.allowed.remember(memory[parent], items, choice)
        return State(
            state.owner[parent],
            _with_slot(_roomy(state.H, C)[parent], choice, choices.H[rows]),
            _with_slot(_roomy(state.groups, C)[parent], choice, choices.groups[rows]),
            state.n_groups[parent].maximum(choice + 1),
            state.log_prob[parent] + choices.log_probs[parent, choice],
            state.log_weight[parent] + choices.log_mass[parent],
            memory,
        )


def _roomy(table: Tensor, slots: int) -> Tensor:
    """The table with twice the slots, as often as needed."""
    while table.shape[1] < slots:
        table = torch.cat([table, torch.zeros_like(table)], dim=1)
    return table


def _with_slot(table: Tensor, slot: Tensor, value: Tensor) -> Tensor:
    """The (already copied) table with one slot of each row exchanged."""
    table[torch.arange(len(table), device=table.device), slot] = value
    return table
