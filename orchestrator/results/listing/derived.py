"""Texts that are made of all files of a cell, and stored until one of these files changes."""

import hashlib
import sqlite3
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

from orchestrator.results.listing.stamps import stamp, stamped_checks
from orchestrator.results.store import Run


@dataclass(frozen=True, slots=True)
class Derivation:
    """A kind of such texts."""

    name: str
    version: str
    """Changed when the text is made in another way."""
    texts: Callable[[Run, Collection[str]], Mapping[str, str]]
    """Makes the texts of these cells of a run. A cell may have none."""

    def refresh(self, connection: sqlite3.Connection, run: Run) -> None:
        """Make the texts of the cells whose files have changed."""
        stamps = self._stamps(connection, run)
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

    def _stamps(self, connection: sqlite3.Connection, run: Run) -> dict[str, str]:
        """Return a digest for each cell, of the stamps of all files that its text is made of."""
        records = [stamp(run.folder / name) for name in ("run.json", "environments.json")]
        shared = hashlib.sha256(f"{self.version} {records} {sorted(stamped_checks(run.folder))}".encode())
        digests: defaultdict[str, Any] = defaultdict(shared.copy)
        rows = connection.execute(
            "SELECT cell_id, path, mtime_ns, size FROM outcome WHERE run = ? ORDER BY path", (run.name,)
        )
        for cell_id, path, *outcome in rows:
            result = stamp(f"{run.folder}/{path}/result.json")
            digests[cell_id].update(f"{path!a} {outcome} {result}\n".encode())
        return {cell_id: digest.hexdigest() for cell_id, digest in digests.items()}
