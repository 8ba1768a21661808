"""Plans that came in a bundle, and the images that they need."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from orchestrator.bundles.read import registry
from orchestrator.bundles.read.loaded_bundle import LoadedBundle
from orchestrator.domain import Plan
from orchestrator.engine.client import Client
from orchestrator.errors import InputError
from orchestrator.planning import Selection, narrowed
from orchestrator.results.files import frozen as frozen_files
from orchestrator.results.records import BundleOrigin
from orchestrator.runtimes import BundledImage, missing_images_text, not_on_engine
from orchestrator.wording import clean_line
from orchestrator.workflows.host.host import Host
from orchestrator.workflows.inputs.planned_matrix import MATRIX_HERE, MatrixOptions

_MOST_FILES = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanSource(MatrixOptions):
    """A matrix, or the plan of a bundle that was loaded on this host."""

    plan: str | None = None
    """The name or the folder of a loaded bundle, whose plan is taken in place of a matrix."""


def chosen_bundle(command: str, source: PlanSource, host: Host) -> LoadedBundle | None:
    """Return the bundle whose plan is chosen, or None if a matrix is.

    Raises as `registry.find` does.
    Raises `InputError` if both are chosen.
    Raises it too if neither is, there is no matrix here and a bundle is loaded, since `command` may mean either.
    """
    if source.plan is not None:
        if source.file is not None:
            raise InputError("--plan takes the plan of a bundle, --file that of a matrix: leave one out")
        bundle = registry.find(host.bundles, source.plan)
        _refuse_matrix_options(source)
        return bundle
    if source.file is not None or MATRIX_HERE.exists():
        return None
    names = list(registry.registered(host.bundles))
    if not names:
        return None
    named = names[0] if len(names) == 1 else f"NAME, where NAME is {', '.join(names[:-1])} or {names[-1]}"
    raise InputError(
        f"no {MATRIX_HERE} here, and none is named: --file FILE takes a matrix; "
        f"for the plan of {'the' if len(names) == 1 else 'a'} loaded bundle: orchestrator {command} --plan {named}"
    )


def _refuse_matrix_options(source: PlanSource) -> None:
    named = (("--base-image", source.base_image), ("--models", source.models))
    refuse_settled([name for name, value in named if value is not None] + (["--strict"] if source.strict else []))
    if source.quick:
        raise InputError("--quick makes a plan shorter, and that of a bundle is made: give --quick to `export`")


def refuse_settled(options: Sequence[str]) -> None:
    """Raise `InputError` if there are options that a bundle has settled."""
    if options:
        raise InputError(f"{' and '.join(options)}: images and models came with the bundle; leave it out")


def wanted_plan(bundle: LoadedBundle, source: PlanSource) -> Plan:
    """Return a bundle's plan with the cells that are wanted.

    Raises `InputError` as a matrix's does.
    """
    plan = narrowed(bundle.plan(), Selection(select=tuple(source.select), exclude=tuple(source.exclude)))
    return replace(plan, parity=plan.parity and not source.no_parity)


def origin_of(bundle: LoadedBundle) -> BundleOrigin:
    """Return the entry of a bundle in a run's record."""
    return BundleOrigin(name=bundle.name, manifest_sha256=bundle.record.manifest_sha256)


def bundle_of(origin: BundleOrigin, host: Host) -> LoadedBundle:
    """Return the bundle that a resumed run came from.

    Raises `InputError` if it is not loaded any more.
    """
    for bundle in registry.registered(host.bundles).values():
        if bundle.record.manifest_sha256 == origin.manifest_sha256:
            return bundle
    raise InputError(
        f"the plan of this run came with the bundle {origin.name} (manifest sha256:{origin.manifest_sha256[:12]}…), "
        "which is not loaded here; bring it with: orchestrator load BUNDLE"
    )


def remedy(bundle: LoadedBundle) -> str:
    """Return what to do about an image that is missing."""
    return f"it came with the bundle {bundle.name}: bring it with orchestrator load BUNDLE"


def images_of(bundle: LoadedBundle, plan: Plan) -> tuple[BundledImage, ...]:
    """Return the images of a plan as its bundle has them.

    Raises `InputError` if the bundle lacks one.
    """
    known = {image.name: image for image in bundle.record.images}
    missing = [image.name for image in plan.images if image.name not in known]
    if missing:
        raise InputError(*(f"image {name} of the plan is not in the bundle {bundle.name}" for name in missing))
    return tuple(known[image.name] for image in plan.images)


def missing_images(client: Client, bundle: LoadedBundle, plan: Plan) -> str:
    """Return a line for every image of a plan that the engine lacks, or nothing."""
    return missing_images_text(not_on_engine(client, images_of(bundle, plan)), remedy(bundle))


def script_lines(plan: Plan) -> list[str]:
    """Return a line for every script of a plan, with the files that belong to it."""
    lines = []
    for script in frozen_files.scripts_of(plan):
        others = [file.path for file in script.files if file.path != script.entry]
        more = [f"and {len(others) - _MOST_FILES} more"] if len(others) > _MOST_FILES else []
        named = ", ".join((script.file, *others[:_MOST_FILES], *more))
        size = f"{script.size_bytes:,} bytes" if script.files else "from a place on another host, never run"
        lines.append(clean_line(f"script {script.name}: {named} ({size})"))
    return lines
