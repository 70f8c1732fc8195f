"""The neural clustering process as an estimator.

`estimator` has NCP itself, `pointwise` and `clusterwise` its two posteriors, `draws` what follows
from their samples, and `weights` finds and trains networks. `graph` has NCPGraph for the nodes of
graphs, with a posterior and weights of its own. The networks are in `amortized`.
"""
