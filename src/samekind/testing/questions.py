"""The contract of a question: it describes itself completely and consistently."""

from __future__ import annotations

from itertools import combinations, product

from samekind.errors import AnswerError
from samekind.questions import UNSURE, Question, joined, question_from_json
from samekind.testing.expecting import raises


def check_question(question: Question) -> None:
    """Check that choices, links, truth and JSON of a question are consistent."""
    items = question.items()
    assert len(set(items)) == len(items) >= 1, "items must be shown once each"
    choices = question.choices()
    assert choices[-1] == UNSURE and len(set(choices)) == len(choices), "unsure comes last"
    assert question.links(UNSURE) == (), "unsure means nothing"
    for choice in choices:
        for link in question.links(choice):
            assert {link.a, link.b} <= set(items), "links are between items that are shown"
        assert set(question.omitted(choice)) <= set(question.links(choice)), "omitted links count"
        assert set(question.exemplars(choice)) <= set(items), "exemplars are shown items"
    beside = [i for choice in choices for i in question.exemplars(choice)]
    above = [i for part in question.parts() for i in part]
    assert set(above) | set(beside) == set(items), "every item is shown above or with a choice"
    assert not set(above) & set(beside) and len(set(above)) == len(above), "and above only once"
    with raises(AnswerError):
        question.links("no such choice")
    _check_joined(question)
    assert question.prompt.strip() and question.kind.strip()
    assert question.truthful(lambda a, b: None) == UNSURE, "who knows nothing must be unsure"
    _check_truth(question)
    again = question_from_json(question.to_json(str), int)
    assert again == question and again.why == question.why, "JSON must be read back unchanged"


def _check_joined(question: Question) -> None:
    """Check that numbers may be joined only if the question says so."""
    numbers = [int(choice) for choice in question.choices() if choice.isdecimal()]
    for two in combinations(numbers, 2):
        if question.many:
            shown = [question.exemplars(str(number)) for number in two]
            assert question.exemplars(joined(two)) == (*shown[0], *shown[1])
            assert question.links(joined(two)), "every joined choice means something"
        for spelling in (
            "{1},{0}",
            "{0},{0}",
            "{0}, {1}",
            *(() if question.many else ("{0},{1}",)),
        ):
            with raises(AnswerError):
                question.links(spelling.format(*two))


def _check_truth(question: Question) -> None:
    """Check that all links of the truthful choice are true, for all small groupings."""
    items = question.items()[:6]
    for kinds in product(range(3), repeat=len(items)):
        kind = dict(zip(items, kinds, strict=True))
        choice = question.truthful(lambda a, b: kind.get(a, 9) == kind.get(b, 9))  # noqa: B023
        question.check(choice)
        assert choice != UNSURE, "who knows everything must be sure"
        for a, b, same in question.links(choice):
            assert (kind.get(a, 9) == kind.get(b, 9)) == same, "the truthful choice must be true"
