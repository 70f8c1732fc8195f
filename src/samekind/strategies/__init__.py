"""Strategies choose the next question. A new strategy is one file and one line here.

``pairs/`` compares two items, ``placement/`` asks which group an item belongs to, ``value/`` is
IDC's rule, ``posterior/`` uses draws of whole groupings, ``planner/`` mixes all kinds of question.
"""

from __future__ import annotations

STRATEGIES: dict[str, str] = {
    "placement": "samekind.strategies.placement.placement:Placement",
    "live": "samekind.strategies.placement.live:Live",
    "planner": "samekind.strategies.planner.planner:Planner",
    "pcl": "samekind.strategies.pairs.pcl:PCL",
    "pcl-reference": "samekind.strategies.pairs.pcl_reference:PCLReference",
    "uncertainty": "samekind.strategies.pairs.uncertainty:Uncertainty",
    "hardness": "samekind.strategies.pairs.hardness:Hardness",
    "csd": "samekind.strategies.pairs.csd:CSD",
    "entropy": "samekind.strategies.pairs.entropy:Entropy",
    "occ-entropy": "samekind.strategies.pairs.entropy:OCCEntropy",
    "value": "samekind.strategies.value.value:Value",
    "value-hard": "samekind.strategies.value.value:ValueHard",
    "value-hard-rep": "samekind.strategies.value.value:ValueHardRep",
    "value-random": "samekind.strategies.value.value:ValueRandom",
    "posterior": "samekind.strategies.posterior.posterior:Posterior",
    "minmax": "samekind.strategies.pairs.minmax:MinMax",
    "npu": "samekind.strategies.pairs.npu:NPU",
    "margin": "samekind.strategies.placement.margin:Margin",
    "item-entropy": "samekind.strategies.placement.margin:ItemEntropy",
    "cobra": "samekind.strategies.pairs.cobras:COBRA",
    "cobras": "samekind.strategies.pairs.cobras:COBRAS",
    "random": "samekind.strategies.pairs.random:Random",
}
DEFAULT = "live"
