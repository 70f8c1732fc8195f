# %% [markdown]
# # Deep training on a GPU
#
# 50,000 small photographs of ten classes (CIFAR-10), and a person who wants them in two groups: what walks or drives on
# land, and what flies or swims. That is the *personalised* grouping of the PCL paper, and it mixes animals and vehicles
# in both groups. Is it worth training a network on a GPU, and what do answers add?
#
# Nothing is trained here. Every run of the benchmark is a row in a file of the repository, with its command, commit and
# seed, and this notebook draws those rows. It needs a clone of the repository and `pip install 'samekind[plots]'`.

# %%
import json
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

here = Path.cwd()
BENCHMARKS = next(
    up / "benchmarks"
    for up in (here, *here.parents)
    if (up / "benchmarks/rows").is_dir()
)


def read_rows(name, **wanted):
    """Return the rows of a file in which all these fields have these values."""
    rows = [json.loads(line) for line in (BENCHMARKS / name).read_text().splitlines()]
    return [
        row for row in rows if all(row[key] == value for key, value in wanted.items())
    ]


deep = read_rows("rows/gpu-deep.jsonl", set="cifar10-2", orientation="personalized")
print(len(deep), "runs, for example:", deep[0]["command"])
first = deep[0]
print(first["machine"]["device"], "commit", first["commit"], first["when"][:10])

# %% [markdown]
# ## One minute of training each
#
# Fifteen deep methods, each with the same 3,000 steps of training from scratch. That is about a minute on an H200, and
# far less than their papers use: **none of these bars is a reproduction**. Those that take answers got 10,000 pairs,
# most of them random. Beside them: SimCLR with the same steps and no answers, its features frozen, and then the default
# learner of samekind, `live`, which asks 20 or 150 questions.

# %%
# Bars of held-out accuracy: all deep methods lie near .6, live with 20 questions and
# with 150 lies near .8.
by_method = {}
for row in deep:
    by_method.setdefault(f"{row['method']}, {row['questions']:,} answers", []).append(
        row["curve"][-1]["heldout_acc"]
    )
for count in (20, 150):
    points = [point for row in read_rows("live/steps.jsonl") for point in row["curve"]]
    found = [point["heldout_acc"] for point in points if point["questions"] == count]
    by_method[f"simclr, then live, {count} answers"] = found
ordered = sorted(by_method.items(), key=lambda pair: np.mean(pair[1]))
figure, axis = plt.subplots(figsize=(7, 4.2))
for place, (name, found) in enumerate(ordered):
    axis.barh(place, np.mean(found), color="#d1495b" if "live" in name else "#9db4c0")
    axis.plot(found, [place] * len(found), "k.", markersize=4)
axis.axvline(0.6, color="black", linestyle=":", linewidth=1)
axis.text(0.61, -0.1, "everything in one group: .600", fontsize=7, va="center")
axis.set_yticks(
    range(len(ordered)), [name.replace(", 0 answers", "") for name, _ in ordered]
)
axis.set(xlabel="accuracy on 10,000 held-out images (dots: seeds)", xlim=(0, 0.9))
best = max(
    (name for name in by_method if "live" not in name),
    key=lambda name: np.mean(by_method[name]),
)
for name in (best, "simclr, then live, 20 answers", "simclr, then live, 150 answers"):
    print(f"{name:32} {np.mean(by_method[name]):.3f}")

# %% [markdown]
# At this cost no method finds the grouping by itself, and random pairs hardly help. The features do contain it: twenty
# well-chosen questions get most of it out. A question of `live` shows several groups, so that its answer tells more than
# that about a pair.
#
# ## Minutes of training, up to 10,000 answers
#
# What more training and more answers add. `live` works on features from a longer SimCLR training. The others train their
# own network for four to eight minutes and ask PCL's pairs.

# %%
# Held-out accuracy by number of answers on a logarithmic axis; live rises first, the
# trained networks end highest.
where = {"set": "cifar10-2", "orientation": "personalized"}
fast = read_rows("rows/gpu-earlier.jsonl", suite="pcl-fast", **where)
paper = read_rows("rows/gpu-earlier.jsonl", suite="pcl-paper", **where)
live = read_rows("rows/live-earlier.jsonl", system="live", noise=0.0, **where)
repaired = json.loads(
    (BENCHMARKS / "gpu/pcl-repaired-cifar10-2-personalized.json").read_text()
)
lines = {
    "live on frozen SimCLR features (5 seeds)": [row["curve"] for row in live],
    "PCL, profile fast: SimCLR, head, FixMatch": [row["curve"] for row in fast],
    "PCL, profile repaired": [
        [{**point, "heldout_acc": point["test_acc"]} for point in repaired["curve"]]
    ],
    "PCL's own loss, stopped after 12 epochs": [row["curve"] for row in paper],
}
figure, axis = plt.subplots(figsize=(7, 3.4))
for (name, curves), colour in zip(
    lines.items(), ("#d1495b", "#2a6f97", "#66a182", "#8c8c8c")
):
    asked = [point["questions"] for point in curves[0]]
    accuracy = np.mean(
        [[point["heldout_acc"] for point in curve] for curve in curves], axis=0
    )
    axis.plot(asked, accuracy, marker="o", markersize=3, label=name, color=colour)
    print(
        f"{name:42}",
        " ".join(
            f"{a:,}: {b:.2f}" for a, b in zip(asked, accuracy) if a in (0, 200, 10_000)
        ),
    )
axis.plot(10_000, 0.873, "k*", label="published for PCL, 10,000 pairs")
axis.set_xscale("symlog", linthresh=10)
axis.set_xticks([0, 10, 100, 1000, 10_000], ["0", "10", "100", "1,000", "10,000"])
axis.set(xlabel="answers", ylabel="held-out accuracy", ylim=(0.1, 1))
axis.legend(loc="lower right", fontsize=7)

# %% [markdown]
# Three things to take along:
#
# - Up to a few hundred answers, asking well about good frozen features wins. `live` is not told the number of groups,
#   which is why it begins low: without an answer it sees 8 to 18 of them.
# - With thousands of answers, training the whole network on them pays off (`fast` and `repaired`, which are our variants
#   and not the published method).
# - PCL's own loss needs far more than the 12 epochs it got here. [Results](../results.md) has its longer runs.
#
# To train on your own images, see [train on images](../how-to/train-on-pictures.md). The rows above come from
# `samekind bench deep-cifar10-2`, `samekind bench live`, `recipes/pcl.py` and `benchmarks/live/step_features.py`, and
# [how to run the benchmark](../how-to/run-the-benchmark.md) says how to repeat them.
