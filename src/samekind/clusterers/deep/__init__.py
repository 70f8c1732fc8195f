"""Deep clustering methods, one file per method."""
