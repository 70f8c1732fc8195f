"""The neural clustering process: a posterior over groupings of unknown number.

Generators draw data sets whose grouping is known, a network learns to place their points one after
the other, and a sampler then draws groupings of new data sets. Nothing is imported here, so that
naming the method does not load torch; import the files by name.
"""
