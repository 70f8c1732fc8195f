"""Look for known holes in the installed versions of what samekind depends on.

    python .ci/audit.py            # ask the index; if it cannot say, compare with the dated list
    python .ci/audit.py --offline  # only compare with the dated list, as the tests do
    python .ci/audit.py --write    # renew the dated list in audited.json

Ends with 1 if an installed version has a known hole that is not listed as accepted, or, without
data of the index, if a package of constraints.txt is installed in another version than is listed.
The holes under "known" were collected by hand: each holds for all versions before the one named.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from importlib.metadata import distributions
from itertools import zip_longest
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import urlopen

LIST = Path(__file__).with_name("audited.json")
PINS = Path(__file__).parents[1] / "constraints.txt"
INDEX = "https://pypi.org/pypi/{name}/{version}/json"
OURS = "samekind"
Holes = dict[str, list[dict[str, Any]]]


class NoData(RuntimeError):
    """The index cannot be reached, or does not know the versions."""


def main() -> None:
    """Print what was found."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--write", action="store_true", help="renew the dated list")
    parser.add_argument("--offline", action="store_true", help="do not ask the index")
    chosen = parser.parse_args()
    listed: dict[str, Any] = json.loads(LIST.read_text()) if LIST.exists() else {}
    accepted = listed.get("accepted", {})
    installed = versions()
    try:
        if chosen.offline:
            raise NoData("the index was not asked.")
        holes, checked = from_index(installed), True
        print(f"{len(installed)} packages were looked up.")
    except NoData as problem:
        print(f"Not audited: {problem}")
        checked = False
        holes = {} if chosen.write else from_list(installed, listed)
    if chosen.write:
        dated = {"date": f"{datetime.now(UTC):%Y-%m-%d}", "checked": checked, "holes": holes}
        kept = {"accepted": accepted, "known": listed.get("known", []), "versions": installed}
        text = json.dumps({**dated, **kept}, indent=1)
        LIST.write_text(text + "\n")
    for name, found in holes.items():
        for hole in found:
            reason = accepted.get(hole["id"])
            print(f"{name} {installed[name]}: {hole['id']} {hole['summary']}")
            print(f"    accepted: {reason}" if reason else f"    fixed in: {hole['fixed']}")
    if any(hole["id"] not in accepted for found in holes.values() for hole in found):
        sys.exit(1)
    print("No known hole that is not accepted.")


def versions() -> dict[str, str]:
    """The installed packages but our own; a local part such as +cpu is not in the index."""
    found = {str(one.name).lower(): one.version.partition("+")[0] for one in distributions()}
    return {name: found[name] for name in sorted(found) if name != OURS}


def from_index(installed: dict[str, str]) -> Holes:
    """Known holes by package; NoData if the index does not know most of the versions."""
    unknown: list[str] = []

    def ask(one: tuple[str, str]) -> tuple[str, list[dict[str, Any]]]:
        name, version = one
        try:
            with urlopen(INDEX.format(name=name, version=version), timeout=30) as reply:
                told = json.load(reply).get("vulnerabilities", [])
        except HTTPError:
            unknown.append(name)
            return name, []
        return name, [
            {
                "id": hole["id"],
                "summary": (hole.get("summary") or hole.get("details") or "")[:200],
                "fixed": hole.get("fixed_in", []),
            }
            for hole in told
            if not hole.get("withdrawn")
        ]

    try:
        with ThreadPoolExecutor(8) as pool:
            found = dict(pool.map(ask, installed.items()))
    except (URLError, OSError, ValueError) as problem:
        raise NoData(f"the index cannot be reached ({problem}).") from problem
    if len(unknown) > len(installed) / 2:
        raise NoData(f"the index does not know {len(unknown)} of {len(installed)} versions.")
    if unknown:
        print(f"Not in the index: {', '.join(sorted(unknown))}.")
    return {name: holes for name, holes in found.items() if holes}


def from_list(installed: dict[str, str], listed: dict[str, Any]) -> Holes:
    """What the dated list says of the installed versions; ends if it lists other versions."""
    if not listed:
        sys.exit("There is no dated list either.")
    known = listed["versions"]
    other = [name for name, version in installed.items() if known.get(name) != version]
    state = "checked against the index" if listed["checked"] else "not checked against the index"
    print(f"The list of versions is of {listed['date']} and was {state}.")
    if other:
        print(f"Installed versions that are not in it: {', '.join(other)}.")
    pinned = {line.partition("==")[0].lower() for line in PINS.read_text().splitlines()}
    if changed := pinned & set(other) & set(known):
        sys.exit(f"Pinned in another version: {', '.join(sorted(changed))}. Renew it: --write")
    holes: Holes = {name: list(found) for name, found in listed["holes"].items()}
    for hole in listed.get("known", []):
        name = hole["package"]
        if name in installed and is_before(installed[name], hole["before"]):
            told = {"id": hole["id"], "summary": hole["summary"], "fixed": [hole["before"]]}
            holes.setdefault(name, []).append(told)
    return holes


def is_before(version: str, other: str) -> bool:
    """Whether a version is earlier; only the numbers are compared."""
    pairs = zip_longest(_numbers(version), _numbers(other), fillvalue=0)
    return next((a < b for a, b in pairs if a != b), False)


def _numbers(version: str) -> list[int]:
    return [int(part) for part in re.match(r"[\d.]*", version)[0].split(".") if part]


if __name__ == "__main__":
    main()
