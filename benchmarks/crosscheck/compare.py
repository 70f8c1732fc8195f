"""Our COP-KMeans, PCK-means, MPCK-means and COBRAS beside programs that no one here wrote.

The same vectors, the same answers, several seeds. The outside programs, from PyPI, run in an
interpreter of their own, which gets its tasks as JSON lines, so that nothing foreign is imported
here:

    python -m venv outside && outside/bin/pip install active-semi-supervised-clustering cobras-ts
    python -m benchmarks.crosscheck.compare --outside outside/bin/python
    python -m benchmarks.crosscheck.compare --table

Beside the defaults of both sides there are variants that change one thing, to find out what makes a
difference. Rows of the sets that were run replace those in ``crosscheck.json``.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import time
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from samekind import superinstances
from samekind.clusterers.kmeans.cobras import COBRAS
from samekind.clusterers.kmeans.copkmeans import COPKMeans
from samekind.clusterers.kmeans.mpckmeans import MPCKMeans
from samekind.clusterers.kmeans.pckmeans import PCKMeans
from samekind.constraints import Constraints
from samekind.errors import Infeasible
from samekind.evaluation import ari
from samekind.questions import Answer, SamePair
from samekind.superinstances import replay_cobras, tree

HERE = Path(__file__).parent
RESULTS = HERE / "crosscheck.json"
SETS = ("iris", "wine", "digits300", "tiles200-colour", "tiles200-shape")
PAIRS = {name: (50, 100, 200) if name in ("iris", "wine") else (100, 200) for name in SETS}
PAIRS_OF_MPCK = {**PAIRS, "digits300": (100,)}
"""Fewer where the outside program takes minutes."""
BUDGETS = (25, 50, 100, 200)
OURS = {"COP-KMeans": COPKMeans, "PCK-means": PCKMeans, "MPCK-means": MPCKMeans}
VARIANTS: dict[str, dict[str, dict[str, Any]]] = {
    "COP-KMeans": {"ours": {}, "ours, one start": {"n_init": 1}},
    "PCK-means": {
        "ours": {},
        "ours, one start": {"n_init": 1},
        "ours, w = 2": {"w": 2.0},  # squared distances are halved in the outside program
    },
    "MPCK-means": {
        "ours": {},
        "ours, 4 starts": {"n_init": 4},
        "ours, one start": {"n_init": 1},
        "ours, one metric": {"shrinkage": 1e9},
    },
}
CLASS = {"COP-KMeans": "COPKMeans", "PCK-means": "PCKMeans", "MPCK-means": "MPCKMeans"}


class Outside:
    """The interpreter of the outside programs; one task at a time."""

    def __init__(self, python: str) -> None:
        self.process = subprocess.Popen(
            [python, str(HERE / "outside.py")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def send(self, **task: Any) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(task) + "\n")
        self.process.stdin.flush()

    def ask(self, **task: Any) -> dict[str, Any]:
        self.send(**task)
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"The outside interpreter ended at {task['do']!r}.")
        return dict(json.loads(line))

    def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait(timeout=10)


def data(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Vectors and kinds: standard scores of iris and wine, pixels of digits, parts of tiles."""
    from sklearn.datasets import load_digits, load_iris, load_wine
    from sklearn.decomposition import PCA
    from sklearn.preprocessing import StandardScaler

    if name.startswith("tiles200-"):
        from samekind.sources import open_labelled
        from samekind.workspace.pile import encoded_pile

        tiles = open_labelled("tiles")
        vectors = np.asarray(encoded_pile(tiles.collection).X, dtype=np.float64)
        parts = PCA(16, random_state=0).fit_transform(vectors)  # so that the outside ends
        some = np.sort(np.random.default_rng(0).choice(len(parts), 200, replace=False))
        kinds = tiles.truth(name.removeprefix("tiles200-"))[0]
        return parts[some] / parts.std(), kinds[some]
    if name == "digits300":
        X, kinds = load_digits(return_X_y=True)
        some = np.sort(np.random.default_rng(0).choice(len(X), 300, replace=False))
        return X[some] / 16.0, kinds[some]
    X, kinds = (load_iris if name == "iris" else load_wine)(return_X_y=True)
    return StandardScaler().fit_transform(X), kinds


