"""The product: everything a door can do, as silent functions that return values."""
