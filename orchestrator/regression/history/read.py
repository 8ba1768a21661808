"""Every measured cell of the runs below a results folder."""

import json
from collections.abc import Collection
from dataclasses import asdict
from pathlib import Path

from orchestrator.errors import InputError
from orchestrator.regression.history.figures import cell_figures
from orchestrator.regression.history.series import MeasuredCell, release_text, release_versions, tracked_id
from orchestrator.regression.judge import comparable
from orchestrator.results.listing import index
from orchestrator.results.listing.derived import Derivation
from orchestrator.results.records import RunRecord
from orchestrator.results.store import Run

_VERSION = 1


def measured_cells(results: Path, cache: Path) -> tuple[MeasuredCell, ...]:
    """Read the measured cells of a results folder. What has not changed since it was read is not read again."""
    texts = index.derived(results, cache, Derivation("history", _VERSION, _texts))
    return tuple(_measured_cell(text) for text in texts)


def _measured_cell(text: str) -> MeasuredCell:
    document = json.loads(text)
    document["versions"] = tuple(document["versions"])
    document["figures"] = tuple(map(tuple, document["figures"]))
    return MeasuredCell(**document)


def _refresh(connection: sqlite3.Connection, results: Path) -> None:
    known = dict(connection.execute("SELECT name, stamp FROM run"))
    present = dict(_stamps(results))
    connection.executemany("DELETE FROM run WHERE name = ?", [(name,) for name in known.keys() - present.keys()])
    for name, stamp in present.items():
        run = Run(results / name)
        plan = _refresh_run(connection, run, stamp) if known.get(name) != stamp else None
        made = _changed_at(run.folder / "environments.json")
        cells = connection.execute("SELECT cell_id, parity, stamp FROM cell WHERE run = ?", (name,))
        stamps = {cell_id: (before, _cell_stamp(run, cell_id, parity, made)) for cell_id, parity, before in cells}
        stale = {cell_id: now for cell_id, (before, now) in stamps.items() if now != before}
        if stale:
            _refresh_cells(connection, run, plan or run.plan(), stale)


def _stamps(results: Path) -> Iterator[tuple[str, str]]:
    hidden = pending(results)
    for folder in results.iterdir() if results.is_dir() else ():
        if folder.name in hidden:
            continue
        try:
            stat = (folder / "run.json").stat()
        except OSError:
            continue
        yield folder.name, f"{stat.st_mtime_ns} {stat.st_size}"


def _refresh_run(connection: sqlite3.Connection, run: Run, stamp: str) -> Plan | None:
    """Read the cells of a run anew, and return its plan. A record that cannot be read has none."""
    try:
        record, plan = run.record(), run.plan()
    except InputError:
        record, plan = None, None
    cells = [cell for cell in plan.cells if cell.script is None] if plan else []
    builders = {image.name: image.environment.builder for image in plan.images} if plan else {}
    connection.execute("DELETE FROM run WHERE name = ?", (run.name,))
    created_at, host = (record.created_at, str(record.host.get("hostname") or "")) if record else ("", "")
    conditions = json.dumps(_run_conditions(record) if record else {})
    connection.execute("INSERT INTO run VALUES (?, ?, ?, ?, ?)", (run.name, stamp, created_at, host, conditions))
    connection.executemany(
        "INSERT OR REPLACE INTO cell VALUES (?, ?, ?, ?, ?, ?, ?, '', '{}', ?)",
        [(run.name, *_columns(cell), builders.get(cell.image, "")) for cell in cells],
    )
    return plan


def _run_conditions(record: RunRecord) -> dict[str, str]:
    told = {f"host {title}": record.host.get(fact) for fact, title in comparable.HOST}
    return {"runtime": record.runtime} | {title: str(value) for title, value in told.items() if value is not None}


def _columns(cell: Cell) -> tuple[object, ...]:
    pair = f"{cell.system.name}/{cell.id.partition('/')[2]}"
    return cell.id, tracked_id(cell), pair, release_text(cell), json.dumps(release_versions(cell)), check_id(cell)


def _changed_at(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0


def _cell_stamp(run: Run, cell_id: str, parity: str, made: int) -> str:
    """Return a stamp that changes with the repeats, the answer of the parity check, and the environment."""
    count = newest = 0
    try:
        entries = list(os.scandir(run.folder / cell_id))
    except OSError:
        return ""
    for entry in entries:
        try:
            stat = os.stat(f"{entry.path}/outcome.json")  # noqa: PTH116 -- a `Path` for each takes far longer
        except OSError:
            continue
        count, newest = count + 1, max(newest, stat.st_mtime_ns)
    checked = _changed_at(Checks(run).folder(parity) / "outcome.json")
    return f"{count} {newest} {checked} {made}" if count else ""


def _refresh_cells(connection: sqlite3.Connection, run: Run, plan: Plan, stale: Mapping[str, str]) -> None:
    """Read cells of a run anew, by id with their stamps."""
    try:
        sizes = {made.image: made.size_bytes for made in run.environments().environments}
    except InputError:
        sizes = {}
    for cell in plan.cells:
        if cell.id in stale:
            _refresh_cell(connection, run, cell, stale[cell.id], sizes.get(cell.image))


def _refresh_cell(connection: sqlite3.Connection, run: Run, cell: Cell, stamp: str, image_bytes: int | None) -> None:
    conditions, figures = cell_figures(run, cell, image_bytes)
    connection.execute(
        "UPDATE cell SET stamp = ?, conditions = ? WHERE run = ? AND cell_id = ?",
        (stamp, json.dumps(conditions), run.name, cell.id),
    )
    connection.execute("DELETE FROM figure WHERE run = ? AND cell_id = ?", (run.name, cell.id))
    connection.executemany("INSERT INTO figure VALUES (?, ?, ?, ?, ?)", [(run.name, cell.id, *row) for row in figures])
