"""CSV with raw values in SI units, for spreadsheets and data frames."""

import csv
import io
from collections.abc import Iterator

from orchestrator.reporting.document import Records
from orchestrator.wording import clean_line

Value = str | int | float | None


def texts(records: Records) -> Iterator[str]:
    """Render records, with an apostrophe before a text that a spreadsheet would run as a formula."""
    yield separated(records, ",")


def separated(records: Records, delimiter: str) -> str:
    """Render records with a delimiter between values."""
    stream = io.StringIO()
    writer = csv.DictWriter(stream, records.columns, restval="", lineterminator="\n", delimiter=delimiter)
    writer.writeheader()
    for row in records.rows:
        writer.writerow({name: harmless(value) for name, value in row.items()})
    return stream.getvalue()


def harmless(value: Value) -> Value:
    """Return a value that no spreadsheet runs."""
    if not isinstance(value, str):
        return value
    line = clean_line(value)
    return f"'{line}" if value[:1] in {"\t", "\r"} or line.startswith(("=", "+", "-", "@")) else line
