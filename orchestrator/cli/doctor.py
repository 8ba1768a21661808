"""`doctor`: whether this host is fit to measure, and what to change."""

import contextlib
import os
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path

import typer
from rich.table import Table
from rich.text import Text

from orchestrator.cli import composition, places, speech
from orchestrator.cli.options import DEFAULT_RESULTS, BaseImage, Json, Results
from orchestrator.devices import vitals
from orchestrator.devices.fitness import HostFinding, Level, fitness, is_fit
from orchestrator.devices.vitals import Vitals
from orchestrator.domain import BuildSettings
from orchestrator.engine import images as engine
from orchestrator.engine.client import connect
from orchestrator.errors import HostError
from orchestrator.images import dockerfiles

ENGINE_TIMEOUT_S = 20.0
PYTHON = "3.11"
"""Whose base image is asked for: the catalog has releases for it."""
_STYLES = {Level.OK: "green", Level.UNKNOWN: "dim", Level.WARNING: "yellow", Level.UNFIT: "red"}


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("doctor")(doctor)


def doctor(results: Results = DEFAULT_RESULTS, base_image: BaseImage = None, json: Json = False) -> None:
    """Say whether this host is fit to measure, and what to change; exit 3 where it is not."""
    wanted = dockerfiles.base_image(PYTHON, composition.site_settings(BuildSettings(), base_image))
    filling = {"results": results, "environments": places.cache_folder()}
    seen = replace(vitals.examine(), gpus=vitals.gpus(), base_image=wanted)
    findings = fitness(_with_engine(seen, filling))
    if json:
        speech.print_json({"fit": is_fit(findings), "findings": [asdict(finding) for finding in findings]})
    else:
        _show(findings)
    if not is_fit(findings):
        raise typer.Exit(HostError.exit_code)


def _with_engine(seen: Vitals, filling: dict[str, Path]) -> Vitals:
    """Add what the engine says of itself, and the free space at all places that fill up."""
    try:
        client = connect(os.environ, timeout_s=ENGINE_TIMEOUT_S)
    except HostError as error:
        return replace(seen, engine_problem=str(error), disks=vitals.disks(filling))
    with contextlib.closing(client):
        folder = Path(str(client.info().get("DockerRootDir") or ""))
        # Of an engine on another machine, or behind another user's walls, the disk cannot be asked from here.
        images = {"images": folder} if folder.is_absolute() and folder.is_dir() else {}
        return replace(
            seen,
            engine_version=str(client.version().get("Version")),
            base_problem=engine.unavailable(client, seen.base_image) or "",
            disks=vitals.disks(filling | images),
        )


def _show(findings: Sequence[HostFinding]) -> None:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("check", "", "found", "what to change"):
        table.add_column(column, overflow="fold")
    for finding in findings:
        level = Text(finding.level.value, style=_STYLES[finding.level])
        table.add_row(Text(finding.check), level, Text(finding.found), Text(finding.remedy))
    console = speech.output(speech.REPORT_WIDTH)
    console.print(table)
    console.print(Text(_sentence(findings)))


def _sentence(findings: Sequence[HostFinding]) -> str:
    unfit = [finding.check for finding in findings if finding.level is Level.UNFIT]
    warned = [finding.check for finding in findings if finding.level is Level.WARNING]
    if unfit:
        return f"This host is not fit to measure now: {', '.join(unfit)}."
    return f"This host is fit to measure{', with warnings: ' + ', '.join(warned) if warned else ''}."
