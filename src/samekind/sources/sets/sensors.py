"""Sensors: drawn readings of machines as a table, to sort by machine, fault or shift."""

from __future__ import annotations

import numpy as np

from samekind.sources.files.rows import RowCollection, Rows
from samekind.sources.sets.labelled import LabelledSet

MACHINES = {"press": (60.0, 4.0, 320.0), "lathe": (45.0, 9.0, 150.0), "mill": (52.0, 7.0, 230.0)}
"""Temperature, vibration and current of each machine when all is well."""
FAULTS = {
    "none": (0.0, 0.0, 0.0, 0.0),
    "bearing": (6.0, 6.0, 10.0, 0.0),
    "coolant": (16.0, 0.5, 0.0, -0.6),
    "overload": (9.0, 1.0, 90.0, 0.1),
}
"""Changes of temperature, vibration, current and flow."""
COLUMNS = (
    "temperature",
    "vibration",
    "current",
    "flow",
    "humidity",
    "room temperature",
    "pressure",
)


def sensors(seed: int = 0) -> LabelledSet:
    """600 drawn readings as table rows: machine (3), fault (4), shift (2)."""
    rng = np.random.default_rng([seed, 71])
    n = 600
    machine = rng.choice(list(MACHINES), n)
    fault = rng.choice(list(FAULTS), n, p=(0.4, 0.2, 0.2, 0.2))
    shift = rng.choice(("day", "night"), n)
    base = np.array([MACHINES[name] for name in machine])
    change = np.array([FAULTS[name] for name in fault])
    night = shift == "night"
    values = np.column_stack(
        [
            base[:, 0] + change[:, 0] + rng.normal(0, 2.5, n) - 2 * night,
            np.abs(base[:, 1] + change[:, 1] + rng.normal(0, 1.2, n)),
            base[:, 2] + change[:, 2] + rng.normal(0, 18, n),
            1.5 + change[:, 3] + rng.normal(0, 0.15, n),
            55 + 12 * night + rng.normal(0, 4, n),
            21 - 4 * night + rng.normal(0, 1.2, n),
            rng.normal(6, 0.4, n),
        ]
    )
    keys = [f"reading-{k:04d}" for k in range(n)]
    cells = {name: [f"{x:.2f}" for x in values[:, k]] for k, name in enumerate(COLUMNS)}
    rows = Rows(values.astype(np.float32), keys=keys, cells=cells)
    collection = RowCollection("sensors", rows, location="sensors")
    return LabelledSet("sensors", collection, {"machine": machine, "fault": fault, "shift": shift})
