"""Tables about the probabilities of the shipped clustering processes, from ``shipped.jsonl``."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from benchmarks.ncp.summaries import FILE_OF, Row, read_rows
from benchmarks.results.own import NOT_YET
from benchmarks.results.rows import machines, short
from samekind.reports.markdown import pipe_table


def newest(rows: Sequence[Row], key: str = "variant") -> list[Row]:
    """The rows of the newest weights of each variant, and all that have no weights."""
    last = {row[key]: row["sha256"] for row in rows}
    return [row for row in rows if row["sha256"] == last[row[key]]]


def sources(name: str, rows: Sequence[Row]) -> str:
    """A sentence with file, commits, machine and weights of the rows behind a table."""
    commits = ", ".join(sorted({str(row["commit"]) for row in rows}))
    digests = ", ".join(sorted({str(row["sha256"]) for row in rows if row.get("sha256")}))
    seeds = ", ".join(map(str, sorted({row["seed"] for row in rows if "seed" in row})))
    weights = f" Weights: SHA-256 {digests}." if digests else ""
    return (
        f"*Rows: `benchmarks/ncp/{name}.jsonl`, commit {commits}, seed {seeds}, "
        f"{machines(rows)}.{weights}*"
    )


def _checks(check: str) -> list[Row]:
    return newest([row for row in read_rows(FILE_OF["shipped"]) if row["check"] == check])


def groups_table() -> str:
    """The distribution of the number of groups against the truth."""
    rows = _checks("groups")
    if not rows:
        return NOT_YET
    lines = [
        [row["variant"], str(row["N"]), f"{row['said']:.2f}", f"{row['true']:.2f}",
         f"{row['z']:+.1f}", short(row["covered"], 2), f"{row['size']:.1f}", short(row["p_true"])]
        for row in rows
    ]  # fmt: skip
    head = ["variant", "points", "expected groups", "true", "z", "held by the 90 % set",
            "numbers in that set", "mean p(true number)"]  # fmt: skip
    return _with_source(pipe_table(head, lines, 1), rows, "shipped")


def _with_source(table: str, rows: Sequence[Row], file: str) -> str:
    sets = ", ".join(map(str, sorted({row["sets"] for row in rows if "sets" in row})))
    counted = f"{sets} data sets each. " if sets else ""
    return f"{table}\n\n{counted}{sources(file, rows)}"


def reliability_table(check: str, what: str) -> Callable[[], str]:
    """What is said against what is true, by interval of the probability."""

    def table() -> str:
        rows = _checks(check)
        if not rows:
            return NOT_YET
        edges = [(b["from"], b["to"]) for b in max((r["bins"] for r in rows), key=len)]
        lines = []
        for row in rows:
            by = {(b["from"], b["to"]): b for b in row["bins"]}
            cells = [_bin(by.get(edge)) for edge in edges]
            lines.append([row["variant"], str(row["N"]), *cells, short(row["error"])])
        spans = [f"{short(low, 2)} to {short(high, 2)}" for low, high in edges]
        head = ["variant", "points", *spans, "mean gap"]
        return _with_source(f"{what}\n\n{pipe_table(head, lines, 1)}", rows, "shipped")

    return table


def _bin(row: Row | None) -> str:
    return "" if row is None else f"{short(row['said'], 2)} / {short(row['true'], 2)}"


def joint_table() -> str:
    """Geweke's test: z-scores of each statistic."""
    rows = _checks("joint")
    if not rows:
        return NOT_YET
    names = [one["statistic"] for one in rows[0]["statistics"]]
    lines = []
    for row in rows:
        by = {one["statistic"]: one for one in row["statistics"]}
        lines.append(
            [row["variant"], *(f"{by[n]['first']:+.1f} / {by[n]['z']:+.1f}" for n in names)]
        )
    about = rows[0]
    said = (f"z-scores of new groupings of the same points / after {about['rounds']} rounds, "
            f"{about['N']} points.")  # fmt: skip
    table = pipe_table(["variant", *names], lines, 1)
    return _with_source(f"{said}\n\n{table}", rows, "shipped")


def effective_table() -> str:
    """Effective draws of the network and of Gibbs sampling."""
    rows = _checks("effective")
    rows = [row for row in rows if row["variant"] == "plane"] or rows  # these laws are of the plane
    if not rows:
        return NOT_YET
    lines = [
        [row["world"], str(row["N"]), _share(row["ncp"]["share"]),
         f"{row['ncp']['per_second']:,.0f}", _share(row["gibbs"]["share"]),
         f"{row['gibbs']['per_second']:,.0f}"]
        for row in rows
    ]  # fmt: skip
    head = ["law", "points", "effective of its draws", "per second", "Gibbs: effective",
            "per second"]  # fmt: skip
    return _with_source(pipe_table(head, lines, 1), rows, "shipped")


def _share(value: float) -> str:
    return f"{100 * value:.1f} %"


def enumeration_table() -> str:
    """Error of p(same group) against enumeration."""
    rows = _checks("enumeration")
    if not rows:
        return NOT_YET
    lines = [[row["variant"], str(row["N"]), short(row["error"])] for row in rows]
    return _with_source(
        pipe_table(["variant", "points", "error of p(same group)"], lines, 1), rows, "shipped"
    )


PROBABILITIES: dict[str, Callable[[], str]] = {
    "groups": groups_table, "joint": joint_table,
    "pairs": reliability_table("pairs", "Said / true share of pairs in one group."),
    "steps": reliability_table("steps", "Probability of the likeliest choice / how often right."),
    "effective": effective_table, "enumeration": enumeration_table,
}  # fmt: skip
