"""A network whose launches are recorded: for reading many batches of one size."""

from __future__ import annotations

from torch import Tensor

from samekind.compute import Recorded
from samekind.training.network import Network, Output


class RecordedNetwork:
    """The network behind a recorded call. Give batches of one size.

    It is not compiled: reading all items once takes a second either way, compiling a minute.

    Parameters
    ----------
    network : in training or not; its present weights are used at each call, without gradient.
    """

    def __init__(self, network: Network) -> None:
        self._network = network
        self._recorded: Recorded | None = None
        self._peers: int | None = None

    def __call__(
        self, rows: Tensor, reference: Tensor | None, views: int, *, peers: int | None
    ) -> Output:
        """As :meth:`Network.forward`."""
        if self._recorded is None or peers != self._peers:
            self._peers = peers
            self._recorded = Recorded(
                lambda rows, reference=None: self._network(rows, reference, views, peers=peers)
            )
        given = (rows,) if reference is None else (rows, reference)
        # The next call writes its results to the same places.
        return Output(*(part.clone() for part in self._recorded(*given)))
