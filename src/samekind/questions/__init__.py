"""Questions and answers: which items are shown, which choices there are, and what each one means.

A question describes itself, so that store, simulated person, terminal, HTTP and constraints never
branch on its kind. Start with ``question.py``; each kind has a file; ``answers.py`` lists them all.
"""

from samekind.questions.all_like import AllLike
from samekind.questions.answers import KINDS, Answer, question_from_json
from samekind.questions.by_hand import (
    YES,
    Belongs,
    ByHand,
    Elsewhere,
    OneKind,
    OwnKind,
    SeparateKinds,
)
from samekind.questions.odd_ones import OddOnes
from samekind.questions.pairs import SameGroups, SamePair
from samekind.questions.question import (
    NONE,
    UNSURE,
    Expectation,
    Link,
    Marking,
    Question,
    Same,
    joined,
    named,
)
from samekind.questions.which_group import WhichGroup

__all__ = [
    "KINDS",
    "NONE",
    "UNSURE",
    "YES",
    "AllLike",
    "Answer",
    "Belongs",
    "ByHand",
    "Elsewhere",
    "Expectation",
    "Link",
    "Marking",
    "OddOnes",
    "OneKind",
    "OwnKind",
    "Question",
    "Same",
    "SameGroups",
    "SamePair",
    "SeparateKinds",
    "WhichGroup",
    "joined",
    "named",
    "question_from_json",
]
