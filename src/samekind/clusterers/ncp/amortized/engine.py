"""Placing points one after the other: the state of many groupings side by side.

A state is one way to have grouped the points placed so far. States of all data sets lie in one
table; `owner` says whose they are. States share groups: a group with the same members, put there
in the same order, is described once, however many states have it. At each step g is computed only
for the groups that a point could join, and for one new group per data set.
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
PIECE = 4_096
"""Choices that are scored at a time."""


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
    slots: Tensor
    """(R, slots) rows of their groups in the next two; 0 in empty slots."""
    H: Tensor
    """(V, dh) sums over members of all groups that a state has; the first row is zero."""
    groups: Tensor
    """(V, dg) g of them; the first row is zero."""
    G: Tensor
    """(R, dg) sum of g over the groups of each state."""
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
    """(R, C) row in the next three of what each open choice makes of its group."""
    H: Tensor
    groups: Tensor
    change: Tensor
    """By which G changes."""


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
            torch.zeros(B, FIRST_SLOTS, dtype=torch.long, device=device),
            torch.zeros(1, width, device=device, dtype=kind),
            torch.zeros(1, depth, device=device, dtype=kind),
            torch.zeros(B, depth, device=device, dtype=kind),
            torch.zeros(B, dtype=torch.long, device=device),
            torch.zeros(B, device=device, dtype=kind),
            torch.zeros(B, device=device, dtype=kind),
            memory,
        )

    def look(self, state: State, step: int) -> StepChoices:
        """The distribution of the choice at a step, for each state."""
        C = int(state.n_groups.max()) + 1
        is_open = torch.arange(C, device=state.H.device) <= state.n_groups[:, None]  # (R, C)
        row, slot = is_open.nonzero(as_tuple=True)  # (choices,)
        old, owner, at = self._joined(state, _roomy(state.slots, C)[row, slot], row)
        new_H = state.H[old] + self.h[owner, step]
        new_groups = self.network.g(new_H)
        change = new_groups - state.groups[old]
        found = self._scores(state, change, row, at, step)
        scores = found.new_full(is_open.shape, -torch.inf).index_put((row, slot), found)
        rows = at.new_zeros(is_open.shape).index_put((row, slot), at)
        log_probs = scores.log_softmax(1)
        may = is_open
        if self.allowed is not None and state.memory is not None:
            items = self.order[state.owner, step]
            may = is_open & self.allowed.choices(state.memory, items, C)
        if self.there is not None:  # padding: the only choice is 0 and costs nothing
            gone = ~self.there[state.owner, step][:, None]
            only = torch.arange(C, device=log_probs.device) == 0
            nothing = log_probs.new_zeros(()).expand_as(log_probs)
            log_probs = torch.where(gone, nothing.masked_fill(~only, -torch.inf), log_probs)
            may = torch.where(gone, only, may)
        kept = log_probs.masked_fill(~may, -torch.inf)
        log_mass = kept.logsumexp(1)
        proposal = kept - log_mass[:, None]
        return StepChoices(log_probs, proposal, log_mass, rows, new_H, new_groups, change)

    def _joined(self, state: State, group: Tensor, row: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Groups that may be joined, each once: row and owner (W,), and which one each choice is.

        An empty group belongs to no data set, so it is told apart by the owner.
        """
        V, owner = len(state.H), state.owner[row]
        code = torch.where(group > 0, group, V + owner)
        whose = owner.new_zeros(V + len(self.h)).index_put((code,), owner)
        met = torch.zeros_like(whose, dtype=torch.bool).index_fill(0, code, True)
        each = met.nonzero()[:, 0]
        return torch.where(each < V, each, 0), whose[each], (met.cumsum(0) - 1)[code]

    def _scores(self, state: State, change: Tensor, row: Tensor, at: Tensor, step: int) -> Tensor:
        """(choices,) f of each choice, in pieces that stay in the processor's cache."""
        context = self.context[state.owner, step]
        pieces = [
            self.network.f(state.G[some] + change[there], context[some])
            for some, there in zip(torch.split(row, PIECE), torch.split(at, PIECE), strict=True)
        ]
        return torch.cat(pieces)

    def move(
        self, state: State, choices: StepChoices, step: int, parent: Tensor, choice: Tensor
    ) -> State:
        """The states that come from `parent` (R',) by putting the point into `choice` (R',)."""
        C = choices.log_probs.shape[1]
        rows = choices.rows[parent, choice]
        memory, items = state.memory, self.order[state.owner[parent], step]
        if self.allowed is not None and memory is not None:
            memory = self.allowed.remember(memory[parent], items, choice)
        slots = _roomy(state.slots, C)[parent]
        slots[torch.arange(len(slots), device=slots.device), choice] = len(state.H) + rows
        V = len(state.H)
        kept = torch.zeros(V + len(choices.H), dtype=torch.bool, device=slots.device)
        kept[slots.flatten()] = True
        kept[0] = True
        old, new = kept[:V], kept[V:]
        return State(
            state.owner[parent],
            (kept.cumsum(0) - 1)[slots],
            torch.cat([state.H[old], choices.H[new]]),
            torch.cat([state.groups[old], choices.groups[new]]),
            state.G[parent] + choices.change[rows],
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
