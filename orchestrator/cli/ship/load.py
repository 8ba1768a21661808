"""The commands `verify` and `load`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from orchestrator.cli.options import Json, examples
from orchestrator.cli.output import speech
from orchestrator.cli.output.hosts import this_host

if TYPE_CHECKING:
    from orchestrator.workflows.ship.load import VerifyResult

Bundle = Annotated[Path, typer.Argument(metavar="BUNDLE", help="The folder or the tar that `export` wrote.")]


AllowedSigners = Annotated[
    Path | None,
    typer.Option(
        "--allowed-signers",
        metavar="FILE",
        envvar="ORCHESTRATOR_ALLOWED_SIGNERS",
        help="Accept the bundle only from those named here, as in ssh-keygen(1); without it, from anybody.",
    ),
]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("verify", epilog=examples("orchestrator verify bundle.tar --allowed-signers signers"))(verify)
    app.command("load", epilog=examples("orchestrator load bundle.tar"))(load)


def verify(bundle: Bundle, allowed_signers: AllowedSigners = None, json: Json = False) -> None:
    """Prove every byte of a bundle against its manifest; no engine is needed."""
    from orchestrator.workflows.documents.ship import verify_document
    from orchestrator.workflows.ship import load as workflow
    from orchestrator.workflows.ship.load import BundleOptions

    options = BundleOptions(bundle=bundle, allowed_signers=allowed_signers)
    result = workflow.verify(options, this_host())
    if json:
        speech.print_document(verify_document(result))
    else:
        speech.say(f"{bundle}: whole: {_counted(result)}")


def load(bundle: Bundle, allowed_signers: AllowedSigners = None, json: Json = False) -> None:
    """Verify a bundle, and put its images on the engine: only those, and only the layers, that are missing."""
    from orchestrator.workflows.documents.ship import load_document
    from orchestrator.workflows.inputs.bundle_plans import script_lines
    from orchestrator.workflows.ship import load as workflow
    from orchestrator.workflows.ship.load import BundleOptions

    options = BundleOptions(bundle=bundle, allowed_signers=allowed_signers)
    result = workflow.load(options, this_host())
    if json:
        speech.print_document(load_document(result))
        return
    there = len(result.manifest.images) - len(result.loaded)
    speech.say(f"{bundle}: {len(result.loaded)} images loaded, {there} were there already")
    for line in script_lines(result.plan):
        speech.say(line)
    speech.say(f"run its plan with: orchestrator run --plan {result.bundle.name}")


def _counted(result: "VerifyResult") -> str:
    images, files = len(result.manifest.images), len(result.manifest.files)
    return f"{images} images, {files} files, {result.size_bytes / 1e6:,.0f} MB"
