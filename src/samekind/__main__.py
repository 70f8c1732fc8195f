"""``python -m samekind`` is the command ``samekind``."""

from samekind.cli.main import main

main()
