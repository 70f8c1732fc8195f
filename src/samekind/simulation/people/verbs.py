"""Commands that a person may return instead of a choice."""

BACK, SKIP, STOP = "\0back", "\0skip", "\0stop"
"""Take the last answer back, not now, enough."""
AGAIN = "\0again"
"""Nothing was answered: something else was done, so ask for the open question again."""
