"""TSV with the values of the CSV, for programs that part lines at tabs."""

from collections.abc import Iterator

from orchestrator.reporting.document import Records
from orchestrator.reporting.formats.csv import separated


def texts(records: Records) -> Iterator[str]:
    """Render records with a tab between values, quoted as in the CSV."""
    yield separated(records, "\t")
