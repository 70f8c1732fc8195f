"""``python -m samekind`` is the command ``samekind``."""

from samekind.cli import main

main()
