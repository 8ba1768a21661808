"""Options that several commands share, the names that a shell offers for their values, and the ends of help texts.

After any mistake a shell is offered no names.
"""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from orchestrator.bundles.read.names import loaded_names
from orchestrator.errors import OrchestratorError
from orchestrator.limits import MAX_REPEATS
from orchestrator.results import names
from orchestrator.results.names import CLUSTER
from orchestrator.workflows import option_values
from orchestrator.workflows.host import places
from orchestrator.workflows.option_values import RuntimeName


def examples(*lines: str) -> str:
    """Return the end of a help text with command lines, each on a line of its own."""
    return "\n".join(("\b", "Examples:", *(f"  {line}" for line in lines)))  # \b keeps the lines as they are


def run_names(context: typer.Context, incomplete: str) -> list[str]:
    """Runs of the results folder, newest first."""
    results = _results(context)
    runs = sorted((*names.run_names(results), *names.cluster_names(results)), reverse=True)
    return _beginning(incomplete, [*runs, *(["latest"] if runs else [])])


def run_cells(context: typer.Context, incomplete: str) -> list[str]:
    """Cells of the run that was named before, or of the latest."""
    results = _results(context)
    clusters = names.cluster_names(results)
    runs = names.matching(sorted((*names.run_names(results), *clusters)), _run_named(context.params))
    if len(runs) != 1:
        return []
    return _beginning(incomplete, names.cell_ids(results / runs[0] / (CLUSTER if runs[0] in clusters else "run.json")))


def _results(context: typer.Context) -> Path:
    """Return the results folder that a shell completes names of. After any mistake it is the default one."""
    results = Path(context.params.get("results") or option_values.RESULTS)
    try:
        return results if results != option_values.RESULTS else _results_of_site(context)
    except OrchestratorError:
        return results


def _named_results(context: typer.Context, results: Path) -> Path:
    """Return the folder of `--results`, or else that of the site file which a run is made with."""
    if results != option_values.RESULTS or context.resilient_parsing:
        return results
    return _results_of_site(context)


def _results_of_site(context: typer.Context) -> Path:
    """Return the results folder of the site file that a command has, or the default one without any."""
    takes_site = any(each.name == "site" for each in context.command.params)
    matrix = Path((takes_site and context.params.get("file")) or "matrix.yaml")
    named = context.params.get("site")
    path = Path(named) if named else places.site_file(matrix.parent, os.environ)
    is_of_no_site = named == option_values.NO_SITE or context.params.get("plan") or context.params.get("part")
    if is_of_no_site or path is None or not path.is_file():
        return option_values.RESULTS
    from orchestrator.clusters.site.loading import load

    return Path(load(path).results or option_values.RESULTS)


def _run_named(params: Mapping[str, Any]) -> str:
    """Return the first run that a command line names, in any of the arguments that take runs."""
    runs = params.get("runs") or [str(params.get("run") or params.get("one") or "")]
    return str(runs[0]).partition(":")[0].partition(",")[0]


def bundle_names(context: typer.Context, incomplete: str) -> list[str]:
    """Bundles that were loaded here."""
    del context
    return _beginning(incomplete, loaded_names(places.bundles_folder(os.environ)))


def cell_ids(context: typer.Context, incomplete: str) -> list[str]:
    """Cells of the matrix, which is planned for it."""
    from orchestrator.workflows.host.host import Host
    from orchestrator.workflows.inputs.planned_matrix import MatrixOptions, plan_matrix

    file = Path(context.params.get("file") or "matrix.yaml")
    if not file.is_file():
        return []
    try:
        cells = plan_matrix(MatrixOptions(file=file, limit=_MOST_CELLS), Host(os.environ)).plan.cells
    except OrchestratorError:
        return []
    return _beginning(incomplete, (cell.id for cell in cells))


_MOST_CELLS = 2000
"""A larger matrix takes longer to plan than a person who pressed a key waits."""


def _beginning(incomplete: str, candidates: Iterable[str]) -> list[str]:
    return [each for each in candidates if each.startswith(incomplete)]


