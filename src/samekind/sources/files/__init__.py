"""Readers of a person's own files: folders, images, texts, tables and arrays."""
