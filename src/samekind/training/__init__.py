"""Training of image networks: views, networks, batches, the loop.

Nothing is imported here, so that naming a method does not load torch; import the files by name.
"""
