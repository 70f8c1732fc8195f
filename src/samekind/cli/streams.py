"""Standard output and error of the command line, also if they are closed or cannot be written."""

from __future__ import annotations

import errno
import os
import sys

from samekind.errors import NoSpace, SamekindError


def prepare_streams() -> None:
    """Make sure that something can be printed, whatever it is and wherever it goes."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed (`>&-`): nobody wants to read it
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
        stream = getattr(sys, name)
        if hasattr(stream, "reconfigure"):  # file names that are not Unicode must not stop a list
            stream.reconfigure(errors="backslashreplace")


def finish_output() -> None:
    """Write what is still to be written; OSError if that fails, and then nothing is left of it.

    Python would write it at its end, and print a traceback and an exit code of its own.
    """
    try:
        sys.stdout.flush()
    except OSError:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
        raise


def from_system(problem: OSError) -> SamekindError:
    """Return an error of the operating system that nothing else has explained, as a sentence."""
    reason = problem.strerror or str(problem) or type(problem).__name__
    name = problem.filename
    if problem.errno in (errno.ENOSPC, errno.EDQUOT):
        where = f"The disk of {os.fspath(name)!r}" if name else "The disk that is written to"
        return NoSpace(
            f"{where} is full ({reason}). Confirmed answers are safe. Free some space, and run "
            "the command again."
        )
    what = f"{os.fspath(name)!r} cannot be read or written" if name else "Reading or writing failed"
    return SamekindError(
        f"{what}: {reason}. Check the path, its permissions and the length of its names."
    )
