"""The neural clustering process as an estimator.

`estimator` has NCP itself, `pointwise` and `clusterwise` its two posteriors, `draws` what follows
from their samples, and `weights` finds and trains networks. The networks are in `amortized`.
"""
