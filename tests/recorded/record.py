"""Make the recorded rows: ``PYTHONPATH=src:tests python tests/recorded/record.py``.

The rows were made at commit 3e4e0db and must not be made again when a refactoring changes them. They
are replaced only after a decision that results are to change, and replaced.md says which and why:

    python tests/recorded/record.py --only pictures-pcl-0 pictures-pcl-1 --why "..."
"""

from __future__ import annotations

import argparse
import json
import sys
from datetime import date

from making import (
    COMMANDS,
    FINGERPRINT,
    ROWS,
    arithmetic,
    command_rows,
    make_row,
    one_core,
    private_home,
    read_rows,
    recordings,
)

REPLACED = ROWS.with_name("replaced.md")


def main() -> None:
    parser = argparse.ArgumentParser(description="Make the recorded rows.")
    parser.add_argument(
        "--only", nargs="+", default=(), help='rows to replace, or "bench" and "simulate"'
    )
    parser.add_argument("--why", default="", help="the decision, for replaced.md")
    wanted = parser.parse_args()
    if wanted.only:
        replace(wanted.only, wanted.why)
        return
    if ROWS.exists():
        sys.exit(f"{ROWS.name} is there already. Rows of 0.1 are kept; see --only.")
    with one_core(), private_home():
        rows = [make_row(recording) for recording in recordings().values()]
        commands = command_rows()
        known = arithmetic()
    ROWS.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    COMMANDS.write_text(json.dumps(commands, indent=1) + "\n", encoding="utf-8")
    FINGERPRINT.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")


def replace(names: list[str], why: str) -> None:
    """Make some rows again and say why."""
    if not why:
        sys.exit("Expected the reason for replacing recorded rows. Give --why.")
    rows, runs = read_rows(), recordings()
    commands = json.loads(COMMANDS.read_text(encoding="utf-8"))
    with one_core(), private_home():
        if arithmetic() != json.loads(FINGERPRINT.read_text(encoding="utf-8")):
            sys.exit("Expected the arithmetic of the recording. Use the machine it was made on.")
        made = command_rows() if commands.keys() & set(names) else {}
        for name in names:
            if name in commands:
                commands[name] = made[name]
            else:
                rows[name] = make_row(runs[name])
    ROWS.write_text("".join(json.dumps(row) + "\n" for row in rows.values()), encoding="utf-8")
    COMMANDS.write_text(json.dumps(commands, indent=1) + "\n", encoding="utf-8")
    with REPLACED.open("a", encoding="utf-8") as file:
        file.write(f"* {date.today()}: {', '.join(f'`{name}`' for name in names)}. {why}\n")


if __name__ == "__main__":
    main()
