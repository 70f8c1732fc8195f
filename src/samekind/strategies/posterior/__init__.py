"""Questions chosen by expected information under draws of whole groupings."""