def drawn_pairs(kinds: np.ndarray, count: int, seed: int) -> list[tuple[int, int, bool]]:
    """Different random pairs with true answers."""
    rng = np.random.default_rng((seed, count))
    found: dict[tuple[int, int], bool] = {}
    while len(found) < count:
        a, b = sorted(rng.choice(len(kinds), 2, replace=False).tolist())
        found[a, b] = bool(kinds[a] == kinds[b])
    return [(a, b, alike) for (a, b), alike in found.items()]


def counts_of(method: str, name: str) -> tuple[int, ...]:
    """Numbers of answers at which a method is measured on a set."""
    if method == "COBRAS":
        return BUDGETS
    return (PAIRS_OF_MPCK if method == "MPCK-means" else PAIRS)[name]


def family_rows(
    name: str, outside: Outside, seeds: int, methods: list[str]
) -> Iterator[dict[str, Any]]:
    """COP-KMeans, PCK-means and MPCK-means from random pairs, with the true number of groups."""
    X, kinds = data(name)
    outside.send(do="data", set=name, X=X.tolist())
    groups = len(np.unique(kinds))
    spread = float(X.var(axis=0).sum())  # the price that ours takes
    for method in methods:
        for count in counts_of(method, name):
            theirs: dict[str, dict[str, Any]] = {"theirs": {"starts": 1}}
            if method != "MPCK-means" and count == 100:
                theirs["theirs, best of 4 starts"] = {"starts": 4}
            if method == "PCK-means" and count == 100:
                theirs["theirs, our w"] = {"starts": 1, "w": spread / 2}
            rows = {v: _row(method, name, count, v) for v in (*VARIANTS[method], *theirs)}
            for seed in range(seeds):
                pairs = drawn_pairs(kinds, count, seed)
                known = Constraints.from_links(len(X), pairs)
                for variant, given in VARIANTS[method].items():
                    started = time.perf_counter()
                    model = OURS[method](groups, random_state=seed, **given)
                    try:
                        labels = model.fit(X, constraints=known).labels_
                    except Infeasible:
                        labels = None
                    _note(rows[variant], kinds, labels, time.perf_counter() - started)
                for variant, given in theirs.items():
                    got = outside.ask(
                        do="pairs", set=name, method=CLASS[method], groups=groups, seed=seed,
                        pairs=pairs, **given,
                    )  # fmt: skip
                    _note(rows[variant], kinds, got["labels"], got["seconds"], got["failures"])
            yield from rows.values()


def cobras_rows(name: str, outside: Outside, seeds: int) -> Iterator[dict[str, Any]]:
    """COBRAS with its own questions; a row per number of answers and variant."""
    X, kinds = data(name)
    outside.send(do="data", set=name, X=X.tolist())
    variants = {"ours": 3, "ours, 1 restart": 1}
    if name == "digits300":
        variants["ours, 10 restarts"] = 10
    rows = {(v, q): _row("COBRAS", name, q, v) for v in variants for q in BUDGETS}
    one = {q: _row("COBRAS", name, q, "ours, one group until merged") for q in BUDGETS}
    for variant, restarts in variants.items():
        superinstances.RESTARTS = restarts
        for seed in range(seeds):
            for q, labels, merged, seconds in _our_cobras(X, kinds, seed):
                _note(rows[variant, q], kinds, labels, seconds)
                if variant == "ours":
                    before = labels if merged else np.zeros(len(X), dtype=int)
                    _note(one[q], kinds, before, seconds)
    superinstances.RESTARTS = 3
    yield from (*rows.values(), *one.values())
    for variant, restarts in {"theirs": 10, "theirs, 1 restart": 1}.items():
        for q in BUDGETS:
            row = _row("COBRAS", name, q, variant)
            for seed in range(seeds):
                got = outside.ask(
                    do="cobras", set=name, kinds=kinds.tolist(), budget=q, seed=seed,
                    restarts=restarts,
                )  # fmt: skip
                _note(row, kinds, got["labels"], got["seconds"])
                row.setdefault("implied", []).append(implied_among(len(X), got["asked"]))
            yield row


def implied_among(n_items: int, asked: list[tuple[int, int, bool]]) -> int:
    """How many answers followed from those before them: ours never asks for such a one."""
    known, implied = Constraints(n_items), 0
    for number, (a, b, same) in enumerate(asked, start=1):
        implied += known.same(a, b) is not None
        known = known.with_answer(Answer(number, SamePair(a, b), "same" if same else "different"))
    return implied


