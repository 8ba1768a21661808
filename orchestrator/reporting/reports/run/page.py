"""The pages of a run's report, one for most runs and an index with pages of groups for large ones."""

import os
from collections.abc import Iterator
from pathlib import Path

from orchestrator.reporting.charts.heat import heat_map
from orchestrator.reporting.document import Fact, Page, Section
from orchestrator.reporting.findings.model import Report
from orchestrator.reporting.formats.html import named_texts, write_pages
from orchestrator.reporting.inline import Link
from orchestrator.reporting.reports.run.group_sections import group_section
from orchestrator.reporting.reports.run.index_sections import sections_after, sections_before
from orchestrator.reporting.reports.run.view import INDEX, PageView, RunPage, directory, layout, places


def write_html(report: Report, folder: Path, run_folder: Path | None = None) -> Path:
    """Write the pages into `folder` and return the path of the first.

    With `run_folder` they link to the raw files there, relatively, so both can be moved together.
    Raises `HostError` if the folder cannot be written.
    """
    raw = None if run_folder is None else os.path.relpath(run_folder.resolve(), folder.resolve())
    return write_pages(named_texts(pages(report, raw)), folder)


def pages(report: Report, raw: str | None = None) -> Iterator[tuple[str, Page]]:
    """Lay out every page, the index first.

    `raw` is the relative path from the pages to the run's folder, None for no links to raw files.
    """
    files = layout(report)
    where = places(files)
    posix = None if raw is None else Path(raw).as_posix()
    cells = report.by_id
    heat = heat_map(report.groups, cells)
    for number, file in enumerate(files):
        view = PageView(report, cells, file, where, posix, heat)
        yield file.name, _of_groups(view, files, number) if number else _index(view, files)


def _index(view: PageView, files: tuple[RunPage, ...]) -> Page:
    report = view.report
    facts = (
        Fact("Run", report.run),
        Fact("Started", "", report.created_at),
        Fact("Runtime", report.runtime),
        *((Fact("Profile", report.profile.title),) if report.profile else ()),
        Fact("Host", dict(report.host).get("hostname", "–")),
    )
    sections = (*sections_before(view, files), *_groups(view), *sections_after(view))
    listed = directory(files, view.cells) if len(files) > 1 else None
    return Page(
        _title(report),
        "Benchmark report",
        report.matrix,
        facts,
        sections,
        _footer(report),
        directory=listed,
        has_contents=True,
    )


def _of_groups(view: PageView, files: tuple[RunPage, ...], number: int) -> Page:
    report, last = view.report, len(files) - 1
    title = _title(report)
    turns = (
        *((Link("Previous page", files[number - 1].name, relation="prev"),) if number > 1 else ()),
        Link("Summary", INDEX),
        *((Link("Next page", files[number + 1].name, relation="next"),) if number < last else ()),
    )
    return Page(
        f"{view.page.parts[0].group.label} · {title}",
        Link(title, INDEX),
        f"Comparisons, page {number} of {last}",
        (),
        tuple(_groups(view)),
        _footer(report),
        turns=turns,
        index=INDEX,
        has_contents=True,
    )


def _groups(view: PageView) -> list[Section]:
    return [group_section(view, part, number) for number, part in enumerate(view.page.parts, 1)]


def _title(report: Report) -> str:
    return f"{report.matrix} · {report.run}"


def _footer(report: Report) -> str:
    return f"Made by orchestrator {report.orchestrator_version} from the files of run {report.run}."
