"""Strategies that ask about pairs of items."""
