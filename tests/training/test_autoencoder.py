"""Autoencoders for rows and pictures, and what they read and make again."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor

from samekind.errors import InputError
from samekind.objectives.dec import StudentShares
from samekind.training.augment import FAMILIES
from samekind.training.autoencoder import (
    Autoencoder,
    Coded,
    CorruptedPictures,
    CorruptedRows,
    PictureDecoder,
    RowDecoder,
    RowEncoder,
)
from samekind.training.network import Output
from samekind.training.resnet import ResNet


def small(k: int = 3, latent: int = 2) -> Autoencoder:
    torch.manual_seed(0)
    decoder = RowDecoder(latent, (8, 6), 5)
    return Autoencoder(RowEncoder(5, (8, 6)), decoder, StudentShares(latent, k), latent=latent)


def rows(n: int = 20, seed: int = 0) -> Tensor:
    return torch.randn(n, 5, generator=torch.Generator().manual_seed(seed))


def test_in_training_it_reads_the_first_half_and_makes_the_second_again() -> None:
    network, x = small(), rows(8)
    out = network(torch.cat([0 * x, x]))
    assert isinstance(out, Coded)
    made = network.decoder(network.code(network.backbone(0 * x)))
    torch.testing.assert_close(out.error, (made - x).square().mean(dim=1))
    used = network(0 * x, views=1)
    assert isinstance(used, Output)
    torch.testing.assert_close(used.z, out.z)
    torch.testing.assert_close(used.p, out.p)


def test_rows_of_several_processes_are_gathered() -> None:
    network, x = small(), rows(8)
    seen: list[tuple[int, ...]] = []

    def gather(part: Tensor) -> Tensor:  # as one process of one
        seen.append(tuple(part.shape))
        return part

    alone, together = network(x.repeat(2, 1)), network(x.repeat(2, 1), gather=gather)
    for a, b in zip(alone, together, strict=True):
        torch.testing.assert_close(a, b)
    assert seen == [(16, 6), (16, 2), (16, 1)]


@pytest.mark.parametrize("factor", [0.1, 7.0])
def test_codes_are_rescaled_and_what_is_made_again_stays(factor: float) -> None:
    network, x = small(), rows(6)
    before = network(x.repeat(2, 1))
    network.rescale(factor)
    after = network(x.repeat(2, 1))
    torch.testing.assert_close(after.z, factor * before.z)
    torch.testing.assert_close(after.error, before.error)


def test_codes_begin_as_principal_directions_of_features() -> None:
    network = small(latent=3)
    h = network.backbone(rows(200)).detach() + 5
    network.code_directions(h)
    z = network.code(h).detach()
    centred = (h - h.mean(dim=0)).numpy()
    wanted = np.linalg.svd(centred.astype(np.float64), compute_uv=False)[:3] ** 2 / 200
    np.testing.assert_allclose(z.mean(dim=0).numpy(), 0, atol=1e-4)
    np.testing.assert_allclose((z.T @ z / 200).numpy(), np.diag(wanted), atol=1e-3)
    wide = small(latent=9)  # more than the six numbers of a feature
    wide.code_directions(h)
    assert wide.code(h)[:, 6:].abs().max() == 0


def test_codes_stay_exact_where_the_network_runs_in_half_precision() -> None:
    network, x = small(), rows(4)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        out = network(x.repeat(2, 1))
    assert out.z.dtype == out.p.dtype == out.error.dtype == torch.float32
    assert network.double()(x.double(), views=1).p.dtype == torch.float64


@pytest.mark.parametrize("size", [5, 8, 16, 20, 32, 33])
def test_pictures_of_any_size_are_made(size: int) -> None:
    decoder = PictureDecoder(10, size, base=2)
    assert decoder(torch.zeros(2, 10)).shape == (2, 3, size, size)


def test_an_autoencoder_of_pictures_learns_to_make_them_again() -> None:
    torch.manual_seed(0)
    network = Autoencoder(
        ResNet(18, stem="3x3", base=4), PictureDecoder(4, 8, base=4), StudentShares(4, 2), latent=4
    )
    images = torch.zeros(16, 3, 8, 8, dtype=torch.uint8)
    images[::2, 0], images[1::2, 2, 4:] = 200, 250
    views = CorruptedPictures(FAMILIES["cc-small"].at(8), left_out=0.1)
    optimiser = torch.optim.Adam(network.parameters(), 1e-2)
    errors = []
    for step in range(25):
        loss = network(views(images, torch.Generator().manual_seed(step))).error.mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        errors.append(loss.item())
    assert errors[-1] < 0.3 * errors[0]


def test_as_many_numbers_are_left_out_as_was_said_and_only_of_what_is_read() -> None:
    x = rows(500) + 3
    views = CorruptedRows(x, left_out=0.3)
    given, wanted = views(x, torch.Generator().manual_seed(0)).chunk(2)
    torch.testing.assert_close(wanted, views.plain(x))
    kept = given != 0
    assert abs(1 - kept.float().mean().item() - 0.3) < 0.03
    torch.testing.assert_close(given[kept], wanted[kept])
    whole = CorruptedRows(x, left_out=0.0)(x)
    torch.testing.assert_close(whole[:500], whole[500:])


def test_whole_pixels_of_pictures_are_left_out() -> None:
    images = torch.randint(1, 256, (20, 3, 8, 8), dtype=torch.uint8)
    views = CorruptedPictures(FAMILIES["cc-small"].at(8), left_out=0.25)
    given, wanted = views(images, torch.Generator().manual_seed(0)).chunk(2)
    torch.testing.assert_close(wanted, images / 255.0)
    gone = (given == 0).float().mean(dim=1)  # (20, 8, 8) share of the three channels
    assert set(gone.unique().tolist()) == {0.0, 1.0}
    assert abs(gone.mean().item() - 0.25) < 0.05


def test_layers_without_numbers_are_refused() -> None:
    for hidden in ((), (8, 0)):
        with pytest.raises(InputError, match="at least one unit each"):
            RowEncoder(5, hidden)
        with pytest.raises(InputError, match="at least one unit each"):
            RowDecoder(2, hidden, 5)
