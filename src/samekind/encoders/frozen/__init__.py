"""Frozen image networks that ship with packages or come from other libraries."""
