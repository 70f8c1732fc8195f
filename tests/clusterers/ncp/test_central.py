"""The grouping in the centre of some draws, by hand."""

from __future__ import annotations

import numpy as np
import torch
from sklearn.metrics import adjusted_rand_score

from samekind.clusterers.ncp.amortized.samples import Samples
from samekind.clusterers.ncp.central import agreement, central_costs, linkage_cuts, most_central
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


def test_agreement_is_the_mean_adjusted_rand_index_over_the_draws() -> None:
    counts = torch.tensor([3, 1, 2, 4])
    some = Samples(LABELS, torch.zeros(4), counts, torch.zeros(4))
    tried = torch.tensor([[0, 0, 0, 1, 1, 1], [0, 0, 0, 0, 0, 0], [0, 1, 2, 3, 4, 5]])
    by_hand = [
        np.average([adjusted_rand_score(row, one) for one in LABELS], weights=counts)
        for row in tried
    ]
    np.testing.assert_allclose(agreement(tried, some).numpy(), by_hand, atol=1e-5)


def test_one_group_is_central_where_nearly_all_draws_are_one_group() -> None:
    labels = torch.tensor([[0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 1]])
    some = Samples(labels, torch.zeros(2), torch.tensor([97, 3]), torch.zeros(2))
    together = some.co_membership()
    found = most_central(labels, linkage_cuts(some, together, None), some, together)
    assert found.tolist() == [[0] * 6]


def test_items_between_two_groups_are_not_left_alone() -> None:
    # The last three items are of the first group or of the second, each draw decides anew.
    sides = torch.cartesian_prod(*[torch.tensor([0, 1])] * 3)
    firm = torch.tensor([0] * 6 + [1] * 6).expand(len(sides), -1)
    drawn = torch.cat([firm, sides], dim=1)
    n = len(drawn)
    some = Samples(drawn, torch.zeros(n), torch.ones(n, dtype=torch.long), torch.zeros(n))
    together = some.co_membership()
    cuts = linkage_cuts(some, together, None)
    alone = torch.tensor([[0] * 6 + [1] * 6 + [2, 3, 4]])
    assert central_costs(alone, together) <= central_costs(drawn, together).min() + 1e-4
    chosen = most_central(torch.cat([drawn, alone]), cuts, some, together)
    assert int(chosen.max()) == 1
