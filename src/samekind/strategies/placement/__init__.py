"""Strategies that ask which group an item belongs to."""
