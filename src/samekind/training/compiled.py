"""A network compiled for use: batches of one size, results that stay."""

from __future__ import annotations

from torch import Tensor

from samekind.compute import RECORDING, Recorded, compiled
from samekind.training.network import Network, Output


class Compiled:
    """The network behind a compiled or recorded call. Give batches of one size.

    Parameters
    ----------
    network : in training or not; its present weights are used at each call, without gradient.
    mode : as in :class:`~samekind.training.steps.Plan`.
    """

    def __init__(self, network: Network, mode: str) -> None:
        self._network = compiled(network, mode)
        self._recorded: Recorded | None = None
        self._mode = mode
        self._peers: int | None = None

    def __call__(
        self, rows: Tensor, reference: Tensor | None, views: int, *, peers: int | None
    ) -> Output:
        """As :meth:`Network.forward`."""
        if self._mode not in RECORDING:
            result: Output = self._network(rows, reference, views, peers=peers)
            return result
        if self._recorded is None or peers != self._peers:
            self._peers = peers
            self._recorded = Recorded(
                lambda rows, reference=None: self._network(rows, reference, views, peers=peers)
            )
        given = (rows,) if reference is None else (rows, reference)
        # The next call writes its results to the same places.
        return Output(*(part.clone() for part in self._recorded(*given)))
