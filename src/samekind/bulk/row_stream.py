"""Rows mapped by a pool of workers of Ray Data, also through a connection from outside.

Ray Data does not run behind a Ray client (an address ``ray://...``). There an actor of the cluster
drives it, and hands over one row after the other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

Row = dict[str, Any]


def mapped_rows(
    ray: Any, rows: Sequence[Row], worker: type, parameters: Mapping[str, Any], **options: Any
) -> Iterator[Row]:
    """Map rows one by one by workers, in any order, each as soon as it is done.

    Parameters
    ----------
    ray : the package, connected to a cluster.
    worker : a class; its objects are made with `parameters` and called with a batch of one row.
    options : of ``Dataset.map_batches``, such as ``concurrency`` and ``num_gpus``.
    """
    if not ray.util.client.ray.is_connected():
        yield from RowStream(rows, worker, parameters, options)
        return
    stream = ray.remote(num_cpus=0)(RowStream).remote(rows, worker, dict(parameters), options)
    while (row := ray.get(stream.following.remote())) is not None:
        yield row


class RowStream:
    """An iterator over mapped rows, which a client can also call as an actor."""

    def __init__(
        self,
        rows: Sequence[Row],
        worker: type,
        parameters: Mapping[str, Any],
        options: Mapping[str, Any],
    ) -> None:
        import ray.data

        ray.data.DataContext.get_current().enable_progress_bars = False
        found = ray.data.from_items(list(rows), override_num_blocks=len(rows)).map_batches(
            worker, fn_constructor_kwargs=dict(parameters), batch_size=1, **options
        )
        self._rows: Iterator[Row] = iter(found.iter_rows())

    def __iter__(self) -> Iterator[Row]:
        return self._rows

    def following(self) -> Row | None:
        """Return the next row; None at the end."""
        return next(self._rows, None)
