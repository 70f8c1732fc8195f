"""Atomic files: a new file appears complete under a free name, or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def new_file(final: Path) -> Iterator[Path]:
    """A draft to write to, which gets its `final` name at the end of the block.

    Raises FileExistsError if that name is taken. The draft is removed if anything goes wrong.
    """
    draft = draft_name(final)
    try:
        yield draft
        put_in_place(draft, final)
    finally:
        draft.unlink(missing_ok=True)


def draft_name(final: Path) -> Path:
    """A hidden, unused name in the same folder."""
    # 40 characters of the name keep the result below the 255 bytes that file systems allow.
    return final.with_name(f".{final.name[:40]}.{secrets.token_hex(6)}.part")


def put_in_place(draft: Path, final: Path) -> None:
    """Rename `draft` to `final`; FileExistsError if that name is taken.

    A plain rename would replace a file that appeared in the meantime. A hard link does not.
    """
    try:
        os.link(draft, final)
    except FileExistsError:
        raise
    except OSError:
        # No hard links here (FAT, some network drives): create an empty file to reserve the name,
        # then replace it.
        os.close(os.open(final, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
        try:
            os.replace(draft, final)
        except OSError:
            final.unlink(missing_ok=True)
            raise
    else:
        draft.unlink()


def sync_folder(folder: Path) -> None:
    """Make new names in a folder survive a power cut, where the system supports that."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:  # Windows cannot open folders; NTFS journals names itself.
        return
    try:
        os.fsync(handle)
    except OSError:
        pass
    finally:
        os.close(handle)


@contextmanager
def one_at_a_time(lock: Path) -> Iterator[None]:
    """Wait until no other process on this machine is in a block with the same lock file.

    The system frees the lock of a process that dies. Where files cannot be locked (Windows, some
    network drives, a folder that cannot be written), nobody waits.
    """
    try:
        import fcntl

        lock.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(lock, os.O_CREAT | os.O_RDWR, 0o600)
    except (ImportError, OSError):
        yield
        return
    try:
        with suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
