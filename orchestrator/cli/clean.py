"""`clean`: what of ours takes disk, and its removal; results are never touched."""

import contextlib
import os
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from orchestrator.bundles.read import registry
from orchestrator.cli import places, speech
from orchestrator.cli.options import Json
from orchestrator.engine import images as engine
from orchestrator.engine.client import Client, connect
from orchestrator.errors import HostError
from orchestrator.images import labels
from orchestrator.images.surplus import Surplus
from orchestrator.images.surplus import surplus as surplus_images
from orchestrator.running import active_runs
from orchestrator.runtimes import cache_contents

_STALE = timedelta(hours=1)
"""Build steps that are younger may belong to a build of another user of the engine."""


@dataclass(frozen=True, slots=True)
class _Line:
    kind: str
    name: str
    created: str
    frees_bytes: int
    removed: bool | None = None
    """None where nothing was to be removed yet."""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("clean")(clean)


def clean(
    keep_last: Annotated[
        int, typer.Option("--keep-last", min=0, metavar="N", help="Newest contents to keep of each image.")
    ] = 1,
    yes: Annotated[bool, typer.Option("--yes", help="Remove it; without this, only say what would go.")] = False,
    json: Json = False,
) -> None:
    """Show what of ours takes disk and can be made again, and remove it with --yes; results stay."""
    cache = places.cache_folder()
    needed = active_runs.images_in_use(cache)
    # What runs now may have been built a moment ago: the newest of everything stays then.
    keep = max(keep_last, 1) if needed.workers else keep_last
    caches = cache_contents.surplus(cache, keep, needed.references)
    lines, problem = [], ""
    try:
        client = connect(os.environ)
    except HostError as error:
        problem = str(error)
    else:
        with contextlib.closing(client):
            in_use = needed.references | _carried() | _own()
            found = surplus_images(engine.labelled(client, labels.KIND), keep, in_use)
            lines = [_removed_image(client, image) if yes else _line(image) for image in found]
            if yes:
                engine.remove_steps(client, labels.STAGE, before=datetime.now(UTC) - _STALE)
    lines += [
        _Line(one.kind, one.name, one.created, one.size_bytes, cache_contents.remove(one) if yes else None)
        for one in caches
    ]
    if json:
        speech.print_json({"engine": problem or None, "removed": yes, "surplus": [_entry(line) for line in lines]})
    else:
        _show(lines, problem)


def _carried() -> frozenset[str]:
    """The images of bundles that were loaded here, which this host may not be able to make again."""
    bundles = registry.registered(places.bundles_folder()).values()
    return frozenset(image.image_id for bundle in bundles for image in bundle.record.images)


def _own() -> frozenset[str]:
    """The image that this very program runs from, where it does (`images/orchestrator/orchestrator.sh` says so)."""
    name = os.environ.get("ORCHESTRATOR_OWN_IMAGE")
    return frozenset({name} if name else ())


def _line(image: Surplus, removed: bool | None = None) -> _Line:
    return _Line(image.kind, ", ".join(image.names), image.created[:19] + "Z", image.frees_bytes, removed)


def _removed_image(client: Client, image: Surplus) -> _Line:
    """Take all its names away; one that a container still uses keeps what is left of them."""
    left = [name for name in image.names if not engine.remove(client, name)]
    return _line(image, not left)


def _entry(line: _Line) -> dict[str, object]:
    return {
        "kind": line.kind, "name": line.name, "created": line.created, "frees_bytes": line.frees_bytes,
        "removed": line.removed,
    }  # fmt: skip


def _show(lines: list[_Line], problem: str) -> None:
    console = speech.output(speech.REPORT_WIDTH)
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("what", "name", "made", "frees", ""):
        table.add_column(column, overflow="fold", justify="right" if column == "frees" else "left")
    for line in lines:
        done = {None: "", True: "removed", False: "in use, left"}[line.removed]
        table.add_row(*map(Text, (line.kind, line.name, line.created, f"{line.frees_bytes / 1e6:,.0f} MB", done)))
    if lines:
        console.print(table)
    if problem:
        speech.say(f"images were not looked at: {problem}")
    freed = sum(line.frees_bytes for line in lines if line.removed is not False) / 1e9
    dry = any(line.removed is None for line in lines)
    verb, hint = ("would free", "; --yes does it") if dry else ("freed", "")
    console.print(Text(f"{verb} about {freed:.1f} GB{hint}" if lines else "nothing of ours that could go"))
