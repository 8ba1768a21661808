"""The commands `collect` and `merge`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from orchestrator.cli.options import EveryRun, Json, Results, examples, run_names
from orchestrator.cli.output import speech
from orchestrator.cli.output.hosts import this_host
from orchestrator.wording import clean_line, counted, memory
from orchestrator.workflows import option_values

if TYPE_CHECKING:
    from orchestrator.bundles.returns.results_manifest import RunEntry

_MOST_LEFT_OUT = 5


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command(
        "collect", epilog=examples("orchestrator collect latest --output far.tar", "orchestrator collect --all")
    )(collect)
    app.command("merge", epilog=examples("orchestrator merge far.tar --results /srv/results"))(merge)


def collect(
    runs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[RUN]...",
            autocompletion=run_names,
            help="Names of runs, or their beginnings; the latest by default.",
        ),
    ] = None,
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="FILE", help="A new file; one that is there is never replaced.")
    ] = option_values.RESULTS_FILE,
    every: EveryRun = False,
    results: Results = option_values.RESULTS,
    json: Json = False,
) -> None:
    """Gather runs into one checksummed file, for `orchestrator merge` on another host."""
    from orchestrator.workflows.documents.ship import collect_document
    from orchestrator.workflows.ship import returns as workflow
    from orchestrator.workflows.ship.returns import CollectOptions

    options = CollectOptions(runs=runs or (), output=output, every=every, results=results)
    collected = workflow.collect(options, this_host())
    for left in collected.left_out[:_MOST_LEFT_OUT]:
        speech.say(f"left out: {left}")
    if len(collected.left_out) > _MOST_LEFT_OUT:
        speech.say(
            f"left out: {len(collected.left_out) - _MOST_LEFT_OUT} more, such as links and pipes; --json lists them"
        )
    if json:
        speech.print_document(collect_document(collected))
        return
    for run in collected.manifest.runs:
        speech.say(_line(run))
    speech.say(f"{collected.path}: {memory(collected.size_bytes)}; at home: orchestrator merge {collected.path.name}")


def merge(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="What `orchestrator collect` has written.")],
    results: Results = option_values.RESULTS,
    json: Json = False,
) -> None:
    """Add the runs of a file from another host to those that are here; nothing that is here is replaced."""
    from orchestrator.workflows.documents.ship import merge_document
    from orchestrator.workflows.ship import returns as workflow
    from orchestrator.workflows.ship.returns import MergeOptions

    result = workflow.merge(MergeOptions(file=file, results=results), this_host())
    merged, interrupted = result.runs, result.interrupted
    if json:
        speech.print_document(merge_document(result))
        return
    for run in merged.added:
        speech.say(f"merged {_line(run)}")
    for run in merged.present:
        speech.say(f"was here already: {_line(run)}")
    for staging, runs in interrupted.items():
        speech.say(
            f"kept: {staging} has {counted(runs, 'run')} of an interrupted merge; "
            "merge its file again, then remove the folder"
        )
    names = result.cluster or " ".join(run.run for run in (*merged.added, *merged.present))
    speech.say(f"see them: orchestrator report {names}{_results(results)}")


def _results(results: Path) -> str:
    return "" if results == option_values.RESULTS else f" --results {results}"


def _line(run: "RunEntry") -> str:
    """Return one line about a run of a file.

    An example is `20261121T153000Z-1f3a of far (Example CPU, 64 CPUs): 96 files, 1.2 MB`.
    """
    host = clean_line(f"{run.host.get('hostname') or 'an unnamed host'}")
    facts = [str(run.host["cpu"])] if run.host.get("cpu") else []
    facts += [f"{run.host['cpus']} CPUs"] if run.host.get("cpus") else []
    said = f" ({clean_line(', '.join(facts))})" if facts else ""
    return f"{run.run} of {host}{said}: {run.files:,} files, {memory(run.size_bytes)}"
