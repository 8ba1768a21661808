"""The file of a series: written once, when the repeat has ended, and read within a bound."""

from pathlib import Path

from pydantic import ValidationError

from orchestrator.files import open_plain
from orchestrator.results.container_answers import MAX_RESULT_BYTES
from orchestrator.results.files.writing import write_over
from orchestrator.results.telemetry.contract import Telemetry

FILE = "telemetry.json"


def write_telemetry(folder: Path, telemetry: Telemetry) -> None:
    """Write a series into the folder of its repeat. Raises `HostError` where that cannot be done."""
    write_over(folder / FILE, telemetry.model_dump_json(by_alias=True) + "\n")


def read_telemetry(folder: Path) -> Telemetry | None:
    """Read the series of a repeat, or return None if there is none or its file has rotted.

    A repeat without one is as one whose driver told nothing.
    """
    try:
        with open_plain(folder / FILE) as file:
            return Telemetry.model_validate_json(file.read(MAX_RESULT_BYTES))
    except (OSError, ValidationError):
        return None
