"""Backbone, attention, heads and the network they make."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from samekind.errors import InputError
from samekind.training.attention import CrossAttention
from samekind.training.heads import ClusterHead, InstanceHead
from samekind.training.network import Network
from samekind.training.resnet import ResNet, Stem


@pytest.fixture(autouse=True)
def _seeded() -> None:
    torch.manual_seed(0)


def noise(*shape: int) -> Tensor:
    return torch.randn(shape)


def small(k: int = 3, *, attention: bool = True) -> Network:
    return Network(ResNet(18, base=4, stem="3x3"), k=k, out=8, attention=attention)


# ---------------------------------------------------------------- backbone


@pytest.mark.parametrize(("depth", "count"), [(18, 11_176_512), (34, 21_284_672)])
def test_the_backbone_has_the_published_number_of_parameters(depth: int, count: int) -> None:
    backbone = ResNet(depth)
    assert sum(parameter.numel() for parameter in backbone.parameters()) == count
    assert backbone.width == 512


@pytest.mark.parametrize(("stem", "sides"), [("7x7", (16, 8, 4, 2)), ("3x3", (64, 32, 16, 8))])
def test_the_stem_decides_how_much_the_first_layers_shrink(
    stem: Stem, sides: tuple[int, ...]
) -> None:
    backbone = ResNet(18, base=4, stem=stem)
    seen = []
    for stage in (backbone.layer1, backbone.layer2, backbone.layer3, backbone.layer4):
        stage.register_forward_hook(lambda _module, _inputs, out: seen.append(out.shape[-1]))
    assert backbone(noise(2, 3, 64, 64)).shape == (2, 32)
    assert tuple(seen) == sides
    assert any(isinstance(module, nn.MaxPool2d) for module in backbone.modules()) == (stem == "7x7")
    assert backbone.conv1.weight.shape == (4, 3, int(stem[0]), int(stem[0]))


def test_convolutions_start_normal_by_fan_out_and_batch_norms_as_identity() -> None:
    for name, module in ResNet(18).named_modules():
        if isinstance(module, nn.Conv2d):
            assert module.bias is None
            fan_out = module.out_channels * module.kernel_size[0] ** 2
            weight = module.weight.detach()
            assert float(weight.std()) == pytest.approx(math.sqrt(2 / fan_out), rel=0.05), name
            assert abs(float((weight**4).mean() / weight.var() ** 2) - 3) < 0.3, name
        if isinstance(module, nn.BatchNorm2d):
            assert (module.weight == 1).all() and (module.bias == 0).all()


def test_names_of_the_weights_are_the_usual_ones() -> None:
    names = set(ResNet(18, base=4).state_dict())
    assert {
        "conv1.weight",
        "bn1.running_mean",
        "layer1.0.conv1.weight",
        "layer4.1.bn2.bias",
    } <= names
    assert {"layer2.0.downsample.0.weight", "layer2.0.downsample.1.running_var"} <= names
    assert not any(name.startswith("layer1.0.downsample") for name in names)
    assert len(names) == 120


def test_channels_last_gives_the_same_vectors() -> None:
    backbone, images = ResNet(18, base=8).eval(), noise(3, 3, 64, 64)
    wanted = backbone(images)
    last = backbone.to(memory_format=torch.channels_last)
    assert torch.allclose(
        last(images.contiguous(memory_format=torch.channels_last)), wanted, atol=1e-4
    )


@pytest.mark.parametrize(
    "make",
    [lambda: ResNet(50), lambda: ResNet(18, stem="5x5"), lambda: ResNet(18, base=0)],  # type: ignore[arg-type]
)
def test_a_backbone_that_does_not_exist_is_refused(make: Callable[[], ResNet]) -> None:
    with pytest.raises(InputError):
        make()


# ---------------------------------------------------------------- attention


def plain_formula(attention: CrossAttention, x: Tensor) -> Tensor:
    """Head by head and row by row, from the published description."""
    q, k, v = x @ attention.query.weight.T, x @ attention.key.weight.T, x @ attention.value.weight.T
    part = x.shape[1] // attention.heads
    out = torch.zeros_like(x)
    for head in range(attention.heads):
        own = slice(head * part, (head + 1) * part)
        for i in range(len(x)):
            logits = torch.stack([q[i, own] @ k[j, own] / math.sqrt(part) for j in range(len(x))])
            weight = logits.exp() / logits.exp().sum()
            out[i, own] = sum(weight[j] * v[j, own] for j in range(len(x)))
    return out


def test_attention_equals_the_plain_formula_and_has_only_three_weights() -> None:
    attention, x = CrossAttention(32).double(), noise(6, 32).double()
    assert torch.allclose(attention(x), plain_formula(attention, x), atol=1e-12)
    assert sorted(attention.state_dict()) == ["key.weight", "query.weight", "value.weight"]


def test_attention_of_a_permuted_batch_is_the_permuted_attention() -> None:
    attention, x, order = CrossAttention(64).double(), noise(20, 64).double(), torch.randperm(20)
    assert torch.allclose(attention(x[order]), attention(x)[order], atol=1e-12)


def test_attention_of_one_row_is_its_value() -> None:
    attention, x = CrossAttention(16), noise(1, 16)
    assert torch.allclose(attention(x), attention.value(x), atol=1e-6)


def test_among_a_reference_set_rows_do_not_depend_on_their_neighbours() -> None:
    attention, x, reference = (
        CrossAttention(64).double(),
        noise(30, 64).double(),
        noise(50, 64).double(),
    )
    whole = attention(x, reference, peers=127)
    order = torch.randperm(30)
    assert torch.allclose(attention(x[order], reference, peers=127), whole[order], atol=1e-12)
    for size in (1, 7, 16):
        parts = [attention(part, reference, peers=127) for part in x.split(size)]
        assert torch.allclose(torch.cat(parts), whole, atol=1e-12)
    shuffled = attention(x, reference[torch.randperm(50)], peers=127)
    assert torch.allclose(shuffled, whole, atol=1e-12)


def test_a_reference_of_the_other_rows_gives_what_training_gives() -> None:
    attention, x = CrossAttention(32).double(), noise(9, 32).double()
    wanted = attention(x)
    for i in range(9):
        others = torch.cat([x[:i], x[i + 1 :]])
        assert torch.allclose(attention(x[i : i + 1], others), wanted[i : i + 1], atol=1e-12)


def test_reference_rows_count_as_many_peers_however_often_they_are_given() -> None:
    attention, x, reference = (
        CrossAttention(32).double(),
        noise(5, 32).double(),
        noise(12, 32).double(),
    )
    once = attention(x, reference)
    assert torch.allclose(attention(x, reference.repeat(7, 1), peers=12), once, atol=1e-12)
    assert not torch.allclose(attention(x, reference.repeat(7, 1)), once, atol=1e-4)
    assert torch.allclose(attention(x, reference, peers=0), attention.value(x), atol=1e-12)


def test_attention_refuses_what_it_cannot_use() -> None:
    with pytest.raises(InputError, match="heads"):
        CrossAttention(20, heads=8)
    with pytest.raises(InputError, match="reference"):
        CrossAttention(16)(noise(2, 16), noise(0, 16))


# ---------------------------------------------------------------- heads


def test_heads_give_unit_vectors_and_shares_in_float32_or_better() -> None:
    x = noise(5, 16) * 30
    z, p = InstanceHead(16, 7)(x), ClusterHead(16, 4)(x)
    assert z.shape == (5, 7) and torch.allclose(z.norm(dim=1), torch.ones(5), atol=1e-5)
    assert (
        p.shape == (5, 4)
        and torch.allclose(p.sum(dim=1), torch.ones(5), atol=1e-5)
        and (p >= 0).all()
    )
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert InstanceHead(16)(x).dtype == torch.float32
        assert torch.allclose(ClusterHead(16, 4)(x).sum(dim=1), torch.ones(5), atol=1e-6)
    assert ClusterHead(16, 4).double()(x.double()).dtype == torch.float64


def test_heads_are_two_linear_layers_of_the_published_widths() -> None:
    for head, out in ((InstanceHead(512), 128), (ClusterHead(512, 2), 2)):
        shapes = [tuple(p.shape) for p in head.parameters()]
        assert shapes == [(512, 512), (512,), (out, 512), (out,)]


# ---------------------------------------------------------------- network


def test_views_do_not_see_each_other() -> None:
    network, images = small().double().eval(), noise(8, 3, 16, 16).double()
    both = network(images)
    for view in (slice(0, 4), slice(4, 8)):
        alone = network(images[view], views=1)
        for part, wanted in zip(alone, both, strict=True):
            assert torch.allclose(part, wanted[view], atol=1e-10)
    mixed = network(images, views=1)
    assert torch.allclose(mixed.h, both.h, atol=1e-12) and not torch.allclose(
        mixed.p, both.p, atol=1e-8
    )


def test_placed_among_a_reference_set_an_image_is_the_same_alone_and_in_any_batch() -> None:
    network, images = small().double(), noise(10, 3, 16, 16).double()
    network(noise(12, 3, 16, 16).double())  # running averages that are not those of the start
    reference = network.reference_features(noise(20, 3, 16, 16).double().split(6))
    assert reference.shape == (20, network.width) and not reference.requires_grad
    network.eval()
    whole, order = network(images, reference, peers=5), torch.randperm(10)
    shuffled = network(images[order], reference, peers=5)
    alone = network(images[3:4], reference, peers=5)
    for part in range(3):
        assert torch.allclose(shuffled[part], whole[part][order], atol=1e-10)
        assert torch.allclose(alone[part], whole[part][3:4], atol=1e-10)


def test_reference_features_leave_the_network_as_it_was() -> None:
    network = small()
    network.backbone.bn1.eval()  # type: ignore[union-attr]
    before = {name: value.clone() for name, value in network.state_dict().items()}
    network.reference_features([noise(4, 3, 16, 16)])
    assert network.training and network.backbone.layer1.training  # type: ignore[union-attr]
    assert not network.backbone.bn1.training  # type: ignore[union-attr]
    assert all(torch.equal(before[name], value) for name, value in network.state_dict().items())
    with pytest.raises(InputError, match="reference"):
        network.reference_features([])


def test_without_attention_neither_neighbours_nor_references_matter() -> None:
    network, images = small(attention=False).double().eval(), noise(6, 3, 16, 16).double()
    whole = network(images)
    assert torch.allclose(network(images, noise(3, 32).double()).p, whole.p, atol=1e-12)
    assert torch.allclose(network(images[:1], views=1).p, whole.p[:1], atol=1e-12)
    assert not any(name.startswith("attention") for name in network.state_dict())


@pytest.mark.parametrize("attention", [True, False])
@pytest.mark.parametrize("k", [1, 3])
def test_gradients_reach_every_parameter(attention: bool, k: int) -> None:
    network = small(k, attention=attention)
    out = network(noise(8, 3, 16, 16))
    ((out.z * noise(8, 8)).sum() + (out.p * noise(8, k)).sum()).backward()
    for name, parameter in network.named_parameters():
        assert parameter.grad is not None, name
        if k > 1 or not name.startswith("cluster"):
            assert parameter.grad.abs().sum() > 0, name


def test_gathered_features_are_attended_together() -> None:
    network, images = small().double().eval(), noise(8, 3, 16, 16).double()  # 4 items, 2 views
    wanted = network(images)
    first, second = images[[0, 1, 4, 5]], images[[2, 3, 6, 7]]  # what each of two processes holds
    elsewhere = network.backbone(second)

    def gather(h: Tensor) -> Tensor:
        return torch.cat([h.view(2, 2, -1), elsewhere.view(2, 2, -1)], dim=1).flatten(0, 1)

    for part, whole in zip(network(first, gather=gather), wanted, strict=True):
        assert torch.allclose(part, whole, atol=1e-10)


def test_names_of_the_weights_stay_and_a_saved_network_is_the_same() -> None:
    network, images = small().eval(), noise(4, 3, 16, 16)
    own = {name for name in network.state_dict() if not name.startswith("backbone.")}
    assert own == {
        *(f"attention.{part}.weight" for part in ("query", "key", "value")),
        *(
            f"{head}.layers.{i}.{kind}"
            for head in ("instance", "cluster")
            for i in (0, 2)
            for kind in ("weight", "bias")
        ),
    }
    torch.manual_seed(9)
    other = small().eval()
    assert not torch.allclose(other(images).z, network(images).z)
    other.load_state_dict(network.state_dict())
    assert torch.equal(other(images).z, network(images).z)


def test_the_number_of_groups_can_be_changed_and_the_rest_stays() -> None:
    network, images = small(3).double().eval(), noise(4, 3, 16, 16).double()
    before = network(images)
    network.regroup(7)
    after = network(images)
    assert network.k == 7 and after.p.shape == (4, 7) and after.p.dtype == torch.float64
    assert torch.equal(after.z, before.z)
    with pytest.raises(InputError, match="0 groups"):
        network.regroup(0)


def test_an_odd_number_of_rows_is_not_two_views() -> None:
    with pytest.raises(InputError, match="5 rows are not 2 views"):
        small().eval()(noise(5, 3, 16, 16))


def test_bfloat16_on_channels_last_images_trains() -> None:
    network = small().to(memory_format=torch.channels_last)
    images = noise(8, 3, 16, 16).contiguous(memory_format=torch.channels_last)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        out = network(images)
    assert out.z.dtype == out.p.dtype == torch.float32
    (out.z.sum() + (out.p**2).sum()).backward()
    assert all(torch.isfinite(p.grad).all() for p in network.parameters() if p.grad is not None)
