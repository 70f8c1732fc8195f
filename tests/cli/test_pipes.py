"""Pipes and devices in place of files: they are refused instead of waited for."""

# ruff: noqa: F811 (fixtures are imported by their names)

from __future__ import annotations

import os
from pathlib import Path

import pytest

from command_line import Cli, cli, table  # noqa: F401
from samekind import Session
from samekind.errors import ExportError, SourceError
from samekind.exports import undo_export


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes that have a name")
def test_pipes_are_refused_instead_of_waited_for(cli: Cli, table: Path, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "f.csv")
    done = cli("import", table, tmp_path / "f.csv")
    assert done.code == 3 and "a pipe or device. Write its content to a file" in done.err
    with pytest.raises(SourceError, match="a pipe or device"):
        Session([[0.0], [1.0], [2.0]]).import_labels(tmp_path / "f.csv")
    (tmp_path / "strange").mkdir()
    os.mkfifo(tmp_path / "strange/samekind-export.json")
    done = cli("export", table, tmp_path / "strange", "--undo")
    assert done.code == 14 and "a pipe or device" in done.err
    with pytest.raises(ExportError, match="a pipe or device"):
        undo_export(tmp_path / "strange/samekind-export.json")
