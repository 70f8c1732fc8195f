"""Answering: changes of the ledger, each decided on its newest state.

Several processes may write to one ledger. A change is stored only if nobody else has written since
it was decided on; otherwise the new events are read, and it is decided on again. So no answer can
silently replace another one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from samekind.errors import AlreadyAnswered, AnsweredByOther, AnswerError, NotYourAnswer, Reserved
from samekind.ledger.event_log import EventLog
from samekind.ledger.fold import answer_data
from samekind.questions import UNSURE, Answer, Question
from samekind.session.arguments import checked_seconds, checked_text, question_number
from samekind.session.people import Reservations

Event = tuple[str, dict[str, Any]]
FindReservations = Callable[[str | None], Reservations]
"""The reservations of a person at this moment."""


class Answering:
    """Answer, change, undo and skip in a ledger that others may write to as well.

    Parameters
    ----------
    log : the ledger. reservations : finds those of a person.
    """

    def __init__(self, log: EventLog, reservations: FindReservations) -> None:
        self._log, self._reservations = log, reservations

    def tell(
        self, number: int, choice: str, by: str, seconds: float | None, name: Callable[[], str]
    ) -> None:
        """Store an answer, unless the same person has given the same one already.

        Parameters
        ----------
        name : returns that of the group that the answer puts an item into, which is undone
            together with the answer; raises if another group has it by now.
        """
        ledger, seconds = self._log.ledger, checked_seconds(seconds)
        number = _checked(number, choice, by)

        def decide() -> Event | None:
            ledger.answer_of(number, choice, by, seconds)
            data = answer_data(number, choice, by, seconds)
            earlier = ledger.answers.get(number)
            if earlier is None:
                self._check_free(number, by)
                given = name()
                return "told", {**data, "name": given} if given else data
            if earlier.by != by:
                second = ledger.second.get((number, by))
                if second is None and self._reservations(by).was_mine(number):
                    return "told", {**data, "second": True}
                if second is None:
                    raise AnsweredByOther(
                        f"Question {number} was answered by {earlier.by} in the meantime, so your "
                        "answer was not saved. Continue with the next question.",
                        number,
                    )
                earlier = second
            if earlier.choice == choice:
                return None
            raise AlreadyAnswered(
                f"Question {number} was already answered with {earlier.choice!r}. "
                "To change that, edit the answer.",
                number,
            )

        self._log.commit(decide)

    def volunteer(
        self, question: Question, choice: str, by: str, seconds: float | None, data: dict[str, Any]
    ) -> int:
        """Store a question with its answer in one event; returns the number of the question."""
        question.check(_checked_choice(choice, by))
        told = {**answer_data(0, choice, by, seconds), **data}
        del told["number"]  # the ledger assigns it
        seq = self._log.append("volunteered", told)
        found = self._log.ledger.volunteered
        return next(number for number in reversed(found) if found[number] == seq)

    def edit(self, number: int, choice: str, by: str, *, own: bool) -> None:
        """Change an answer; `own` refuses to change that of another person."""
        ledger, number = self._log.ledger, _checked(number, choice, by)

        def decide() -> Event | None:
            is_second = own and self._is_second(number, by)
            if number not in ledger.answers and not is_second:
                raise AnswerError(f"Question {number} has no answer to change. Answer it first.")
            ledger.answer_of(number, choice, by, None)
            data = answer_data(number, choice, by, None)
            if is_second:
                same = ledger.second[number, by].choice == choice
                return None if same else ("told", {**data, "second": True})
            if own:
                check_own(ledger.answers[number], by)
            return None if ledger.answers[number].choice == choice else ("told", data)

        self._log.commit(decide)

    def undo(self, number: int | None, by: str | None) -> int | None:
        """Undo an answer, or the last one; with `by` only of this person."""
        ledger = self._log.ledger
        wanted = None if number is None else question_number(number)
        undone: int | None = None

        def decide() -> Event | None:
            nonlocal undone
            undone = self._last(by) if wanted is None else wanted
            if undone is None:
                return None
            if by is not None and self._is_second(undone, by):
                return "undone", {"number": undone, "for": by, "second": True}
            if undone not in ledger.answers:
                raise AnswerError(f"Question {undone} has no answer to undo.")
            if by is None:
                return "undone", {"number": undone}
            check_own(ledger.answers[undone], by)
            return "undone", {"number": undone, "for": by}

        self._log.commit(decide)
        return undone

    def skip(self, number: int, by: str | None) -> None:
        """Defer an open question for everybody, or decline to give a second opinion."""
        ledger, number = self._log.ledger, question_number(number)

        def decide() -> Event | None:
            mine = by is not None and self._reservations(by).was_mine(number)
            if by is not None and mine and number in ledger.answers:
                return "told", {**answer_data(number, UNSURE, by, None), "second": True}
            if number not in ledger.asked or number in ledger.answers:
                raise AnswerError(f"Question {number} is not open, so it cannot be skipped.")
            self._check_free(number, by)
            return "skipped", {"number": number}

        self._log.commit(decide)

    def _last(self, by: str | None) -> int | None:
        """The question that was answered last, by anybody or by this person."""
        ledger = self._log.ledger
        if by is None:
            return next(reversed(ledger.answers), None)
        own = {n: ledger.told_at[n] for n, answer in ledger.answers.items() if answer.by == by}
        own |= {n: at for (n, who), at in ledger.second_at.items() if who == by}
        return max(own, key=own.__getitem__, default=None)

    def _is_second(self, number: int, by: str) -> bool:
        return (number, by) in self._log.ledger.second

    def _check_free(self, number: int, by: str | None) -> None:
        held = self._log.ledger.reservations.get(number)
        if held is not None and held.by is not None and not self._reservations(by).is_free(number):
            raise Reserved(
                f"Question {number} is open for {held.by} now, because it was shown to you too "
                "long ago. Your answer was not saved. Continue with the next question."
            )


def check_own(answer: Answer, by: str) -> None:
    """Refuse to decide on the answer of another person."""
    if answer.by != by:
        raise NotYourAnswer(
            f"Question {answer.number} was answered by {answer.by}, and only {answer.by} can "
            "change the answer. Nothing was changed."
        )


def _checked(number: Any, choice: Any, by: Any) -> int:
    """The number of a question; with it the choice and the person are checked."""
    _checked_choice(choice, by)
    return question_number(number)


def _checked_choice(choice: Any, by: Any) -> str:
    if by is not None:  # people are not told apart
        checked_text(by, "the name of who answers, such as 'me'")
    return checked_text(choice, "one of question.choices(), such as '1'", AnswerError)
