"""The part of `doctor` that is about the nodes of a fleet."""

from typing import TYPE_CHECKING

import typer

from orchestrator.cli.output import speech
from orchestrator.cli.output.hosts import DETACHING, INTERRUPTED, this_host
from orchestrator.errors import HostError, InputError
from orchestrator.wording import counted

if TYPE_CHECKING:
    from orchestrator.workflows.cluster.run import ClusterResult
    from orchestrator.workflows.fleet.findings import CellOverFleet, FleetReport
    from orchestrator.workflows.fleet.options import FleetOptions

_STYLES = {"like": "green", "undecided": "yellow", "unlike": "red"}


def check(options: "FleetOptions", *, json: bool) -> None:
    """Measure the nodes of a fleet, show which are unlike the others, and exit 3 if any is."""
    from orchestrator.workflows.documents.host import fleet_document
    from orchestrator.workflows.fleet import check as workflow

    if json and options.detach:
        raise InputError("--json prints a report, and a detached check has none yet: leave one of the two out")
    result = workflow.check(options, this_host(DETACHING))
    if result.report is None:
        _say_detached(result.run)
        return
    if json:
        speech.print_document(fleet_document(result.report))
    else:
        _show(result.report)
    if result.report.unlike:
        raise typer.Exit(HostError.exit_code)


def _say_detached(run: "ClusterResult") -> None:
    left = f"; {counted(run.unsubmitted, 'array')} could not be submitted yet" if run.unsubmitted else ""
    speech.say(f"detached from {run.cluster.name}{left}; attach again with: {run.resume_command}")
    if run.stopped:
        raise typer.Exit(INTERRUPTED)
    speech.tell(speech.output(), run.cluster.name)
    if run.refusals:
        raise typer.Exit(HostError.exit_code)


def _show(report: "FleetReport") -> None:
    from rich.text import Text

    console = speech.output(speech.REPORT_WIDTH)
    for cell in report.cells:
        console.print(Text(_heading(cell), style="bold"))
        if cell.nodes:
            console.print(_table(cell))
        console.print()
    for note in report.notes:
        console.print(Text(note))
    console.print(Text(report.sentence))


def _heading(cell: "CellOverFleet") -> str:
    if cell.low is None or cell.high is None:
        return f"{cell.cell_id}: too few rounds or nodes are measured"
    span = f"{_off(cell.low)} to {_off(cell.high)}"
    return f"{cell.cell_id}: {counted(cell.rounds, 'round')}; like nodes are {span} off the middle of the fleet"


def _off(ratio: float) -> str:
    """Return a ratio as its distance from 1, such as `−4.9 %`."""
    return f"{100 * (ratio - 1):+,.1f} %".replace("-", "−")


def _table(cell: "CellOverFleet") -> object:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("node", "", "off the middle", "interval"):
        table.add_column(column, overflow="fold")
    for node in sorted(cell.nodes, key=lambda each: each.ratio):
        likeness = Text(node.likeness.value, style=_STYLES[node.likeness])
        interval = f"{_off(node.low)} to {_off(node.high)}"
        table.add_row(Text(node.node), likeness, Text(_off(node.ratio)), Text(interval))
    for name in cell.left_out:
        table.add_row(Text(name), Text("left out", style="dim"), Text("–"), Text("–"))
    return table
