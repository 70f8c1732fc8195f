"""Encoders trained on the user's own unlabelled pictures."""
