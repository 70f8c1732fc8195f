"""The other side of the cross-check: runs inside the interpreter of the outside programs.

Reads one task per line as JSON, writes one result per line. Imports nothing of samekind; the
outside packages are used as installed. Two aliases that numpy has dropped are put back, nothing
else is changed. Where a task asks for k-means restarts, these are handed to the k-means that COBRAS
calls: scikit-learn made ten starts when the program was published, and makes one today.
"""

import contextlib
import functools
import importlib.metadata
import json
import sys
import time
import warnings

import numpy as np

for _alias, _type in (("int", int), ("float", float)):
    if not hasattr(np, _alias):
        setattr(np, _alias, _type)

VERSIONS = ("active-semi-supervised-clustering", "cobras-ts", "numpy", "scikit-learn", "scipy")
TRIES = 5


class Person:
    """Answers the questions of COBRAS from the true kinds."""

    def __init__(self, kinds):
        self.kinds = kinds
        self.asked = []

    def query_points(self, a, b):
        same = bool(self.kinds[a] == self.kinds[b])
        self.asked.append((int(a), int(b), same))
        return same

    def update_clustering(self, clustering):
        pass

    def continue_cluster_process(self):
        return True


def cobras(task, X):
    """Groups when the questions have run out, and what was asked."""
    import sklearn.cluster
    from cobras_ts import cobras_kmeans

    cobras_kmeans.KMeans = functools.partial(sklearn.cluster.KMeans, n_init=task["restarts"])
    np.random.seed(task["seed"])
    person = Person(task["kinds"])
    found = cobras_kmeans.COBRAS_kmeans(X, person, task["budget"]).cluster()[0]
    return found.construct_cluster_labeling(), person.asked, 0


def from_pairs(task, X):
    """Groups of one of the k-means methods; the best of some starts by what it minimises."""
    from active_semi_clustering.semi_supervised import pairwise_constraints as methods

    same = [(a, b) for a, b, alike in task["pairs"] if alike]
    different = [(a, b) for a, b, alike in task["pairs"] if not alike]
    given = {} if task.get("w") is None else {"w": task["w"]}
    best, failures = None, 0
    for start in range(task["starts"]):
        for again in range(TRIES):
            np.random.seed(1000 * task["seed"] + 10 * start + again)
            model = getattr(methods, task["method"])(n_clusters=task["groups"], **given)
            try:
                model.fit(X, ml=same, cl=different)
                break
            except Exception:  # an empty group, no place for an item, an overflow
                failures += 1
        else:
            continue
        squares = float(((X - model.cluster_centers_[model.labels_]) ** 2).sum())
        broken = sum(model.labels_[a] != model.labels_[b] for a, b in same)
        broken += sum(model.labels_[a] == model.labels_[b] for a, b in different)
        cost = squares / 2 + given.get("w", 1.0) * float(broken)
        if best is None or cost < best[0]:
            best = cost, model.labels_
    return (None if best is None else best[1].tolist()), None, failures


def main():
    warnings.simplefilter("ignore")
    rows = {}
    out = sys.stdout
    for line in sys.stdin:
        task = json.loads(line)
        if task["do"] == "versions":
            found = {name: importlib.metadata.version(name) for name in VERSIONS}
            found["python"] = sys.version.split()[0]
            print(json.dumps(found), file=out, flush=True)
            continue
        if task["do"] == "data":
            rows[task["set"]] = np.array(task["X"])
            continue
        started = time.perf_counter()
        run = cobras if task["do"] == "cobras" else from_pairs
        with contextlib.redirect_stdout(sys.stderr):
            labels, asked, failures = run(task, rows[task["set"]])
        result = {"labels": None if labels is None else [int(k) for k in labels]}
        result |= {"asked": asked, "failures": failures}
        print(json.dumps(result | {"seconds": time.perf_counter() - started}), file=out, flush=True)


if __name__ == "__main__":
    main()
