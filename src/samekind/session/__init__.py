"""The session: ask, tell, undo, refit, and everything that follows from the answers.

Read ``session.py`` first. ``state.py`` decides which question comes next and prepares it in
advance, ``refit.py`` makes snapshots of the groups. Beside them: ``quality.py`` (how good the
groups are, and what more answers would bring), ``acts.py`` (changes that a person makes by hand),
``naming.py`` (names of groups), ``members.py`` (typical and doubtful items of a group),
``review.py`` (answers worth another look), ``conflicts.py`` (answers that contradict each other),
``report.py`` (what was answered so far).
"""

from __future__ import annotations

from samekind.session.session import Session

__all__ = ["Session"]
