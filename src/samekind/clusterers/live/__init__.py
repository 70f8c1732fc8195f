"""The default method, `Live`, and `Propagation`, the simpler one that it grew from.

Read in this order: `estimator` has the steps of `Live` as one page each. `seeds` finds the items
whose group is known and the groups without answers. `orientation` learns which differences matter,
`reliability` which answers to believe, `graph` spreads the answers over neighbours, and `heads`
places all other items by linear maps. `portable` is what a learner can store in a file.
"""
