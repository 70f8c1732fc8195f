"""Number formats: scores without a leading zero, p-values as bounds, seconds in units."""

from __future__ import annotations

from collections.abc import Sequence

from samekind.reports.contents import Cell
from samekind.reports.plots.curves import TITLES
from samekind.reports.study import Estimate

PARTS = {"unasked": "items that no question showed", "heldout": "held-out items"}
DASH = "\u2013"
"""Shown where nothing was measured."""


def score(value: float, digits: int = 3) -> str:
    """A score without its leading zero; one that ends in 5 is rounded up.

    >>> score(0.81249), score(1.0), score(-0.02), score(-0.0001), score(0.4135, 2)
    ('.812', '1.000', '-.020', '.000', '.41')
    """
    text = f"{value + 1e-9:.{digits}f}"
    sign, text = ("-", text[1:]) if text.startswith("-") else ("", text)
    text = text.removeprefix("0")
    return text if float(text) == 0 else sign + text


def signed(value: float) -> str:
    """A difference of scores.

    >>> signed(0.05), signed(-0.1)
    ('+.050', '-.100')
    """
    return f"+{score(value)}" if value > 0 else score(value)


def estimate(found: Estimate | None, *, strong: bool = False) -> Cell:
    """A mean with its interval; with one run there is no interval."""
    if found is None:
        return Cell(DASH)
    small = f"{score(found.low)} to {score(found.high)}" if found.seeds > 1 else "1 seed"
    return Cell(score(found.mean), small, strong)


def p_value(value: float) -> str:
    """A p-value of two significant digits.

    >>> p_value(0.0312), p_value(0.00001), p_value(1.0), p_value(0.004)
    ('.031', '< .001', '1.00', '.0040')
    """
    if value < 0.001:
        return "< .001"
    if value > 0.995:
        return "1.00"
    return f"{value:.4f}"[1:] if value < 0.01 else f"{value:.3f}"[1:]


def seconds(value: float | None) -> str:
    """A duration in a suitable unit.

    >>> seconds(0.0042), seconds(0.25), seconds(12.34), seconds(600), seconds(7300)
    ('4.2 ms', '250 ms', '12.3 s', '10.0 min', '2.0 h')
    """
    if value is None:
        return DASH
    if value < 0.9995:
        return f"{1000 * value:.1f} ms" if value < 0.0995 else f"{1000 * value:.0f} ms"
    if value < 120:
        return f"{value:.1f} s"
    return f"{value / 60:.1f} min" if value < 7200 else f"{value / 3600:.1f} h"


def listed(names: Sequence[str]) -> str:
    """Names in a sentence.

    >>> listed(["a"]), listed(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def metric_title(metric: str) -> str:
    """The title of a score.

    >>> metric_title("ari"), metric_title("heldout_acc")
    ('ARI', 'accuracy, held-out items')
    """
    part, _, rest = metric.partition("_")
    if part in PARTS and rest:
        return f"{TITLES.get(rest, rest)}, {PARTS[part]}"
    return TITLES.get(metric, metric)
