"""Question and its kinds, Answer, Link: what is asked, and what each choice means.

A question describes itself: who must be shown, which choices there are, what each choice means
as links, and which choice is true. Store, oracle, terminal, HTTP and constraints never branch on
the kind of question.
"""

from samekind.questions.answers import KINDS, Answer, question_from_json
from samekind.questions.by_hand import YES, Belongs, ByHand, Elsewhere, OneKind, OwnKind
from samekind.questions.odd_ones import OddOnes
from samekind.questions.pairs import SameGroups, SamePair
from samekind.questions.question import NONE, UNSURE, Link, Question, Same, joined, named
from samekind.questions.which_group import WhichGroup

__all__ = [
    "KINDS",
    "NONE",
    "UNSURE",
    "YES",
    "Answer",
    "Belongs",
    "ByHand",
    "Elsewhere",
    "Link",
    "OddOnes",
    "OneKind",
    "OwnKind",
    "Question",
    "Same",
    "SameGroups",
    "SamePair",
    "WhichGroup",
    "joined",
    "named",
    "question_from_json",
]
