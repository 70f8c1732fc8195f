"""The token in the address: who has it may use the server, whoever else shares the machine."""

from __future__ import annotations

import os
import re
import secrets
from pathlib import Path

FILE = "page-token"
_SHAPE = re.compile(r"[A-Za-z0-9_-]{32,}")


def kept_token(folder: Path | None = None) -> str:
    """The person's token: the same after a restart, so that open pages go on.

    It lies in a file that only this person may read. Where that cannot be, a token for this run.

    Parameters
    ----------
    folder : where it is kept; None: beside the ledgers.
    """
    if folder is None:
        from samekind.workspace.pile import data_folder

        folder = data_folder()
    file = folder / FILE
    new = secrets.token_urlsafe(24)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as stream:
            stream.write(new)
        return new
    except FileExistsError:
        return _read(file) or new
    except OSError:
        return new


def is_same(shown: str, token: str) -> bool:
    """Whether this is the token, in a time that tells nothing about it."""
    return secrets.compare_digest(shown.encode(errors="replace"), token.encode())


def _read(file: Path) -> str | None:
    """The token of an earlier run, unless others could have read or written it."""
    try:
        status = file.stat()
        theirs = hasattr(os, "getuid") and status.st_uid != os.getuid()
        if os.name == "posix" and (theirs or status.st_mode & 0o077):
            return None
        token = file.read_text().strip()
    except (OSError, ValueError):
        return None
    return token if _SHAPE.fullmatch(token) else None
