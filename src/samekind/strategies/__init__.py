"""What to ask next. One file each; a new one is a file and a line here."""

from __future__ import annotations

STRATEGIES: dict[str, str] = {
    "placement": "samekind.strategies.placement:Placement",
    "live": "samekind.strategies.live:Live",
    "planner": "samekind.strategies.planner:Planner",
    "pcl": "samekind.strategies.pcl:PCL",
    "pcl-reference": "samekind.strategies.pcl_reference:PCLReference",
    "uncertainty": "samekind.strategies.uncertainty:Uncertainty",
    "hardness": "samekind.strategies.hardness:Hardness",
    "csd": "samekind.strategies.csd:CSD",
    "entropy": "samekind.strategies.entropy:Entropy",
    "value": "samekind.strategies.value:Value",
    "value-hard": "samekind.strategies.value:ValueHard",
    "value-hard-rep": "samekind.strategies.value:ValueHardRep",
    "value-random": "samekind.strategies.value:ValueRandom",
    "posterior": "samekind.strategies.posterior:Posterior",
    "minmax": "samekind.strategies.minmax:MinMax",
    "npu": "samekind.strategies.npu:NPU",
    "margin": "samekind.strategies.margin:Margin",
    "item-entropy": "samekind.strategies.margin:ItemEntropy",
    "cobra": "samekind.strategies.cobras:COBRA",
    "cobras": "samekind.strategies.cobras:COBRAS",
    "random": "samekind.strategies.random:Random",
}
DEFAULT = "live"
