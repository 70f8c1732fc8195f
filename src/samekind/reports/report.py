"""Write a report: a folder with a page, Markdown and CSV files."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from samekind.atomic_files import draft_name
from samekind.errors import ExportError, InputError
from samekind.reports.comparison import Comparison
from samekind.reports.contents import Section, Sheet
from samekind.reports.figures import listed
from samekind.reports.markdown import markdown
from samekind.reports.page import MARK, page
from samekind.reports.sections.areas import area_section, seconds_section
from samekind.reports.sections.comparing import comparing_section
from samekind.reports.sections.curves import curve_section
from samekind.reports.sections.origin import origin_section
from samekind.reports.sections.overview import overview
from samekind.reports.sections.papers import papers_section
from samekind.reports.sections.people import people_section
from samekind.reports.sections.reaching import reach_section
from samekind.reports.sections.waiting import waiting_section
from samekind.reports.sheets import NAMES, sheets
from samekind.reports.study import Study
from samekind.user_paths import expanded, is_there


@dataclass(frozen=True, eq=False)
class Report:
    """The contents of a report.

    Parameters
    ----------
    title : heading of the page. sections : contents of the page and of the Markdown.
    sheets : the CSV files.
    """

    title: str
    sections: Sequence[Section]
    sheets: Sequence[Sheet]

    @classmethod
    def of(cls, study: Study, title: str = "") -> Report:
        """Compute everything; nothing is written yet."""
        for value in study.qualities:
            if not -1 <= value <= 1:
                raise InputError(f"Expected a quality from -1 to 1, got {value:g}.")
        comparison = Comparison.of(study)
        found = [
            overview(study, comparison),
            curve_section(study),
            area_section(study),
            seconds_section(study),
            reach_section(study),
            comparing_section(study, comparison),
            people_section(study),
            waiting_section(study),
            papers_section(study),
            origin_section(study),
        ]
        suites = sorted({block.suite for block in study.blocks} - {"-"})
        several = listed(suites) if 0 < len(suites) <= 3 else f"{len(suites)} suites"
        named = title or (f"Benchmark: {several}" if suites else "Benchmark")
        kept = [section for section in found if section is not None]
        return cls(named, kept, sheets(study, comparison))

    def write(self, folder: str | Path) -> Path:
        """Write ``index.html``, ``report.md`` and ``tables/``; returns the page.

        A folder that holds an earlier report is written over; any other page there is not.
        """
        out = expanded(folder)
        check_folder(out)
        text = page(self.title, self.sections)
        try:
            (out / "tables").mkdir(parents=True, exist_ok=True)
            written = {sheet.name for sheet in self.sheets if sheet.rows}
            for sheet in self.sheets:
                if sheet.name in written:
                    _put(out / "tables" / f"{sheet.name}.csv", _csv(sheet))
            for name in set(NAMES) - written:  # of an earlier report
                (out / "tables" / f"{name}.csv").unlink(missing_ok=True)
            _put(out / "report.md", markdown(self.title, self.sections))
            _put(out / "index.html", text)
        except OSError as problem:
            raise ExportError(
                f"{out} cannot be written: {problem.strerror}. Choose another folder."
            ) from problem
        return out / "index.html"


def check_folder(folder: Path) -> None:
    """Raise an error if the folder holds other files than a report; fails early."""
    if is_there(folder, ExportError) and not folder.is_dir():
        raise ExportError(f"{folder} is not a folder. Choose another name.")
    index = folder / "index.html"
    if index.exists():
        ours = index.is_file() and _begins(index, MARK.encode())
    else:
        ours = not any((folder / name).exists() for name in ("report.md", "tables"))
    if not ours:
        raise ExportError(
            f"{folder} holds files that are not a samekind report. Choose another folder."
        )


def _begins(path: Path, mark: bytes) -> bool:
    with path.open("rb") as file:
        return file.read(len(mark)) == mark


def _csv(sheet: Sheet) -> str:
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(sheet.columns)
    writer.writerows(sheet.rows)
    return buffer.getvalue()


def _put(final: Path, text: str) -> None:
    """Write a file atomically, over an earlier one."""
    draft = draft_name(final)
    try:
        draft.write_text(text, encoding="utf-8", newline="")
        os.replace(draft, final)
    finally:
        draft.unlink(missing_ok=True)