MatrixFile = Annotated[
    Path | None,
    typer.Option("-f", "--file", help="The matrix; matrix.yaml here, or else the one that ships with the program."),
]
PlanName = Annotated[
    str | None,
    typer.Option(
        "--plan",
        metavar="BUNDLE",
        autocompletion=bundle_names,
        help="In place of a matrix: the plan of a bundle that was loaded here, by its name or folder.",
    ),
]
Select = Annotated[
    list[str],
    typer.Option(
        "--select",
        metavar="GLOB",
        autocompletion=cell_ids,
        help="Only cells whose id matches, such as 'mxnet-*'; may be repeated.",
    ),
]
Exclude = Annotated[
    list[str],
    typer.Option("--exclude", metavar="GLOB", autocompletion=cell_ids, help="No cells whose id matches."),
]
ShownCells = Annotated[
    list[str],
    typer.Option(
        "--select",
        metavar="GLOB",
        autocompletion=run_cells,
        help="Show only cells whose id matches, such as 'mxnet-*'; may be repeated. What is judged, and how, stays.",
    ),
]
HiddenCells = Annotated[
    list[str],
    typer.Option("--exclude", metavar="GLOB", autocompletion=run_cells, help="Show no cells whose id matches."),
]
Limit = Annotated[int, typer.Option("--limit", min=1, help="Refuse a matrix that expands to more cells than this.")]
BaseImage = Annotated[
    str | None,
    typer.Option(
        "--base-image",
        metavar="TEMPLATE",
        help="Image to build on, such as 'python:{python}-slim-bookworm'; wins over the matrix, "
        "which wins over ORCHESTRATOR_BASE_IMAGE.",
    ),
]
ModelsFolder = Annotated[
    Path | None,
    typer.Option("--models", metavar="DIR", help="Folder with models of your own, besides the matrix's models_folder."),
]
DataFolder = Annotated[
    Path | None,
    typer.Option(
        "--data",
        metavar="DIR",
        help="Folder that holds mnist/, cifar10/ and others; wins over the matrix's data_folder, "
        "which wins over ORCHESTRATOR_DATA.",
    ),
]
NoParity = Annotated[
    bool, typer.Option("--no-parity", help="Do not check that cells do the same work, whatever the matrix says.")
]
Strict = Annotated[
    bool,
    typer.Option("--strict", help="Refuse a matrix that names a release which the catalog has no environment for."),
]
Quick = Annotated[
    bool,
    typer.Option(
        "--quick", help="A smoke run: 5 short blocks and at most 3 repeats of every cell, which prove nothing."
    ),
]
Images = Annotated[
    Path | None,
    typer.Option(
        "--images",
        metavar="FILE",
        help="Pull the images that `push -o FILE` listed, by digest, where the engine lacks them; nothing is built.",
    ),
]
Jobs = Annotated[int, typer.Option("-j", "--jobs", min=1, help="Environments made at the same time.")]
Results = Annotated[
    Path,
    typer.Option("--results", metavar="DIR", callback=_named_results, help="The results folder."),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for programs on stdout, and nothing else there.")]

EveryRun = Annotated[bool, typer.Option("--all", help="Every run of the results folder.")]

RuntimeOption = Annotated[RuntimeName, typer.Option("--runtime", help="Where cells run.")]
Repeats = Annotated[int | None, typer.Option("--repeats", min=1, max=MAX_REPEATS, help="In place of the matrix's own.")]
Replicate = Annotated[
    int | None, typer.Option("--replicate", min=1, metavar="N", help="Measure every part on N nodes of the site.")
]
Resume = Annotated[
    str | None,
    typer.Option(
        "--resume", metavar="RUN", autocompletion=run_names, help="Take up a run again ('latest' for the last one)."
    ),
]
Exclusive = Annotated[
    bool, typer.Option("--exclusive", help="One cell at a time, also where GPUs are known not to disturb each other.")
]
Retries = Annotated[int, typer.Option("--retries", min=0, help="Further attempts after a crash.")]
RetryFailed = Annotated[bool, typer.Option("--retry-failed", help="With --resume: try again what has failed.")]
ExtraRepeats = Annotated[
    int, typer.Option("--extra-repeats", min=0, help="How often a repeat that was disturbed is measured again.")
]
IdleWait = Annotated[
    float,
    typer.Option(
        "--idle-wait",
        min=0,
        metavar="S",
        envvar="ORCHESTRATOR_IDLE_WAIT",
        help="Wait so long at most for an idle host before a cell.",
    ),
]
