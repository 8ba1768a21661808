"""All runs of a results folder as data for other programs."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from orchestrator.errors import HostError, InputError, host_error, remedy
from orchestrator.results.files.writing import locked
from orchestrator.tables.export.changes import Changes
from orchestrator.tables.export.parquet import write_parquet
from orchestrator.tables.export.sqlite import write_sqlite
from orchestrator.tables.stored import OpenedRun, stored_runs
from orchestrator.workflows import option_values
from orchestrator.workflows.host.host import Host
from orchestrator.workflows.inputs.stored_runs import report_hidden_runs
from orchestrator.workflows.option_values import TablesFormat
from orchestrator.workflows.outputs import check_file

_WRITERS: Mapping[TablesFormat, Callable[[list[OpenedRun], Path], tuple[Changes, Mapping[str, int]]]] = {
    TablesFormat.PARQUET: write_parquet,
    TablesFormat.SQLITE: write_sqlite,
}
_ENDINGS = {".sqlite", ".sqlite3", ".db"}


@dataclass(frozen=True, slots=True, kw_only=True)
class TablesOptions:
    """The options of `data export`."""

    results: Path = option_values.RESULTS
    """The results folder."""
    format: TablesFormat | None = None
    """Parquet by default, or SQLite if the output ends with `.sqlite`, `.sqlite3` or `.db`."""
    output: Path | None = None
    """A folder for Parquet, `tables` by default, or a file for SQLite, `tables.sqlite` by default."""


@dataclass(frozen=True, slots=True)
class TablesResult:
    """An export of all runs."""

    format: TablesFormat
    path: Path
    read: tuple[str, ...]
    """Runs that were new or had changed."""
    unchanged: tuple[str, ...]
    """Runs that were not read again."""
    removed: tuple[str, ...]
    """Runs that the export had and the results folder has no more."""
    rows: Mapping[str, int]
    """The rows of each table, of all runs."""


def export_tables(options: TablesOptions, host: Host) -> TablesResult:
    """Bring an export of all runs of a results folder up to date. What has not changed since is not read again.

    Raises `InputError` if there is no such folder, if something else is at the output, and for Parquet without
    pyarrow; `HostError` if the output cannot be written.

    Example: `export_tables(TablesOptions(output=Path("tables")), this_host()).rows["repeats"]`
    """
    results = options.results
    if not results.is_dir():
        raise InputError(f"{results}: no such folder; `orchestrator run` makes one, --results DIR looks elsewhere")
    format_ = options.format or _named_format(options.output)
    target = options.output or Path(option_values.TABLES[format_])
    _check_target(target, format_)
    report_hidden_runs(results, host)
    in_use = HostError(f"-o {target}: another export is writing it; wait for it")
    lock = locked(target.with_name(f".{target.name}.lock"), in_use, "choose another -o")
    try:
        found, rows = _WRITERS[format_](stored_runs(results), target)
    except OSError as error:
        raise host_error(f"-o {target}: cannot be written: {error.strerror}; {remedy(error)}", error) from error
    finally:
        lock.release()
    read = tuple(stored.label for stored in found.stale)
    return TablesResult(format_, target, read, found.unchanged, found.removed, rows)


def _named_format(output: Path | None) -> TablesFormat:
    is_file = output is not None and output.suffix.lower() in _ENDINGS
    return TablesFormat.SQLITE if is_file else TablesFormat.PARQUET


def _check_target(target: Path, format_: TablesFormat) -> None:
    """Raise `InputError` if nothing of this format can be made at the output."""
    if format_ is TablesFormat.SQLITE or not target.is_dir():
        check_file(target)
    if not target.name:
        raise InputError(f"-o {target}: has no name of its own; name a folder in it")
