"""Plans that came in a bundle: which one is meant, what of it is asked for, and whether all that it needs is here."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from orchestrator.bundles.read import registry
from orchestrator.bundles.read.loaded_bundle import LoadedBundle
from orchestrator.cli import composition, places
from orchestrator.cli.completion import bundle_names
from orchestrator.domain import Plan
from orchestrator.engine.client import Client
from orchestrator.errors import InputError
from orchestrator.planning import Selection, narrowed
from orchestrator.results.records import BundleOrigin
from orchestrator.results.scripts import frozen as frozen_scripts
from orchestrator.runtimes import BundledImage, missing_images_text, not_on_engine
from orchestrator.wording import clean_line

_MOST_FILES = 5

PlanName = Annotated[
    str | None,
    typer.Option(
        "--plan",
        metavar="BUNDLE",
        autocompletion=bundle_names,
        help="In place of a matrix: the plan of a bundle that was loaded here, by its name or folder.",
    ),
]


def chosen(command: str, file: Path | None, plan: str | None) -> LoadedBundle | None:
    """Return the bundle whose plan is asked for, or None where a matrix is meant.

    Raises as `registry.find` does. Raises `InputError` if both are asked for, or if neither is and no matrix is here
    but a bundle is loaded: then the user has to say which plan `command` takes.
    """
    if plan is not None:
        if file is not None:
            raise InputError("--plan takes the plan of a bundle, --file that of a matrix: leave one out")
        return registry.find(places.bundles_folder(), plan)
    if file is not None or composition.MATRIX_HERE.exists():
        return None
    names = list(registry.registered(places.bundles_folder()))
    if not names:
        return None
    named = names[0] if len(names) == 1 else f"NAME, where NAME is {', '.join(names[:-1])} or {names[-1]}"
    raise InputError(
        f"no {composition.MATRIX_HERE} here, and none is named: --file FILE takes a matrix; "
        f"for the plan of {'the' if len(names) == 1 else 'a'} loaded bundle: orchestrator {command} --plan {named}"
    )


def refuse_matrix_options(base_image: str | None, models: Path | None, *, strict: bool = False) -> None:
    """Raise `InputError` where something is asked for that is settled in a bundle."""
    given = [name for name, value in (("--base-image", base_image), ("--models", models)) if value is not None]
    given += ["--strict"] if strict else []
    if given:
        raise InputError(f"{' and '.join(given)}: images and models came with the bundle; leave it out")


def plan_of(bundle: LoadedBundle, select: list[str], exclude: list[str], *, no_parity: bool = False) -> Plan:
    """What is asked for of a bundle's plan; raises `InputError` as a matrix's does."""
    plan = narrowed(bundle.plan(), Selection(select=tuple(select), exclude=tuple(exclude)))
    return replace(plan, parity=plan.parity and not no_parity)


def origin(bundle: LoadedBundle) -> BundleOrigin:
    """What a run's record says of its bundle."""
    return BundleOrigin(name=bundle.name, manifest_sha256=bundle.record.manifest_sha256)


def again(found: BundleOrigin) -> LoadedBundle:
    """The bundle that a run which is taken up again came from; raises `InputError` where it is not loaded any more."""
    for bundle in registry.registered(places.bundles_folder()).values():
        if bundle.record.manifest_sha256 == found.manifest_sha256:
            return bundle
    raise InputError(
        f"the plan of this run came with the bundle {found.name} (manifest sha256:{found.manifest_sha256[:12]}…), "
        "which is not loaded here; bring it with: orchestrator load BUNDLE"
    )


def remedy(bundle: LoadedBundle) -> str:
    """What to do about an image that is not there."""
    return f"it came with the bundle {bundle.name}: bring it with orchestrator load BUNDLE"


def images_of(bundle: LoadedBundle, plan: Plan) -> tuple[BundledImage, ...]:
    """The images of a plan, as its bundle has them; raises `InputError` where it has not got one."""
    known = {image.name: image for image in bundle.record.images}
    missing = [image.name for image in plan.images if image.name not in known]
    if missing:
        raise InputError(*(f"image {name} of the plan is not in the bundle {bundle.name}" for name in missing))
    return tuple(known[image.name] for image in plan.images)


def missing_images(client: Client, bundle: LoadedBundle, plan: Plan) -> str:
    """A line for every image of a plan that the engine has not got; empty where all are there."""
    return missing_images_text(not_on_engine(client, images_of(bundle, plan)), remedy(bundle))


def script_lines(plan: Plan) -> list[str]:
    """A line for every script of a plan, with the files that belong to it."""
    lines = []
    for script in frozen_scripts.scripts_of(plan):
        others = [file.path for file in script.files if file.path != script.entry]
        more = [f"and {len(others) - _MOST_FILES} more"] if len(others) > _MOST_FILES else []
        named = ", ".join((script.file, *others[:_MOST_FILES], *more))
        size = f"{script.size_bytes:,} bytes" if script.files else "from a place on another host, never run"
        lines.append(clean_line(f"script {script.name}: {named} ({size})"))
    return lines
