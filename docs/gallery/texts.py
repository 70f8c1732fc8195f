# %% [markdown]
# # Messages by intent and by tone
#
# A help desk has 500 messages. The team leader wants to route them: who has to deal with a message depends on what the
# writer *wants*. A colleague who trains new staff wants the same messages by *tone*, to practise answers to angry ones.
#
# The messages are composed from sentences, so that it is known what was meant. Your own come from a `.txt` or `.csv`
# file, or from a list of strings as here.

# %%
import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import adjusted_rand_score

import samekind
from samekind.sources import open_set

MESSAGES = 500  # in the test: 60
QUESTIONS = 60  # in the test: 4

known = open_set("tickets")
messages = [item.load() for item in known.collection][:MESSAGES]
intent = known.orientations["topic"][:MESSAGES]
tone = known.orientations["tone"][:MESSAGES]
for message in messages[:6]:
    print("-", message[:84])

# %% [markdown]
# ## Without an answer
#
# The default is the meaning and the words of the texts. What stands out there is the product: neither of the two people
# cares about it.

# %%
session = samekind.Session(messages)
product = known.orientations["product"][:MESSAGES]
for name, meant in (("product", product), ("intent", intent), ("tone", tone)):
    print(f"by {name:8} {adjusted_rand_score(meant, session.labels):5.2f}")

# %% [markdown]
# ## Two people answer
#
# `samekind.group` asks the questions. Here a function answers, which knows what each of them has in mind and says of two
# messages whether they are the same kind. A person would answer on the page instead.


# %%
def sort_by(meant, questions):
    """Return the grouping after some questions."""
    return samekind.group(
        messages, answer=lambda i, j: meant[i] == meant[j], questions=questions
    )


steps = [*range(0, QUESTIONS, 6), QUESTIONS]
by_intent = [sort_by(intent, count) for count in steps]
by_tone = [sort_by(tone, count) for count in steps]

# %%
# Quality by number of answers: the intent is found early, the tone takes about
# twice as many answers.
figure, axis = plt.subplots(figsize=(6, 2.8))
for found, meant, name, colour in (
    (by_intent, intent, "by intent (5 groups)", "#2a6f97"),
    (by_tone, tone, "by tone (3 groups)", "#d1495b"),
):
    quality = [adjusted_rand_score(meant, each.labels) for each in found]
    axis.plot(steps, quality, marker="o", markersize=3, label=name, color=colour)
    shown = zip(steps[::2], quality[::2])
    print(name, " ".join(f"{count}: {value:.2f}" for count, value in shown))
axis.set(xlabel="answers", ylabel="adjusted Rand index", ylim=(-0.05, 1.05))
axis.legend(loc="lower right")

# %% [markdown]
# Tone takes more answers because it is a small part of what a message says: its vectors are mostly about products and
# requests, and the answers have to show that all of this does not count.
#
# ## What is in the groups
#
# The words that are more frequent in a group than elsewhere say what it is about.


# %%
def typical_words(labels, count=5):
    """Print the words that tell each group apart, the largest group first."""
    from sklearn.feature_extraction.text import CountVectorizer

    reader = CountVectorizer(binary=True, stop_words="english")
    has_word = reader.fit_transform(messages).toarray()
    words = reader.get_feature_names_out()
    for number in sorted(set(labels), key=lambda each: -sum(labels == each)):
        inside, outside = has_word[labels == number], has_word[labels != number]
        lift = inside.mean(axis=0) - (outside.mean(axis=0) if len(outside) else 0)
        print(f"{len(inside):4} messages:", ", ".join(words[np.argsort(-lift)[:count]]))


print("By intent")
typical_words(by_intent[-1].labels)
print("By tone")
typical_words(by_tone[-1].labels)

# %% [markdown]
# ## The two groupings have nothing to do with each other

# %%
# Messages in each pair of groups, intents in rows and tones in columns: all cells
# hold about as many.
rows, columns = by_intent[-1].labels, by_tone[-1].labels
table = [
    [np.sum((rows == a) & (columns == b)) for b in np.unique(columns)]
    for a in np.unique(rows)
]
figure, axis = plt.subplots(figsize=(4.2, 3.2))
axis.imshow(table, cmap="Blues", vmin=0, vmax=2 * np.max(table), aspect="auto")
for (i, j), count in np.ndenumerate(table):
    axis.text(j, i, count, ha="center", va="center")


def names(labels, meant):
    """Name each group after the kind that most of its messages are of."""
    kinds = [list(meant[labels == number]) for number in np.unique(labels)]
    return [max(set(kind), key=kind.count) for kind in kinds]


axis.set_xticks(range(len(table[0])), names(columns, tone))
axis.set_yticks(range(len(table)), names(rows, intent))
axis.set(xlabel="by tone", ylabel="by intent")

# %% [markdown]
# Every tone occurs with every intent. A single clustering cannot be right for both people, however good it is.
#
# Next: [use it from Python](../how-to/from-python.md), or [let a model answer](../how-to/let-a-model-answer.md) instead of
# a person.
