"""An encoder of a test's own, named ``bulk.slow_encoder:Slow``: it waits at every step."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from samekind.encoders.pixels import Pixels
from samekind.items import Item


class Slow(Pixels):
    """Pixels of tiny pictures, with a pause for each batch as long as the environment says."""

    name = "bulk.slow_encoder:Slow"

    def __init__(self) -> None:
        super().__init__(size=8, components=16)

    def read(self, items: Sequence[Item]) -> np.ndarray[Any, Any]:
        time.sleep(float(os.environ.get("SLOW_ENCODER_SECONDS", "0")))
        return super().read(items)