def _our_cobras(
    X: np.ndarray, kinds: np.ndarray, seed: int
) -> Iterator[tuple[int, Any, bool, float]]:
    whole, known = tree(X, seed), Constraints(len(X))
    started = time.perf_counter()
    for told in range(1, max(BUDGETS) + 1):
        question = replay_cobras(whole, known).question
        if question is not None:
            choice = "same" if kinds[question[0]] == kinds[question[1]] else "different"
            known = known.with_answer(Answer(told, SamePair(*question), choice))
        if told in BUDGETS:
            labels = COBRAS(random_state=seed).fit(X, constraints=known).labels_
            merged = replay_cobras(whole, known).merged
            yield told, labels, merged, time.perf_counter() - started


def _row(method: str, name: str, answers: int, variant: str) -> dict[str, Any]:
    return {"method": method, "set": name, "answers": answers, "program": variant, "ari": [],
            "groups": [], "failures": 0, "without_result": 0, "seconds": 0.0}  # fmt: skip


def _note(
    row: dict[str, Any], kinds: np.ndarray, labels: Any, seconds: float, failures: int = 0
) -> None:
    row["failures"] += failures
    row["seconds"] = round(row["seconds"] + seconds, 3)
    if labels is None:
        row["without_result"] += 1
        return
    row["ari"].append(round(float(ari(kinds, np.asarray(labels))), 4))
    row["groups"].append(len(np.unique(labels)))


def table(results: dict[str, Any]) -> str:
    """Markdown: for each method and set the means over seeds, ours and theirs, with two errors."""
    found = {(r["method"], r["set"], r["answers"], r["program"]): r for r in results["rows"]}
    lines = []
    for method in dict.fromkeys(key[0] for key in found):
        programs = list(dict.fromkeys(key[3] for key in found if key[0] == method))
        first = [p for p in ("ours", "theirs") if p in programs]
        programs = [*first, *(p for p in programs if p not in first)]
        lines += ["", f"**{method}**", "", f"| set | answers | {' | '.join(programs)} |"]
        lines += ["|---" * (len(programs) + 2) + "|"]
        for name, answers in dict.fromkeys((k[1], k[2]) for k in found if k[0] == method):
            cells = [_cell(found.get((method, name, answers, p))) for p in programs]
            lines.append(f"| {name} | {answers} | {' | '.join(cells)} |")
    return "\n".join(lines).strip() + "\n"


def _cell(row: dict[str, Any] | None) -> str:
    if row is None or not row["ari"]:
        return "none" if row else ""
    error = np.std(row["ari"], ddof=1) / np.sqrt(len(row["ari"])) if len(row["ari"]) > 1 else 0.0
    text = f"{np.mean(row['ari']):.3f} ± {error:.3f}"
    missing = row["without_result"]
    return f"{text} ({missing} without)" if missing else text


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--outside", help="the interpreter that has the outside programs")
    parser.add_argument("--sets", nargs="+", default=list(SETS), choices=SETS)
    parser.add_argument("--methods", nargs="+", default=[*OURS, "COBRAS"])
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--table", action="store_true", help="only print the table")
    given = parser.parse_args()
    results = json.loads(given.out.read_text()) if given.out.exists() else {"rows": []}
    if given.table:
        print(table(results))
        return
    outside = Outside(given.outside)
    results["command"] = "python -m benchmarks.crosscheck.compare --outside outside/bin/python"
    results["seeds"] = given.seeds
    ours = {name: version(name) for name in ("samekind", "numpy", "scikit-learn", "scipy")}
    results["versions"] = {"ours": ours, "theirs": outside.ask(do="versions")}
    for name in given.sets:
        family = [m for m in given.methods if m in OURS]
        new = list(cobras_rows(name, outside, given.seeds)) if "COBRAS" in given.methods else []
        new += family_rows(name, outside, given.seeds, family)
        done = {(row["method"], row["set"]) for row in new}
        kept = [row for row in results["rows"] if (row["method"], row["set"]) not in done]
        results["rows"] = sorted(kept + new, key=_order)
        head = {key: value for key, value in results.items() if key != "rows"}
        body = ",\n".join(json.dumps(row) for row in results["rows"])
        given.out.write_text(json.dumps(head, indent=1)[:-2] + f',\n "rows": [\n{body}\n]}}\n')
        print(f"{name}: {len(new)} rows", flush=True)
    outside.close()


def _order(row: dict[str, Any]) -> tuple[int, int, int]:
    methods = [*OURS, "COBRAS"]
    return methods.index(row["method"]), SETS.index(row["set"]), row["answers"]


if __name__ == "__main__":
    main()
