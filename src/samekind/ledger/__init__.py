"""The ledger: the events of a session, their fold, and the stores that keep them."""
