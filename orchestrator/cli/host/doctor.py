"""The command `doctor`."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from orchestrator.cli.options import BaseImage, IdleWait, Json, MatrixFile, Results, RuntimeOption, Select, examples
from orchestrator.cli.output import speech
from orchestrator.cli.output.hosts import this_host
from orchestrator.errors import HostError, InputError
from orchestrator.workflows import option_values

if TYPE_CHECKING:
    from orchestrator.devices.fitness import HostFinding
    from orchestrator.workflows.fitness.interference import InterferenceOptions

Interference = Annotated[
    bool, typer.Option("--interference", help="Measure if cells on different GPUs disturb each other.")
]
Fleet = Annotated[
    bool, typer.Option("--fleet", help="Measure the same cells on every node of a cluster: which is unlike the others?")
]
Rounds = Annotated[
    int, typer.Option("--rounds", min=3, help="Of --interference, alone and beside others; of --fleet, on every node.")
]
Site = Annotated[
    str | None,
    typer.Option("--site", metavar="FILE", help="With --fleet: the site file; by default that of `run`."),
]
Nodes = Annotated[
    list[str],
    typer.Option("--node", metavar="NODE", help="With --fleet: a node, or a list such as 'node[1-8]'; default: all."),
]
Detach = Annotated[bool, typer.Option("--detach", help="With --fleet: submit, and return at once.")]
ResumeCheck = Annotated[
    str | None, typer.Option("--resume", metavar="RUN", help="With --fleet: attach to a check again, or report it.")
]
_STYLES = {"ok": "green", "unknown": "dim", "warning": "yellow", "unfit": "red"}


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(
        "doctor",
        epilog=examples(
            "orchestrator doctor --interference --select 'torch-*-1_gpu/resnet20-train-*'",
            "orchestrator doctor --fleet --site cluster.yaml --select 'torch-*-cpu/lenet-infer-*'",
        ),
    )(doctor)


def doctor(
    results: Results = option_values.RESULTS,
    base_image: BaseImage = None,
    interference: Interference = False,
    fleet: Fleet = False,
    file: MatrixFile = None,
    select: Select = [],
    rounds: Rounds = option_values.INTERFERENCE_ROUNDS,
    runtime: RuntimeOption = option_values.RuntimeName.AUTO,
    idle_wait: IdleWait = option_values.IDLE_WAIT_S,
    site: Site = None,
    node: Nodes = [],
    detach: Detach = False,
    resume: ResumeCheck = None,
    json: Json = False,
) -> None:
    """Say whether this host is fit to measure, and what to change; exit 3 where it is not."""
    if fleet and interference:
        raise InputError("--fleet and --interference are two measurements: give one of them")
    if fleet:
        from orchestrator.cli.host import fleet as of_nodes
        from orchestrator.workflows.fleet.options import FleetOptions

        check = FleetOptions(
            file=file, select=select, rounds=rounds, runtime=runtime, base_image=base_image, idle_wait_s=idle_wait,
            results=results, site=site, nodes=node, detach=detach, resume=resume,
        )  # fmt: skip
        of_nodes.check(check, json=json)
        return
    if site or node or detach or resume:
        raise InputError("--site, --node, --detach and --resume go with --fleet: give that too, or leave them out")
    if interference:
        from orchestrator.workflows.fitness.interference import InterferenceOptions

        options = InterferenceOptions(
            file=file, select=select, rounds=rounds, runtime=runtime, base_image=base_image, idle_wait_s=idle_wait
        )
        _prove(options)
        return
    if file or select:
        raise InputError(
            "--file and --select choose cells of --interference and --fleet: give one of these, or leave them out"
        )
    from orchestrator.workflows.documents.host import fitness_document
    from orchestrator.workflows.fitness import doctor as workflow
    from orchestrator.workflows.fitness.doctor import DoctorOptions

    result = workflow.doctor(DoctorOptions(results=results, base_image=base_image), this_host())
    if json:
        speech.print_document(fitness_document(result))
    else:
        _show(result.findings)
    if not result.is_fit:
        raise typer.Exit(HostError.exit_code)


def _prove(options: "InterferenceOptions") -> None:
    """Measure a cell alone and beside others, and say what follows from it."""
    from orchestrator.workflows.fitness.interference import prove

    proof = prove(options, this_host())
    end = "cells on different GPUs run at once" if proof.holds else "cells run one after the other"
    speech.tell(speech.output(), f"{proof}: {end}")


def _show(findings: "Sequence[HostFinding]") -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("check", "", "found", "what to change"):
        table.add_column(column, overflow="fold")
    for finding in findings:
        level = Text(finding.level.value, style=_STYLES[finding.level])
        table.add_row(Text(finding.check), level, Text(finding.found), Text(finding.remedy))
    console = speech.output(speech.REPORT_WIDTH)
    console.print(table)
    console.print(Text(_sentence(findings)))


def _sentence(findings: "Sequence[HostFinding]") -> str:
    from orchestrator.devices.fitness import Level

    unfit = [finding.check for finding in findings if finding.level is Level.UNFIT]
    warned = [finding.check for finding in findings if finding.level is Level.WARNING]
    if unfit:
        return f"This host is not fit to measure now: {', '.join(unfit)}."
    return f"This host is fit to measure{', with warnings: ' + ', '.join(warned) if warned else ''}."
