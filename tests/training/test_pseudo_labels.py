"""The memory of pseudo-labels: the published rule, its repair, and what it never does."""

from __future__ import annotations

import json
import math

import pytest
import torch
from torch import Tensor
from torch._subclasses.fake_tensor import FakeTensorMode

from places import VECTORS
from samekind.errors import InputError
from samekind.training.pseudo_labels import PseudoLabels

VECTOR = json.loads((VECTORS / "idc.json").read_text())
EXAMPLE = VECTOR["pseudo_memory"]


def slow(
    p: list[list[float]], old: list[int], share: float, threshold: float, *, repaired: bool
) -> list[int]:
    """The rule, one item at a time."""
    n, k = len(p), len(p[0])
    quota = math.ceil(round(share * n / k, 9))
    sure = [max(row) for row in p]
    said = [row.index(max(row)) for row in p]
    new = [-1] * n
    for group in range(k):
        mine = sorted((i for i in range(n) if said[i] == group), key=lambda i: -sure[i])
        for i in mine[:quota]:
            if sure[i] > threshold:
                new[i] = group
    result = []
    for i in range(n):
        kept = old[i] if not (repaired and old[i] != said[i]) else -1
        label = kept if kept >= 0 else new[i]
        result.append(label if sure[i] >= threshold else -1)
    return result


def sharp(n: int, k: int, seed: int) -> Tensor:
    draw = torch.Generator().manual_seed(seed)
    return (6 * torch.randn(n, k, generator=draw, dtype=torch.float64)).softmax(dim=1)


def test_the_memory_is_the_worked_example_and_the_repair_drops_the_frozen_label() -> None:
    p, before = torch.tensor(EXAMPLE["prob"]), torch.tensor(EXAMPLE["before"])
    for repaired in (False, True):
        memory = PseudoLabels(10, 2, share=EXAMPLE["gamma"], repaired=repaired)
        memory.labels.copy_(before)
        assert memory.quota(10) == 1
        found = memory.update(torch.arange(10), p).tolist()
        wanted = list(EXAMPLE["after"])
        assert wanted[7] == 0
        if repaired:
            wanted[7] = -1  # the network says 1, and others are surer of that
        assert found == wanted == memory.labels.tolist()


@pytest.mark.parametrize("repaired", [False, True])
@pytest.mark.parametrize("share", [0.2, 0.5, 1.0])
def test_the_memory_equals_a_slow_loop_over_many_batches(share: float, repaired: bool) -> None:
    n, k, batch = 60, 3, 20
    memory = PseudoLabels(n, k, share=share, repaired=repaired)
    kept = [-1] * n
    for step in range(30):
        draw = torch.Generator().manual_seed(step)
        items = torch.randperm(n, generator=draw)[:batch]
        p = sharp(batch, k, 100 + step)
        labels = slow(p.tolist(), [kept[i] for i in items], share, 0.99, repaired=repaired)
        for item, label in zip(items.tolist(), labels, strict=True):
            kept[item] = label
        assert memory.update(items, p).tolist() == labels
        assert memory.labels.tolist() == kept
    assert len(set(kept)) == k + 1  # all groups and "none" come up


def test_only_items_of_the_batch_change() -> None:
    memory = PseudoLabels(6, 2)
    memory.labels.copy_(torch.tensor([0, 1, -1, 0, 1, -1]))
    memory.update(torch.tensor([5, 0]), torch.tensor([[0.001, 0.999], [0.6, 0.4]]))
    assert memory.labels.tolist() == [-1, 1, -1, 0, 1, 1]


def test_the_order_of_items_does_not_matter() -> None:
    one, other = PseudoLabels(20, 3, share=0.2), PseudoLabels(20, 3, share=0.2)
    p, items = sharp(20, 3, 1), torch.arange(20)
    order = torch.randperm(20, generator=torch.Generator().manual_seed(0))
    one.update(items, p)
    other.update(items[order], p[order])
    assert torch.equal(one.labels, other.labels) and (one.labels >= 0).any()


def test_the_quota_is_the_rounded_up_share_and_no_group_enters_more() -> None:
    for share, batch, k, wanted in [(0.2, 500, 10, 10), (0.5, 512, 10, 26), (0.2, 10, 20, 1)]:
        assert PseudoLabels(1, k, share=share).quota(batch) == wanted
    memory = PseudoLabels(100, 2, share=0.2)
    p = torch.tensor([[1.0, 0.0]]).repeat(100, 1)  # all are sure to the last digit
    labels = memory.update(torch.arange(100), p)
    assert labels.tolist() == [0] * 10 + [-1] * 90


def test_the_threshold_itself_neither_lets_in_nor_throws_out() -> None:
    memory = PseudoLabels(2, 2, share=1.0, threshold=0.75)
    memory.labels.copy_(torch.tensor([-1, 0]))
    memory.update(torch.arange(2), torch.tensor([[0.75, 0.25], [0.75, 0.25]]))
    assert memory.labels.tolist() == [-1, 0]


def test_a_batch_that_nobody_is_sure_of_leaves_nothing() -> None:
    memory = PseudoLabels(4, 3)
    assert memory.update(torch.arange(4), torch.full((4, 3), 1 / 3)).tolist() == [-1] * 4


def test_the_memory_is_saved_with_the_network_and_can_be_emptied() -> None:
    memory = PseudoLabels(3, 2, share=1.0)
    memory.update(torch.tensor([1]), torch.tensor([[0.0, 1.0]], dtype=torch.bfloat16))
    again = PseudoLabels(3, 2)
    again.load_state_dict(memory.state_dict())
    assert again.labels.tolist() == [-1, 1, -1]
    again.forget()
    assert again.labels.tolist() == [-1, -1, -1]


def test_the_memory_never_asks_the_device_for_a_number() -> None:
    with FakeTensorMode():
        memory = PseudoLabels(50, 3, repaired=True)
        found = memory.update(torch.arange(20), torch.rand(20, 3))
    assert found.shape == (20,) and found.dtype == torch.long


def test_wrong_input_is_refused_in_words() -> None:
    with pytest.raises(InputError, match="share"):
        PseudoLabels(4, 2, share=0)
    with pytest.raises(InputError, match="0 groups"):
        PseudoLabels(4, 0)
    with pytest.raises(InputError, match=r"\(B, 2\)"):
        PseudoLabels(4, 2).update(torch.arange(3), torch.rand(4, 2))
