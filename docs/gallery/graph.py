# %% [markdown]
# # A graph: which side did they take?
#
# Zachary's karate club split in 1977 after a quarrel between its instructor (node 0) and its president (node 33). All
# that is left are the friendships: 34 members and 78 edges. You want the two sides back, and you happen to know some of
# the members. `pip install 'samekind[train,graphs,plots]'`: the method for graphs is a network, which needs torch.

# %%
import matplotlib.pyplot as plt
import networkx as nx
from sklearn.metrics import adjusted_rand_score

import samekind

QUESTIONS = 10  # in the test: 2

club = nx.karate_club_graph()
side = [club.nodes[member]["club"] for member in club]
places = nx.spring_layout(club, seed=3)


def draw(labels, title, axis, asked=()):
    """Draw the club, one colour per group, with a ring around members in `asked`."""
    palette = ("#2a6f97", "#d1495b", "#5b8c3e", "#775b9e", "#a5682a", "#707070")
    colours = [palette[(number - 1) % len(palette)] for number in labels]
    rings = [2.5 if member in asked else 0.5 for member in club]
    nx.draw_networkx_edges(club, places, ax=axis, edge_color="#bbbbbb", width=0.7)
    nx.draw_networkx_nodes(
        club,
        places,
        ax=axis,
        node_color=colours,
        node_size=130,
        edgecolors="black",
        linewidths=rings,
    )
    nx.draw_networkx_labels(club, places, ax=axis, font_size=6, font_color="white")
    axis.set_title(title)
    axis.axis("off")


# %% [markdown]
# ## Without an answer
#
# `ncp-graph` need not be told the number of groups: it gives a probability for each.

# %%
# Left: the club in three groups. Right: bars with the probability of each number of
# groups.
session = samekind.Session(club, clusterer="ncp-graph")
figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3.4), width_ratios=(2, 1))
draw(session.labels, f"no answer: {len(session.groups)} groups", left)
chances = session.model.n_clusters_posterior_[:9]
right.bar(range(1, len(chances)), chances[1:], color="#2a6f97")
right.set(xlabel="number of groups", ylabel="probability")
print(f"adjusted Rand index: {adjusted_rand_score(side, session.labels):.2f}")

# %% [markdown]
# By the edges alone, a small circle of friends around members 4, 5, 6, 10 and 16 is a group of its own. That is a fair
# view of the club. It is not the one that you have in mind.
#
# ## A few answers
#
# The strategy for this method asks about the members whose answer tells most about all others.

# %%
sides = samekind.Session(club, clusterer="ncp-graph")
for _ in range(QUESTIONS):
    asked = sides.ask()
    choice = asked.question.truthful(lambda a, b: side[a] == side[b])
    sides.tell(asked.number, choice)
    sides.refit()
    found, quality = len(sides.groups), adjusted_rand_score(side, sides.labels)
    others = ", ".join(str(member) for member in asked.question.items()[1:])
    about = f"{asked.question.items()[0]} beside {others}"
    print(f"{asked.number:2}. {about:38} {choice:9} groups: {found}  {quality:.2f}")

# %%
# Left: the club after the answers, in two groups. Right: the sides that the members
# really took.
figure, axes = plt.subplots(1, 2, figsize=(8, 3.4))
asked_about = set(sides.constraints.touched.tolist())
draw(sides.labels, f"after {QUESTIONS} answers", axes[0], asked_about)
draw([1 if name == side[0] else 2 for name in side], "what happened", axes[1])

# %% [markdown]
# Rings mark the members that were asked about. How sure is the rest? Two nodes that are together in nearly all plausible
# groupings may be believed, the others had better be asked about:

# %%
together = sides.model.co_membership_
doubtful = sorted(
    (abs(together[a, b] - 0.5), a, b)
    for a in club
    for b in club
    if a < b and sides.constraints.same(a, b) is None
)
for _, a, b in doubtful[:3]:
    print(f"members {a} and {b}: together with probability {together[a, b]:.2f}")

# %% [markdown]
# Next: [group the nodes of a graph](../how-to/graphs.md) from a file, with its limits, or read
# [how the probabilities come about](../explanation/ncp.md).
