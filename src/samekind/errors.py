"""All errors that samekind raises on purpose.

::

    SamekindError                     exit code
    ├── InputError (ValueError)       2   a parameter, path or array that cannot be used
    │   ├── SourceError               3   a folder, table or item that cannot be read
    │   ├── VectorError               4   vectors with NaN, of the wrong shape, or too few of them
    │   └── UnknownName               5   no strategy, method, encoder or set of that name
    ├── AnswerError (ValueError)      6   an answer that does not fit its question
    ├── StoreError (OSError)          7   the ledger file cannot be read or written
    │   ├── ForeignFile               8   it exists, but it is not a ledger of ours
    │   ├── CorruptedLedger           9   it is a ledger, but damaged
    │   └── NoSpace                   10  the disk is full; earlier answers are safe
    ├── ChangedCollection             11  the items are not those of the session
    ├── MissingExtra (ImportError)    12  an optional package is needed
    ├── Infeasible                    13  no grouping fits the answers and the number of groups
    ├── ExportError (OSError)         14  an export would overwrite something or was interrupted
    ├── ServerError (OSError)         15  the page cannot be served (port in use, page not built)
    ├── NotFound (LookupError)        16  no orientation, question, answer, job or pile of that name
    └── StateError                    17  not possible in the present state; nothing was changed

Every message says what was expected, what was given, and what to do. Contradictory answers are not
errors: they are set aside in ``Constraints.conflicts`` and shown to the person.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from typing import ClassVar


class SamekindError(Exception):
    """Base of all errors raised on purpose; the command line prints its message alone."""

    exit_code: ClassVar[int] = 1


class InputError(SamekindError, ValueError):
    """A parameter, path or array that cannot be used."""

    exit_code = 2


class SourceError(InputError):
    """A folder, table or item that cannot be read."""

    exit_code = 3


class NotAllowed(InputError):
    """A path outside of the folders that a page may open."""


class VectorError(InputError):
    """Vectors with NaN, of the wrong shape, or too few of them."""

    exit_code = 4


class UnknownName(InputError):
    """No strategy, method, encoder or set of that name."""

    exit_code = 5

    def __init__(self, what: str, name: object, known: Iterable[str]) -> None:
        names = sorted(known)
        if isinstance(name, str):
            found = f"Unknown {what} {name!r}.{did_you_mean(name, names)}"
        else:
            article = "an" if what[0] in "aeiou" else "a"
            given = f"an object of type {type(name).__name__}"
            found = f"Expected the name of {article} {what}, got {given}."
        super().__init__(f"{found} Known: {', '.join(names)}.")


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A question after the most similar known name, or nothing.

    >>> did_you_mean("randum", ["random", "live"])
    " Did you mean 'random'?"
    """
    close = get_close_matches(name, list(known), n=1)
    return f" Did you mean {close[0]!r}?" if close else ""


class AnswerError(SamekindError, ValueError):
    """An answer that does not fit its question."""

    exit_code = 6


class StoreError(SamekindError, OSError):
    """The ledger file cannot be read or written."""

    exit_code = 7


class ForeignFile(StoreError):
    """The file exists, but it is not a ledger of ours."""

    exit_code = 8


class CorruptedLedger(StoreError):
    """The file is a ledger, but damaged."""

    exit_code = 9


class NoSpace(StoreError):
    """The disk is full; earlier answers are safe."""

    exit_code = 10


class ChangedCollection(SamekindError):
    """The items differ from those of the session."""

    exit_code = 11


class MissingExtra(SamekindError, ImportError):
    """An optional package is needed."""

    exit_code = 12

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(
            f"{what} needs packages that are not installed. Run: pip install 'samekind[{extra}]'"
        )


class Infeasible(SamekindError):
    """No grouping fits the answers and the number of groups."""

    exit_code = 13


class ExportError(SamekindError, OSError):
    """An export would overwrite something or was interrupted."""

    exit_code = 14


class ServerError(SamekindError, OSError):
    """The page cannot be served."""

    exit_code = 15


class NotFound(SamekindError, LookupError):
    """A name or number that a workspace does not know."""

    exit_code = 16


class UnknownOrientation(NotFound):
    """No orientation of that name has been started."""


class UnknownQuestion(NotFound):
    """No question with that number has been asked."""


class UnknownAnswer(NotFound):
    """No answer with that number is in force."""


class UnknownGroup(NotFound):
    """No group with that number exists in the current snapshot."""


class UnknownJob(NotFound):
    """No job has that id."""


class UnknownPile(NotFound):
    """No pile with that key was opened before."""


class UnknownUpload(NotFound):
    """No upload with that id is under way."""


class StateError(SamekindError):
    """A request that is not possible in the present state; nothing was changed."""

    exit_code = 17


class OrientationExists(StateError):
    """An orientation of that name exists already."""


class StaleWrite(StateError):
    """The ledger has grown since it was read, so a decision based on it has to be made again."""


class Reserved(StateError):
    """The question is open for another person."""


class NotYourAnswer(StateError):
    """The answer is another person's, who alone can change it."""


class AlreadyAnswered(StateError, AnswerError):
    """The question has an answer, which has to be changed instead.

    Parameters
    ----------
    number : the number of the question.
    """

    def __init__(self, message: str, number: int) -> None:
        super().__init__(message)
        self.number = number


class AnsweredByOther(AlreadyAnswered):
    """Another person has answered the question in the meantime."""


class SetsAside(StateError):
    """A change by hand contradicts earlier answers, and was not confirmed."""


class NameTaken(StateError):
    """Another group has that name."""


class JobRunning(StateError):
    """A job of the same kind is still queued or running."""


class NotResumable(StateError):
    """A job that cannot be resumed."""


class PileNotOpen(StateError):
    """The pile has to be opened first."""


class GroupsChanged(StateError):
    """The groups have changed since the export was planned."""


class NoOrientationFile(StateError):
    """The groups cannot be written to an orientation file."""


class CannotPolish(StateError):
    """The orientation cannot be polished."""


class NothingPolished(StateError):
    """No polished groups wait to be accepted."""


class PicturesChanged(StateError):
    """The pictures have changed since they were polished."""


class TooManyListeners(StateError):
    """Too many pages listen to events at the same time."""
