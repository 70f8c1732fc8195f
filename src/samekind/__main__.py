"""The command ``samekind``, also as ``python -m samekind``.

Nothing is imported before Ctrl-C is taken care of: loading takes a second.
"""

import sys


def main() -> None:
    """Run the command line; Ctrl-C at any moment ends it with one line."""
    try:
        from samekind.cli.main import main as run

        run()
    except KeyboardInterrupt:
        print("\nStopped.", file=sys.stderr)  # noqa: T201
        raise SystemExit(130) from None


if __name__ == "__main__":
    main()
