# %% [markdown]
# # Portraits by two criteria
#
# A photographer has a few hundred portraits from one long day. She took them in front of four walls and wants one
# folder per wall. Her assistant needs the same portraits sorted another way: with glasses, where reflections have to be
# retouched, and without. No program can know which of the two is meant. It has to ask.
#
# samekind ships no photographs, so these portraits are drawn. Your own are opened the same way:
# `samekind.open_pile("my-photos")`, or a list of paths.

# %%
import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import adjusted_rand_score

import samekind
from samekind.sources import open_set

PORTRAITS = 300  # in the test: 24
QUESTIONS = 24  # in the test: 3

known = open_set("avatars")
portraits = [item.load() for item in known.collection][:PORTRAITS]
wall = known.orientations["backdrop"][:PORTRAITS]  # in the photographer's mind
glasses = known.orientations["glasses"][:PORTRAITS]  # in her assistant's mind


def show_groups(session, title, columns=12):
    """Draw a row of portraits for each group."""
    groups = [session.clustering.members(number) for number in session.groups]
    figure, axes = plt.subplots(len(groups), 1, figsize=(7, 0.74 * len(groups) + 0.3))
    for members, axis in zip(groups, np.atleast_1d(axes)):
        tiles = [
            np.asarray(portraits[i].convert("RGB").resize((64, 64)))
            for i in members[:columns]
        ]
        blank = [np.full((64, 64, 3), 255, np.uint8)] * (columns - len(tiles))
        axis.imshow(np.hstack(tiles + blank))
        axis.axis("off")
        axis.set_title(f"{len(members)} portraits", fontsize=8, loc="left", pad=2)
    figure.suptitle(title, fontsize=10)


# %% [markdown]
# ## Without an answer
#
# An ordinary clustering has one answer for both of them.

# %%
# Rows of portraits, one for each group that is found without any answer.
pile = samekind.open_pile(portraits)
session = samekind.Session(pile)
show_groups(session, "Groups without any answer")

# %% [markdown]
# Each group makes sense by itself: some go by the wall, some by glasses, some by hair. As a whole they suit neither of
# the two, as the adjusted Rand index says (1 is exactly the grouping that was meant, 0 is chance):

# %%
print(f"by wall:    {adjusted_rand_score(wall, session.labels):.2f}")
print(f"by glasses: {adjusted_rand_score(glasses, session.labels):.2f}")

# %% [markdown]
# ## A few answers
#
# Each of them answers questions such as "Which of these groups does this belong to?". Here their answers come from what
# they have in mind. On the page (`session.widget()`, or `samekind serve my-photos`) a person presses a key instead.


# %%
def sort_by(meant):
    """Answer by what a person means; return session and quality by answers."""
    session = samekind.Session(pile)
    quality = [adjusted_rand_score(meant, session.labels)]
    for _ in range(QUESTIONS):
        asked = session.ask()
        choice = asked.question.truthful(lambda i, j: meant[i] == meant[j])
        session.tell(asked.number, choice)
        session.refit()
        quality.append(adjusted_rand_score(meant, session.labels))
    return session, quality


by_wall, wall_quality = sort_by(wall)
by_glasses, glasses_quality = sort_by(glasses)

# %%
# Quality by number of answers: both curves rise from their low beginning towards 1.
figure, axis = plt.subplots(figsize=(6, 2.8))
axis.plot(wall_quality, label="by wall (4 groups)", color="#2a6f97")
axis.plot(glasses_quality, label="by glasses (2 groups)", color="#d1495b")
axis.set(xlabel="answers", ylabel="adjusted Rand index", ylim=(-0.05, 1.05))
axis.legend(loc="lower right")

# %%
for name, quality in (("wall", wall_quality), ("glasses", glasses_quality)):
    reached = next((k for k, value in enumerate(quality) if value > 0.95), None)
    after = f"{reached} answers" if reached is not None else "not yet"
    print(f"by {name:8} above .95 after: {after:11} at the end: {quality[-1]:.3f}")

# %% [markdown]
# ## The same portraits, two groupings

# %%
# Rows of portraits by wall: plain, dots, stripes and halves.
show_groups(by_wall, f"By wall, after {QUESTIONS} answers")

# %%
# Rows of portraits by glasses: with and without.
show_groups(by_glasses, f"By glasses, after {QUESTIONS} answers")

# %% [markdown]
# Both sessions use the same vectors. What differs is which of their directions count, and that was learnt from the
# answers. Tomorrow's portraits are sorted without another question: `by_wall.predict(more)`.
#
# Next: [sort a folder of photos](../how-to/sort-photos.md) on the page, or
# [have several groupings](../how-to/groupings.md) of one folder.
