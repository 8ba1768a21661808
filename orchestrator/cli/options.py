"""Options that several commands share."""

from pathlib import Path
from typing import Annotated

import typer

from orchestrator.cli.completion import bundle_names, cell_ids, run_cells

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
    typer.Option("--models", metavar="DIR", help="Folder with models of your own, beside the matrix's models_folder."),
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
Jobs = Annotated[int, typer.Option("-j", "--jobs", min=1, help="Environments made at the same time.")]
Results = Annotated[Path, typer.Option("--results", metavar="DIR", help="The results folder.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for programs on stdout, and nothing else there.")]

EveryRun = Annotated[bool, typer.Option("--all", help="Every run of the results folder.")]
