"""Contracts for a question, strategy, clusterer, encoder or store of your own.

Run them on an instance: ``check_strategy(MyStrategy())``. Each raises AssertionError that says what
was expected.
"""

from samekind.testing.clusterers import check_clusterer
from samekind.testing.encoders import check_encoder
from samekind.testing.helpful_answers import check_right_answers_help
from samekind.testing.questions import check_question
from samekind.testing.stores import check_store, check_two_processes
from samekind.testing.strategies import check_strategy

__all__ = [
    "check_clusterer",
    "check_encoder",
    "check_question",
    "check_right_answers_help",
    "check_store",
    "check_strategy",
    "check_two_processes",
]
