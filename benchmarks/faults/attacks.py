"""The attacks by their names."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module

from benchmarks.faults.outcome import Attack


@dataclass(frozen=True)
class Entry:
    """An attack: where it is, how many rounds `make faults` and the tests run, and in words."""

    target: str
    rounds: int
    few: int
    about: str

    def load(self) -> Attack:
        """Import it."""
        module, name = self.target.split(":")
        found: Attack = getattr(import_module(f"benchmarks.faults.{module}"), name)
        return found


ATTACKS: dict[str, Entry] = {
    "kills": Entry(
        "kills:processes", 100, 1, "three processes on one file, killed at random moments"
    ),
    "servers": Entry("kills:servers", 2, 0, "two servers on one file, one killed"),
    "doors": Entry("doors:doors", 10, 0, "two servers and a terminal, killed at random moments"),
    "postgres": Entry(
        "kills:postgres", 15, 0, "PostgreSQL killed under two people, whose sessions go on"
    ),
    "damage": Entry("damage:bytes_changed", 600, 8, "bytes of ledger and log changed or cut off"),
    "put-in-place": Entry(
        "put_in_place:put_in_place", 200, 10, "a backup or another ledger beside the log of a crash"
    ),
    "full-disk": Entry(
        "places:full_disk",
        21,
        7,
        "full disk: tell, upgrade, repair, cache, export, polish, checkpoint",
    ),
    "read-only-home": Entry("places:read_only_home", 2, 2, "a home that cannot be written"),
    "clock": Entry("places:clock_set_back", 10, 1, "a clock that jumps by years"),
    "large-ledgers": Entry("time_and_size:large_ledgers", 2, 0, "10,000 and 100,000 answers"),
    "week": Entry(
        "time_and_size:week_of_use", 60, 2, "reopenings with 500 new events each (200: a week)"
    ),
    "exports-killed": Entry("exported:killed", 60, 2, "exports killed and undone"),
    "exports-names": Entry(
        "exported:names", 100, 4, "names that leave the target, links in the way"
    ),
    "malformed": Entry("server:malformed", 5000, 0, "malformed requests"),
    "crowded": Entry(
        "server:crowded", 5, 2, "slow clients, more than descriptors; endless streams, huge bodies"
    ),
    "bombs": Entry("strangers:bombs", 43, 38, "files that would fill the memory, or never end"),
    "pictures": Entry(
        "damaged_files:pictures", 210, 7, "folders of 100 damaged pictures, of seven formats"
    ),
    "tables": Entry(
        "damaged_files:tables", 180, 9, "100 damaged tables, arrays or graphs, of nine formats"
    ),
    "strangers": Entry("strangers:files", 6, 6, "files with code in them"),
    "versions": Entry("versions:versions", 42, 7, "older programs on newer files, and the reverse"),
    "hard-piles": Entry(
        "learner:hard_piles",
        40,
        8,
        "duplicates, constants, outliers, one item; careless people",
    ),
    "against-oneself": Entry(
        "learner:against_oneself",
        5,
        1,
        "every answer changed, then contradicted; contradictions settled",
    ),
    "always-same": Entry("learner:always_same", 5, 1, 'fifty times "same"'),
    "many-groups": Entry("learner:many_groups", 1, 1, "five thousand groups"),
    "not-finite": Entry("learner:not_finite", 50, 5, "infinite values and NaN"),
    "statements": Entry("quality:statements", 100, 0, "what is said about the quality (sessions)"),
    "clients": Entry("time_and_size:many_clients", 2, 0, "20 clients at one server (minutes)"),
}
