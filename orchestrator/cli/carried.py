"""Plans that came in a bundle: which one is meant, what of it is asked for, and whether all that it needs is here."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from orchestrator.bundles import loaded
from orchestrator.bundles.loaded import Loaded
from orchestrator.cli import composition, places, speech
from orchestrator.cli.completion import bundle_names
from orchestrator.domain import Plan
from orchestrator.engine.client import Client
from orchestrator.errors import InputError
from orchestrator.planning import Selection, narrowed
from orchestrator.results.contract import BundleOrigin
from orchestrator.runtimes import GivenImage, absent, not_there

PlanName = Annotated[
    str | None,
    typer.Option(
        "--plan",
        metavar="BUNDLE",
        autocompletion=bundle_names,
        help="In place of a matrix: the plan of a bundle that was loaded here, by its name or folder.",
    ),
]


def chosen(file: Path | None, plan: str | None) -> Loaded | None:
    """The bundle whose plan is meant: the one asked for, or the one loaded last where there is no matrix here.

    None where a matrix is meant. Raises as `loaded.find` does, and `InputError` where both are asked for.
    """
    if plan is not None:
        if file is not None:
            raise InputError("--plan takes the plan of a bundle, --file that of a matrix: leave one out")
        return loaded.find(places.bundles_folder(), plan)
    if file is not None or composition.MATRIX_HERE.exists():
        return None
    every = list(loaded.registered(places.bundles_folder()).values())
    if not every:
        return None
    others = f"; --plan takes another: {', '.join(one.name for one in every[:-1])}" if every[1:] else ""
    speech.say(
        f"no {composition.MATRIX_HERE} here: this is the plan of the bundle {every[-1].name}, "
        f"loaded {every[-1].record.loaded_at}{others}"
    )
    return every[-1]


def refuse_matrix_options(base_image: str | None, models: Path | None) -> None:
    """Raise `InputError` where something is asked for that is settled in a bundle."""
    given = [name for name, value in (("--base-image", base_image), ("--models", models)) if value is not None]
    if given:
        raise InputError(f"{' and '.join(given)}: images and models came with the bundle; leave it out")


def plan_of(bundle: Loaded, select: list[str], exclude: list[str], *, no_parity: bool = False) -> Plan:
    """What is asked for of a bundle's plan; raises `InputError` as a matrix's does."""
    plan = narrowed(bundle.plan(), Selection(select=tuple(select), exclude=tuple(exclude)))
    return replace(plan, parity=plan.parity and not no_parity)


def origin(bundle: Loaded) -> BundleOrigin:
    """What a run's record says of its bundle."""
    return BundleOrigin(name=bundle.name, manifest_sha256=bundle.record.manifest_sha256)


def again(found: BundleOrigin) -> Loaded:
    """The bundle that a run which is taken up again came from; raises `InputError` where it is not loaded any more."""
    for bundle in loaded.registered(places.bundles_folder()).values():
        if bundle.record.manifest_sha256 == found.manifest_sha256:
            return bundle
    raise InputError(
        f"the plan of this run came with the bundle {found.name} (manifest sha256:{found.manifest_sha256[:12]}…), "
        "which is not loaded here; bring it with: orchestrator load BUNDLE"
    )


def remedy(bundle: Loaded) -> str:
    """What to do about an image that is not there."""
    return f"it came with the bundle {bundle.name}: bring it with orchestrator load BUNDLE"


def images_of(bundle: Loaded, plan: Plan) -> tuple[GivenImage, ...]:
    """The images of a plan, as its bundle has them; raises `InputError` where it has not got one."""
    known = {image.name: image for image in bundle.record.images}
    missing = [image.name for image in plan.images if image.name not in known]
    if missing:
        raise InputError(*(f"image {name} of the plan is not in the bundle {bundle.name}" for name in missing))
    return tuple(known[image.name] for image in plan.images)


def missing_images(client: Client, bundle: Loaded, plan: Plan) -> str:
    """A line for every image of a plan that the engine has not got; empty where all are there."""
    return not_there(absent(client, images_of(bundle, plan)), remedy(bundle))


def missing_scripts(plan: Plan) -> list[str]:
    """A line for every foreign script of a plan that is not on this host."""
    paths = dict.fromkeys(cell.script.path for cell in plan.cells if cell.script)
    return [
        f"script {path}: is not here; put it there, or leave its cells out with --exclude '*-script'"
        for path in paths
        if not Path(path).is_file()
    ]
