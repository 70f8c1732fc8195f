"""Weights that the package ships, and how they were trained (README.md)."""
