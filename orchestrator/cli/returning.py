"""`collect` and `merge`: the way back of results from a host without a network."""

from pathlib import Path
from typing import Annotated, Any

import typer

from orchestrator import __version__
from orchestrator.bundles.returns import publication
from orchestrator.bundles.returns.collect import collect as collected
from orchestrator.bundles.returns.merge import merge as merged
from orchestrator.bundles.returns.results_manifest import RunEntry
from orchestrator.cli import composition, outputs, speech
from orchestrator.cli.completion import run_names
from orchestrator.cli.options import DEFAULT_RESULTS, EveryRun, Json, Results
from orchestrator.wording import clean_line, memory

_MOST_LEFT_OUT = 5


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("collect")(collect)
    app.command("merge")(merge)


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
    ] = Path("results.tar.zst"),
    every: EveryRun = False,
    results: Results = DEFAULT_RESULTS,
    json: Json = False,
) -> None:
    """Gather runs into one checksummed file, for `orchestrator merge` on another host."""
    outputs.check_file(output)
    composition.tell_of_hidden(results)
    found = collected(composition.find_runs(results, runs or (), every=every), output, __version__)
    for left in found.left_out[:_MOST_LEFT_OUT]:
        speech.say(f"left out: {left}")
    if len(found.left_out) > _MOST_LEFT_OUT:
        speech.say(f"left out: {len(found.left_out) - _MOST_LEFT_OUT} more, such as links and pipes; --json lists them")
    if json:
        document = {"file": str(found.path), "size_bytes": found.size_bytes, "left_out": list(found.left_out)}
        speech.print_json(document | {"runs": [_entry(run) for run in found.manifest.runs]})
        return
    for run in found.manifest.runs:
        speech.say(_line(run))
    speech.say(f"{found.path}: {memory(found.size_bytes)}; at home: orchestrator merge {found.path.name}")


def merge(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="What `orchestrator collect` has written.")],
    results: Results = DEFAULT_RESULTS,
    json: Json = False,
) -> None:
    """Put the runs of a file from another host beside those that are here; nothing that is here is replaced."""
    found = merged(file, results)
    kept = publication.unnamed(results)
    if json:
        speech.print_json(
            {
                "added": [_entry(run) for run in found.added],
                "present": [_entry(run) for run in found.present],
                "kept": list(map(str, kept)),
            }
        )
        return
    for run in found.added:
        speech.say(f"merged {_line(run)}")
    for run in found.present:
        speech.say(f"was here already: {_line(run)}")
    for staging, runs in kept.items():
        speech.say(
            f"kept: {staging} has {publication.counted(runs)} of an interrupted merge; "
            "merge its file again, then remove the folder"
        )
    names = " ".join(run.run for run in (*found.added, *found.present))
    speech.say(f"see them: orchestrator report {names}{_results(results)}")


def _results(results: Path) -> str:
    return "" if results == DEFAULT_RESULTS else f" --results {results}"


def _line(run: RunEntry) -> str:
    """`20261121T153000Z-1f3a of far (Example CPU, 64 CPUs): 96 files, 1.2 MB`."""
    host = clean_line(f"{run.host.get('hostname') or 'an unnamed host'}")
    facts = [str(run.host["cpu"])] if run.host.get("cpu") else []
    facts += [f"{run.host['cpus']} CPUs"] if run.host.get("cpus") else []
    said = f" ({clean_line(', '.join(facts))})" if facts else ""
    return f"{run.run} of {host}{said}: {run.files:,} files, {memory(run.size_bytes)}"


def _entry(run: RunEntry) -> dict[str, Any]:
    return run.model_dump(mode="json")
