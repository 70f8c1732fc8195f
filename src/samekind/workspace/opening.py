"""Opening: a pile is opened with a few of its items first, so that questions can begin at once.

The others are analysed in the background, and the whole pile then takes the place of the first one.
Answers name items by id, so they carry over. See docs/decisions/0014-the-first-question.md.
"""

from __future__ import annotations

from contextlib import suppress
from copy import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from samekind.bulk.sampled_pile import SampledCollection
from samekind.clusterers import DEFAULT as DEFAULT_METHOD
from samekind.encoders.cached_items import cached_positions
from samekind.errors import SourceError
from samekind.registry import weighs_blocks
from samekind.workspace.locations import cache_folder
from samekind.workspace.pile import Pile, chosen_encoder, encoded_pile, pile_by

if TYPE_CHECKING:
    from samekind.items import Collection
    from samekind.protocols import Progress
    from samekind.workspace.pile import Request

N_FIRST = 48
"""Items that the first questions are about."""
MIN_WAITING = 3 * N_FIRST
"""With fewer items to analyse the whole pile is opened at once."""


@dataclass(frozen=True, eq=False)
class Opening:
    """The items at a path, to be opened in one step or two.

    Parameters
    ----------
    request : says how. collection : all items.
    begun : the first step, if there was one.
    """

    request: Request
    collection: Collection
    begun: Pile | None = None

    def first(self, progress: Progress | None = None) -> Pile | None:
        """Encode a random sample of the items, and those that answers may be about.

        None: the whole pile takes little longer. The sample is uniform, so that what random checks
        say about it holds for the whole pile.
        """
        if isinstance(self.collection, SampledCollection):
            return None
        encoder, reason = chosen_encoder(self.collection, self.request.encoder, mixed=self._mixed)
        kept = cached_positions(self.collection, encoder, cache_folder())
        n = len(self.collection)
        if kept is None or n - len(kept) < MIN_WAITING:
            return None
        chosen = np.random.default_rng(0).choice(n, N_FIRST, replace=False)
        earlier = kept if self.request.has_ledger() else []
        some = self.collection.take(sorted({*chosen.tolist(), *earlier}))
        with suppress(SourceError):  # none of them can be read: perhaps others can
            pile = pile_by(copy(encoder), reason, some, progress)
            return pile if len(pile.collection) >= min(N_FIRST // 2, n) else None
        return None

    def whole(self, progress: Progress | None = None) -> Pile:
        """Encode all items; those of the first step are in the cache.

        They also come first, so that what an open page knows by position stays right.
        """
        collection = self.collection
        if self.begun is not None:
            first = [collection.position(id) for id in self.begun.collection.ids()]
            others = set(range(len(collection))).difference(first)
            collection = collection.take([*first, *sorted(others)])
        return encoded_pile(
            collection, encoder=self.request.encoder, mixed=self._mixed, progress=progress
        )

    @property
    def _mixed(self) -> bool:
        return weighs_blocks(self.request.method or DEFAULT_METHOD)
