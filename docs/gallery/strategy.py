# %% [markdown]
# # A strategy of your own
#
# A strategy decides what is asked next. The strategies of samekind want the whole pile right with few answers. Suppose
# that you have another aim: in a pile with a few common kinds and several *rare* ones, you want to **see every kind
# early**, say every defect of a product. That is a strategy of thirty lines.
#
# The pile: handwritten digits, five of them common and five of them rare.

# %%
from dataclasses import dataclass

import matplotlib.pyplot as plt
import numpy as np
from scipy.spatial.distance import cdist
from sklearn.datasets import load_digits
from sklearn.metrics import adjusted_rand_score

import samekind
from samekind.testing import check_strategy

COMMON, RARE = 150, 8
SEEDS = 4  # in the test: 1
QUESTIONS = 40  # in the test: 4

pictures, digit = load_digits(return_X_y=True)
kept = [np.flatnonzero(digit == d)[: COMMON if d < 5 else RARE] for d in range(10)]
rows = np.random.default_rng(0).permutation(np.concatenate(kept))
X, kind = pictures[rows], digit[rows]
print(dict(zip(*[each.tolist() for each in np.unique(kind, return_counts=True)])))

# %% [markdown]
# ## The strategy
#
# It is given a `View`: the current groups, the answers so far with what they imply, and a random generator. There is no
# field for labels, so it cannot cheat. It returns questions. This one asks about the item that is least like anything
# the person has placed so far.


# %%
@dataclass(frozen=True)
class Strangers:
    """Ask about the item that is least like all items asked about before."""

    exemplars: int = 3  # pictures that stand for a group

    def propose(self, view, n=1):
        space, known = view.clustering.space, view.constraints
        passed = {question.items()[0] for question in view.passed}
        seen = known.touched.tolist() or [int(view.rng.integers(len(space)))]
        kinds = known.kinds or [np.array(seen[:1])]
        nearest = cdist(space, space[seen]).min(axis=1)  # distance to what was seen
        questions = []
        for item in np.argsort(-nearest, kind="stable").tolist():
            possible = [k for k in kinds if known.same(item, int(k[0])) is None]
            if not possible or item in passed:
                continue
            possible.sort(key=lambda k: float(cdist(space[[item]], space[k]).min()))
            shown = [tuple(k[: self.exemplars].tolist()) for k in possible[:5]]
            why = "Nothing like it was asked about so far."
            questions.append(samekind.WhichGroup(item, tuple(shown), why=why))
            if len(questions) == n:
                break
        return questions


# %% [markdown]
# The contract of a strategy is in `samekind.testing`: never ask what the answers imply, never repeat what the person
# skipped, the same view gives the same question, end when everything is known. It raises an error if one is broken.

# %%
check_strategy(Strangers())
print("Strangers keeps the contract.")

# %% [markdown]
# ## Does it do what it is for?
#
# A simulated person answers its questions, and those of three strategies that samekind has. Two things are counted: how
# many of the ten kinds the person has been shown, and how well the whole pile is sorted.


# %%
def watch(strategy, seed):
    """Return the kinds seen and the quality of the groups, after each question."""
    session = samekind.Session(X, strategy=strategy, seed=seed)
    seen, kinds, quality = set(), [], []
    for _ in range(QUESTIONS):
        asked = session.ask()
        choice = asked.question.truthful(lambda i, j: kind[i] == kind[j])
        session.tell(asked.number, choice)
        if session.due:
            session.refit()
        seen |= set(kind[list(asked.question.items())].tolist())
        kinds.append(len(seen))
        quality.append(adjusted_rand_score(kind, session.labels))
    return kinds, quality


strategies = {
    "Strangers": Strangers(),
    "live": "live",
    "placement": "placement",
    "random": "random",
}
curves = {
    name: np.mean([watch(each, seed) for seed in range(SEEDS)], axis=0)
    for name, each in strategies.items()
}

# %%
# Left: kinds seen by questions, Strangers first. Right: quality of the groups by
# questions, live first.
figure, axes = plt.subplots(1, 2, figsize=(8, 3))
for (name, (kinds, quality)), colour in zip(
    curves.items(), ("#d1495b", "#2a6f97", "#66a182", "#8c8c8c")
):
    asked = range(1, QUESTIONS + 1)
    axes[0].plot(asked, kinds, label=name, color=colour)
    axes[1].plot(asked, quality, label=name, color=colour)
    middle, end = kinds[QUESTIONS // 2 - 1], kinds[-1]
    print(f"{name:10} kinds seen: {middle:4.1f} halfway, {end:4.1f} at the end", end="")
    print(f"   adjusted Rand index: {quality[-1]:.2f}")
axes[0].set(xlabel="questions", ylabel="kinds seen (of 10)", ylim=(0, 10.5))
axes[1].set(xlabel="questions", ylabel="adjusted Rand index", ylim=(0.6, 1.02))
axes[0].legend(loc="lower right")

# %% [markdown]
# The curves are means over the seeds. `Strangers` shows the rare kinds first, as it should. The price is on the right:
# it looks at outliers, the borders between the common kinds get fewer questions, and the groups are less steady than
# with `live`, which sees the last rare kind later. Which of the two is better depends on what you want, which is why
# strategies can be exchanged. `random`, the usual baseline, is behind in both.
#
# ## Use it
#
# In Python, pass an instance: `Session(X, strategy=Strangers())`. Saved as `strangers.py`, it works everywhere else too:
# `PYTHONPATH=. samekind serve my-photos --strategy strangers:Strangers`.
#
# Next: [the rules in full](../how-to/write-your-own-strategy.md), and [how to run a benchmark](../how-to/run-the-benchmark.md)
# with more sets, seeds and people who err.
