"""One file per format that is read in bulk; ``samekind.bulk.readers`` chooses among them."""
