"""A new file appears whole under a name that was free, or not at all."""

from __future__ import annotations

import os
import secrets
from pathlib import Path


def beside(final: Path) -> Path:
    """A hidden, unused name in the same folder, to write in before :func:`put_in_place`."""
    # 40 characters of the name keep the result below the 255 bytes that file systems allow.
    return final.with_name(f".{final.name[:40]}.{secrets.token_hex(6)}.part")


def put_in_place(written: Path, final: Path) -> None:
    """Give `written` its `final` name; FileExistsError if something has that name already.

    A plain rename would replace a file that appeared in the meantime; a hard link does not.
    """
    try:
        os.link(written, final)
    except FileExistsError:
        raise
    except OSError:
        # No hard links here (FAT, some network drives): reserve the name, then rename over the
        # reservation, which is ours.
        os.close(os.open(final, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
        try:
            os.replace(written, final)
        except OSError:
            final.unlink(missing_ok=True)
            raise
    else:
        written.unlink()


def settle_folder(folder: Path) -> None:
    """Make new names in a folder survive a power cut, where the system can promise that."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:  # Windows cannot open folders; NTFS journals its names by itself.
        return
    try:
        os.fsync(handle)
    except OSError:
        pass
    finally:
        os.close(handle)
