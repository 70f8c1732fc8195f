"""Contracts: what a question, strategy, clusterer, encoder or store must keep to live in the house.

Run them over your own members: ``check_strategy(MyStrategy())``. Each raises AssertionError with
what was expected.
"""

from samekind.testing.clusterers import check_clusterer
from samekind.testing.encoders import check_encoder
from samekind.testing.questions import check_question
from samekind.testing.stores import check_store, check_two_processes
from samekind.testing.strategies import check_strategy

__all__ = [
    "check_clusterer",
    "check_encoder",
    "check_question",
    "check_store",
    "check_strategy",
    "check_two_processes",
]
