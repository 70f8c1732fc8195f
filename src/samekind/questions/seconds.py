"""Expected seconds: how long a person takes to answer a question of any kind.

The time is a sum of what the person does: get ready, look at pictures, choose, tap and press. The
seconds of each come from published experiments, and a person's own pace is fitted to them later
(:mod:`samekind.strategies.planner.answer_times`):

* getting ready, and pressing a key: the operators M (1.35 s) and K (0.2 s) of the keystroke-level
  model (Card, Moran and Newell, "The keystroke-level model for user performance time with
  interactive systems", Communications of the ACM 23, 1980);
* looking at a picture: one fixation, a pause of at least 0.2 s and 0.05 to 0.1 s of processing
  (Salthouse and Ellis, "Determinants of eye-fixation duration", American Journal of Psychology 93,
  1980). Finding a known target needs less: about 0.04 s per picture (Wolfe and others, "Visual
  search for arbitrary objects in real scenes", Attention, Perception & Psychophysics 73, 2011), and
  twice that to be sure that it is absent;
* choosing: 0.155 s per bit (Hick, "On the rate of gain of information", Quarterly Journal of
  Experimental Psychology 4, 1952; Hyman, Journal of Experimental Psychology 45, 1953);
* tapping a picture of a grid: two bits of Fitts' index of difficulty at 4 bits per second
  (Soukoreff and MacKenzie, "Towards a standard for pointing device evaluation", International
  Journal of Human-Computer Studies 61, 2004), and a press.

So a yes or no about two pictures takes 2.3 s, a placement among five groups 2.7 to 4.8 s, and a
grid of 24 pictures without a tap 8.1 s.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log2

from samekind.questions.question import Question, named

BEGIN = 1.35
"""Seconds to take in a new question."""
LOOK = 0.25
"""Seconds to look at one picture; a group of several exemplars is looked at twice."""
SCAN = 0.08
"""Seconds per group of a long list that the person knows already, until it is ruled out."""
BIT = 0.155
"""Seconds per bit of a choice."""
TAP = 0.7
"""Seconds to tap one picture of a grid."""
PRESS = 0.2
"""Seconds to press a key or button."""
MAX_COMPARED = 5
"""Groups that are compared one by one. Where more are listed, a person searches the list."""
SLOWDOWN = 1.0
"""Additional looking time, as a share, where the learner could not be less sure."""
USUAL_SHARE = 0.25
"""Share of the items of a grid that is named, if nothing is known about it."""


@dataclass(frozen=True)
class Effort:
    """What a person does for an answer, in seconds at the published pace.

    Parameters
    ----------
    ready : taking in the question, choosing and pressing. looking : at pictures and groups.
    tapping : naming items of a grid, or moving items by hand.
    """

    ready: float
    looking: float
    tapping: float

    @property
    def seconds(self) -> float:
        """All of it."""
        return self.ready + self.looking + self.tapping


def effort(
    question: Question,
    choice: str | None = None,
    *,
    difficulty: float = 0.0,
    taps: float | None = None,
) -> Effort:
    """What an answer takes; see :func:`expected_seconds`."""
    parts = sum(_glance(len(part)) for part in question.parts())
    slower = 1 + SLOWDOWN * difficulty
    if question.by_hand:
        return Effort(BEGIN + PRESS, slower * parts, TAP * len(question.parts()))
    if question.many:
        n_shown = sum(option.isdecimal() for option in question.choices())
        if taps is None:
            taps = USUAL_SHARE * n_shown if choice is None else len(named(choice))
        return Effort(BEGIN + PRESS, slower * (parts + LOOK * n_shown), TAP * taps)
    ready = BEGIN + BIT * log2(len(question.choices())) + PRESS
    return Effort(ready, slower * (parts + _compared(question, choice)), 0.0)


def expected_seconds(
    question: Question,
    choice: str | None = None,
    pace: float = 1.0,
    *,
    difficulty: float = 0.0,
    taps: float | None = None,
) -> float:
    """The seconds that a person is expected to take for a question.

    Parameters
    ----------
    choice : the answer, where it is known: a person looks through the groups up to the chosen one,
        and taps each named item. None: half of the groups, and a quarter of a grid.
    pace : the person's time divided by the published one.
    difficulty : from 0, the kind of every item is plain, to 1; slows the looking.
    taps : the number of items that will probably be named, instead of that of `choice`.

    >>> from samekind.questions import OddOnes, SamePair, WhichGroup
    >>> round(expected_seconds(SamePair(0, 1)), 2)
    2.3
    >>> placement = WhichGroup(0, ((1, 2), (3, 4), (5,)))
    >>> [round(expected_seconds(placement, choice), 2) for choice in ("1", "3", "none")]
    [2.66, 3.41, 3.41]
    >>> grid = OddOnes((0,), tuple(range(1, 13)))
    >>> [round(expected_seconds(grid, choice), 1) for choice in ("none", "2,5")]
    [4.8, 6.2]
    """
    return pace * effort(question, choice, difficulty=difficulty, taps=taps).seconds


def _compared(question: Question, choice: str | None) -> float:
    """Seconds to look through the groups that may be chosen, in the order shown."""
    options = [option for option in question.choices() if question.exemplars(option)]
    glances = [
        _glance(len(question.exemplars(option))) if k < MAX_COMPARED else SCAN
        for k, option in enumerate(options)
    ]
    if choice in options:
        return sum(glances[: options.index(choice) + 1])
    return sum(glances) if choice is not None or not glances else _usual(glances)


def _usual(glances: list[float]) -> float:
    """The mean over all places at which the chosen group may be."""
    ends = [sum(glances[: k + 1]) for k in range(len(glances))]
    return sum(ends) / len(ends)


def _glance(n_pictures: int) -> float:
    return LOOK * min(n_pictures, 2)
