"""What the commands of the command line do, behind the options that ``samekind.cli`` reads."""
