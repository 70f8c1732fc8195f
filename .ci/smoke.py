"""Try an installed samekind, without any of the extras: what a newcomer does in the first minutes.

Run by ``make smoke PYTHON=python3.13`` in a fresh environment that has only the wheel.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory


def main() -> None:
    """Use samekind from Python and from the command line, in a folder of its own."""
    with TemporaryDirectory(prefix="samekind-smoke-") as folder:
        os.chdir(folder)
        os.environ["SAMEKIND_HOME"] = str(Path(folder) / "home")
        use_python()
        use_command_line()
    print(f"samekind works with Python {sys.version.split()[0]}.")


def use_python() -> None:
    """Group, save and load, texts and pictures, and a class that needs torch."""
    import numpy as np
    from PIL import Image

    import samekind

    assert Path(samekind.__file__).with_name("py.typed").is_file()
    assert (Path(samekind.__file__).parent / "web" / "page" / "index.html").is_file()
    X = np.random.default_rng(0).normal(size=(60, 2)) + 9 * (np.arange(60) % 3)[:, None]
    found = samekind.group(X, answer=lambda i, j: i % 3 == j % 3, questions=10)
    assert found.n_groups == 3
    found.session.save("mine.session")
    assert (samekind.Session.load("mine.session").labels == found.labels).all()
    texts = samekind.Session(["open a door", "close a door", "paint it"] * 4)
    assert len(texts.predict(["open a window"])) == 1
    colours = [Image.new("RGB", (32, 32), name) for name in ("red", "blue", "green") * 3]
    assert len(samekind.Session(colours).labels) == 9
    with suppress(samekind.MissingExtra):  # and no other error
        samekind.NCP().fit(X)


def use_command_line() -> None:
    """List, ask and export."""

    def run(*words: str, typed: str = "") -> str:
        command = [sys.executable, "-m", "samekind", *words]
        done = subprocess.run(command, input=typed, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert "live" in json.loads(run("list", "--json"))["methods"]
    assert json.loads(run("ask", "tiles", "--json", typed="0\nq\n"))["answers"] == 1
    run("export", "tiles", "groups.csv")
    assert Path("groups.csv").read_text().count("\n") == 385


if __name__ == "__main__":
    main()
