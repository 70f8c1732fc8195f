"""The encoder of small images."""

from __future__ import annotations

import torch

from samekind.clusterers.ncp.amortized.network import NCPNetwork, Sizes


def test_the_features_of_an_image_depend_on_nothing_but_the_image() -> None:
    torch.manual_seed(0)
    network = NCPNetwork(Sizes(encoder="residual", inputs=3, features=16, encoder_layers=2)).eval()
    images = torch.rand(2, 5, 3, 20, 20)
    with torch.no_grad():
        together = network.encoder(images, None)
        alone = network.encoder.each(images[1, 3:4])
    assert together.shape == (2, 5, 16)
    assert torch.allclose(together[1, 3], alone[0], atol=1e-5)
    assert not torch.allclose(together[1, 3], together[1, 2], atol=1e-3)
