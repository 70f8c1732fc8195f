"""Compare what people were told with what the ledger holds."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import Any

from benchmarks.people.crowd import AnswerLog
from samekind.protocols import Store


def compare(store: Store, session: str, logs: Mapping[str, AnswerLog]) -> dict[str, int]:
    """Count what must not happen: answers lost, doubled or replaced, questions asked twice."""
    first: dict[int, list[tuple[str, str]]] = defaultdict(list)
    second: dict[int, list[tuple[str, str]]] = defaultdict(list)
    for event in store.read(session):
        if event.kind == "told":
            kept = second if event.data.get("second") else first
            kept[event.data["number"]].append((event.data["by"], event.data["choice"]))
    held = {
        (number, by, choice)
        for kept in (first, second)
        for number, answers in kept.items()
        for by, choice in answers
    }
    confirmed = [
        (number, name, choice) for name, d in logs.items() for number, choice in d.confirmed
    ]
    by_number = Counter((number, name) for number, name, _ in confirmed)
    return {
        "confirmed": len(confirmed),
        "first_answers": sum(map(len, first.values())),
        "second_opinions": sum(map(len, second.values())),
        "lost": sum(one not in held for one in confirmed),
        "doubled": sum(len(answers) - 1 for kept in (first, second) for answers in kept.values()),
        "answered_twice_by_one": sum(count - 1 for count in by_number.values()),
        "own_second_opinions": sum(
            by in {who for who, _ in first[number]}
            for number, answers in second.items()
            for by, _ in answers
        ),
        "open_for_two": open_for_two(logs),
    }


def open_for_two(logs: Mapping[str, AnswerLog]) -> int:
    """Pairs of people who looked at one question at the same time."""
    by_number: dict[int, list[tuple[float, float]]] = defaultdict(list)
    for log in logs.values():
        for number, start, end in log.shown:
            by_number[number].append((start, end))
    found = 0
    for times in by_number.values():
        times.sort()
        found += sum(b[0] < a[1] for k, a in enumerate(times) for b in times[k + 1 :])
    return found


def summary(counts: Mapping[str, Any]) -> list[str]:
    """The names of everything that went wrong."""
    wrong = ("lost", "doubled", "answered_twice_by_one", "own_second_opinions", "open_for_two")
    return [name for name in wrong if counts[name]]
