"""The grouping in the centre of some draws, by hand."""

from __future__ import annotations

import torch

from samekind.clusterers.ncp.amortized.samples import Samples
from samekind.clusterers.ncp.central import central_costs, linkage_cuts
from samekind.constraints import Constraints

# Two firm groups; each draw puts one item of them somewhere else.
LABELS = torch.tensor(
    [[0, 0, 0, 1, 1, 0], [0, 0, 1, 1, 1, 1], [0, 1, 0, 1, 1, 1], [0, 0, 0, 1, 2, 1]]
)


def drawn() -> Samples:
    return Samples(LABELS, torch.zeros(4), torch.ones(4, dtype=torch.long), torch.zeros(4))


def test_costs_count_the_pairs_about_which_a_grouping_is_wrong() -> None:
    together = drawn().co_membership()
    tried = torch.tensor([[0, 0, 0, 1, 1, 1], [0, 0, 0, 0, 0, 0], [0, 1, 2, 3, 4, 5]])
    by_hand = torch.stack([((row[:, None] == row).float() - together).abs().sum() for row in tried])
    costs = central_costs(tried, together)
    assert torch.allclose(costs - costs[0], by_hand - by_hand[0], atol=1e-5)


def test_linkage_finds_the_centre_that_no_draw_is() -> None:
    together = drawn().co_membership()
    cuts = linkage_cuts(drawn(), together, None)
    centre = [0, 0, 0, 1, 1, 1]
    assert len(cuts) == 3 and centre in cuts.tolist() and centre not in LABELS.tolist()
    assert central_costs(cuts, together).min() < central_costs(LABELS, together).min()


def test_groupings_that_break_an_answer_are_left_out() -> None:
    together = drawn().co_membership()
    known = Constraints.from_links(6, [(0, 1, True), (2, 3, True)])
    for row in linkage_cuts(drawn(), together, known):
        assert row[0] == row[1] and row[2] == row[3]
    impossible = Constraints.from_links(6, [(0, 3, True), (0, 1, False)])
    assert not len(linkage_cuts(drawn(), together, impossible))
