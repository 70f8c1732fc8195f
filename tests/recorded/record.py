"""Make the recorded rows: ``PYTHONPATH=src:tests python tests/recorded/record.py``.

The rows were made at commit 3e4e0db and must not be made again when a refactoring changes them. They
are replaced only with ``--force``, and only after a decision that results are to change.
"""

from __future__ import annotations

import json
import sys

from making import (
    COMMANDS,
    FINGERPRINT,
    ROWS,
    arithmetic,
    command_rows,
    make_row,
    one_core,
    private_home,
    recordings,
)


def main() -> None:
    if ROWS.exists() and "--force" not in sys.argv[1:]:
        sys.exit(f"{ROWS.name} is there already. Rows of 0.1 are kept; --force replaces them.")
    with one_core(), private_home():
        rows = [make_row(recording) for recording in recordings().values()]
        commands = command_rows()
        known = arithmetic()
    ROWS.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    COMMANDS.write_text(json.dumps(commands, indent=1) + "\n", encoding="utf-8")
    FINGERPRINT.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
