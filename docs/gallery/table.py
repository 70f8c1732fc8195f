# %% [markdown]
# # A table: penguins by species and by sex
#
# A biologist has four measurements each of 333 penguins: length and depth of the bill, length of the flipper, and mass.
# She wants them by species first, then by sex. She can tell both from a bird, but not from a column of the table.
#
# The data are of Gorman, Williams and Fraser (2014), in the package `palmerpenguins`:
# `pip install 'samekind[sets,pandas,plots]'`.

# %%
import matplotlib.pyplot as plt
from palmerpenguins import load_penguins
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import scale

import samekind

QUESTIONS = 40  # in the test: 4
STARTS = 10  # in the test: 1

penguins = load_penguins().dropna().reset_index(drop=True)
measured = penguins[
    ["bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g"]
]
measured.head(4).to_string()

# %% [markdown]
# ## Without an answer
#
# k-means on the scaled columns, told that there are two or three groups, and samekind without an answer:

# %%
columns = scale(measured)
session = samekind.Session(measured)
plain = {
    "k-means, 3 groups": KMeans(3, n_init=STARTS, random_state=0).fit_predict(columns),
    "k-means, 2 groups": KMeans(2, n_init=STARTS, random_state=0).fit_predict(columns),
    f"samekind, {len(session.groups)} groups": session.labels,
}
print("adjusted Rand index  species    sex")
for name, labels in plain.items():
    by_species = adjusted_rand_score(penguins.species, labels)
    by_sex = adjusted_rand_score(penguins.sex, labels)
    print(f"{name:20} {by_species:7.2f} {by_sex:6.2f}")

# %% [markdown]
# The largest difference in the table is between Gentoo penguins and the others. Sex is in it as well (males are larger
# in every species), but it lies across the largest difference, where no clustering looks by itself.
#
# ## Answers
#
# A DataFrame goes in as it is, and a person who is asked sees its columns.


# %%
def sort_by(meant):
    """Answer by what the biologist knows; return session and quality by answers."""
    session = samekind.Session(measured)
    quality = [adjusted_rand_score(meant, session.labels)]
    for _ in range(QUESTIONS):
        asked = session.ask()
        choice = asked.question.truthful(lambda i, j: meant[i] == meant[j])
        session.tell(asked.number, choice)
        session.refit()
        quality.append(adjusted_rand_score(meant, session.labels))
    return session, quality


by_species, species_quality = sort_by(penguins.species)
by_sex, sex_quality = sort_by(penguins.sex)

# %%
# Quality by number of answers: species within ten answers, sex slowly, and not
# completely.
figure, axis = plt.subplots(figsize=(6, 2.8))
axis.plot(species_quality, label="by species", color="#2a6f97")
axis.plot(sex_quality, label="by sex", color="#d1495b")
axis.set(xlabel="answers", ylabel="adjusted Rand index", ylim=(-0.05, 1.05))
axis.legend(loc="lower right")
for name, quality in (("species", species_quality), ("sex", sex_quality)):
    print(
        name, {count: round(quality[count], 2) for count in range(0, QUESTIONS + 1, 10)}
    )

# %%
# Three scatter plots of the bill, by length and depth: groups without an answer, by
# species, and by sex.
figure, axes = plt.subplots(1, 3, figsize=(8, 2.9), sharey=True)
panels = (("no answer", session), ("by species", by_species), ("by sex", by_sex))
for axis, (title, shown) in zip(axes, panels):
    for number, colour in zip(
        shown.groups, ("#2a6f97", "#d1495b", "#edae49", "#66a182")
    ):
        of_group = measured[shown.labels == number]
        axis.scatter(of_group.bill_length_mm, of_group.bill_depth_mm, s=7, color=colour)
    asked = measured.iloc[shown.constraints.touched]
    axis.scatter(
        asked.bill_length_mm, asked.bill_depth_mm, s=26, fc="none", ec="black", lw=0.7
    )
    axis.set(title=f"{title}: {len(shown.groups)} groups", xlabel="bill length (mm)")
axes[0].set_ylabel("bill depth (mm)")

# %% [markdown]
# Circles mark the birds that she was asked about. Within each species, the birds with longer and deeper bills are male:
# that border runs across all three clouds, and the answers have found most of it.
#
# For sex, ask samekind itself how far it got, before you trust the groups:

# %%
by_sex.report().words

# %% [markdown]
# ## Take the groups along
#
# Groups go back into the table as a column, and new birds are placed by the same answers.

# %%
penguins["group"] = by_species.labels
print(
    penguins.groupby("group")
    .species.agg(["count", lambda of: of.mode()[0]])
    .to_string(header=False)
)
print("three more birds:", by_species.predict(measured.iloc[[0, 150, 300]]))

# %% [markdown]
# Next: [simulate on a labelled table](../how-to/simulate.md) of your own to see how many answers a grouping would take.
