"""The contract of a question: it describes itself, completely and consistently."""

from __future__ import annotations

from itertools import product

from samekind.errors import AnswerError
from samekind.questions import UNSURE, Question, question_from_json
from samekind.testing.expecting import raises


def check_question(question: Question) -> None:
    """Choices, links, truth and JSON form of one question agree with each other."""
    items = question.items()
    assert len(set(items)) == len(items) >= 1, "items must be shown once each"
    choices = question.choices()
    assert choices[-1] == UNSURE and len(set(choices)) == len(choices), "unsure comes last"
    assert question.links(UNSURE) == (), "unsure means nothing"
    for choice in choices:
        for link in question.links(choice):
            assert {link.a, link.b} <= set(items), "links speak of items that are shown"
        assert set(question.exemplars(choice)) <= set(items), "exemplars are shown items"
    with raises(AnswerError):
        question.links("no such choice")
    assert question.prompt.strip() and question.kind.strip()
    assert question.truthful(lambda a, b: None) == UNSURE, "who knows nothing is unsure"
    _check_truth(question)
    again = question_from_json(question.to_json(str), int)
    assert again == question and again.why == question.why, "the JSON form must come back the same"


def _check_truth(question: Question) -> None:
    """In every small world, all links of the truthful choice are true."""
    items = question.items()[:6]
    for kinds in product(range(3), repeat=len(items)):
        kind = dict(zip(items, kinds, strict=True))
        choice = question.truthful(lambda a, b: kind.get(a, 9) == kind.get(b, 9))  # noqa: B023
        assert choice in question.choices() and choice != UNSURE
        for a, b, same in question.links(choice):
            assert (kind.get(a, 9) == kind.get(b, 9)) == same, "the truthful choice must be true"
