"""Texts that are made of all files of a cell, and stored until one of these files changes."""

import sqlite3
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from orchestrator.results.listing.stamps import stamp, stamped_checks
from orchestrator.results.store import Run


@dataclass(frozen=True, slots=True)
class Derivation:
    """A kind of such texts."""

    name: str
    version: int
    """Raised when the text is made in another way."""
    texts: Callable[[Run, Collection[str]], Mapping[str, str]]
    """Makes the texts of these cells of a run. A cell may have none."""

    def refresh(self, connection: sqlite3.Connection, run: Run) -> None:
        """Make the texts of the cells whose files have changed."""
        checks = sorted(stamped for _, stamped in stamped_checks(run.folder))
        records = [stamp(run.folder / name) for name in ("run.json", "environments.json")]
        shared = f"{self.version} {records} {len(checks)} {checks[-1:]}"
        rows = connection.execute(
            "SELECT cell_id, count(*), sum(mtime_ns / 1000), sum(size) FROM outcome WHERE run = ? GROUP BY cell_id",
            (run.name,),
        )
        stamps = {cell_id: f"{shared} {repeats}" for cell_id, *repeats in rows}
        rows = connection.execute(
            "SELECT cell_id, stamp FROM derived WHERE run = ? AND kind = ?", (run.name, self.name)
        )
        stored = dict(rows)
        stale = [cell_id for cell_id, stamp in stamps.items() if stored.get(cell_id) != stamp]
        texts = self.texts(run, stale) if stale else {}
        connection.executemany(
            "INSERT OR REPLACE INTO derived VALUES (?, ?, ?, ?, ?)",
            [(run.name, self.name, cell_id, stamps[cell_id], texts.get(cell_id, "")) for cell_id in stale],
        )
        connection.executemany(
            "DELETE FROM derived WHERE run = ? AND kind = ? AND cell_id = ?",
            [(run.name, self.name, cell_id) for cell_id in stored.keys() - stamps.keys()],
        )
