"""The last line of the log of what is under way."""

import os

from orchestrator.files import open_plain
from orchestrator.reporting.live.progress import Progress
from orchestrator.wording import clean_line

_READ_BYTES = 4096


def newest_log(progress: Progress) -> str:
    """Return the log of what began last, or an empty text if nothing is under way."""
    began = [(item.started_s, item.log) for item in progress.building]
    began = [each for each in (*began, *((item.started_s, item.log) for item in progress.running)) if each[1]]
    return max(began)[1] if began else ""


def last_line(path: str) -> str:
    """Return the last line of a file that is not empty, cleaned of what steers a terminal, or nothing.

    Nothing is followed and nothing waited for: what is measured may put anything in the place of its log.
    """
    if not path:
        return ""
    try:
        with open_plain(path) as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - _READ_BYTES))
            text = file.read(_READ_BYTES).decode("utf-8", "replace")
    except OSError:
        return ""
    # What draws a bar writes its line again and again, each time behind a carriage return.
    lines = [clean_line(line) for line in text.replace("\r", "\n").split("\n")]
    return next((line for line in reversed(lines) if line), "")
