"""The orchestrator itself in a bundle, as wheels and as an image, with the script that installs either."""

import shutil
from collections.abc import Mapping

from orchestrator.bundles.format import layout
from orchestrator.bundles.program import own_image, own_image_archive, own_wheel, wheels
from orchestrator.bundles.program.install_script import install_script
from orchestrator.bundles.program.proof import prove_once
from orchestrator.bundles.program.wheels import FetchSettings, TargetPlatform, WheelsError
from orchestrator.bundles.write.bills import image_facts, write_bill, write_statement
from orchestrator.bundles.write.request import Export
from orchestrator.errors import HostError
from orchestrator.images import Built

_MACHINES = {"amd64": "x86_64", "arm64": "aarch64"}


def write_program(export: Export) -> None:
    """Write wheels for every requested Python, the image, and `install.sh`."""
    architecture = str(export.client.version().get("Arch", "amd64"))
    machine = _MACHINES.get(architecture, architecture)
    fetched = _write_wheels(export, machine)
    python = own_image.PYTHON if own_image.PYTHON in fetched else next(iter(fetched))
    image = _write_image(export, fetched[python], python)
    _write_install_script(export, TargetPlatform(" ".join(fetched), machine), image)


def _write_wheels(export: Export, machine: str) -> Mapping[str, tuple[str, ...]]:
    """Write the wheels, and return the names of those that each Python needs.

    Raises `WheelsError` if a requested Python has no wheels. Of the default Pythons, such a one is left out with a
    notice.
    """
    folder = (export.folder / layout.WHEELS).resolve()
    folder.mkdir(parents=True)
    own = own_wheel.write(folder, export.workshop)
    logs = export.workshop.cache / "build-logs"
    logs.mkdir(parents=True, exist_ok=True)
    settings = FetchSettings(export.workshop, logs / "wheels.log", export.stop)
    fetched: dict[str, tuple[str, ...]] = {}
    for python in export.pythons or wheels.PYTHONS:
        target = TargetPlatform(python, machine)
        try:
            fetched[python] = (own.name, *wheels.fetch(own, target, folder, settings))
        except WheelsError as error:
            if export.pythons or export.stop.is_set():
                raise
            export.say(f"Python {python} is left out: {error}")
            continue
        if export.try_wheels:
            export.say(prove_once(folder, fetched[python], target, export.workshop).sentence)
    if not fetched:
        raise HostError("there are no wheels of the orchestrator's dependencies for any Python; see the notices")
    return fetched


def _write_image(export: Export, names: tuple[str, ...], python: str) -> Built:
    """Write the image as an archive with its bill and its provenance."""
    log = export.workshop.cache / "build-logs" / "orchestrator.log"
    paths = [export.folder / layout.WHEELS / name for name in names]
    recipe = own_image.recipe(paths, python, export.settings)
    export.say(f"the orchestrator's own image: {recipe.reference}")
    image_id = own_image.build(export.client, recipe, export.settings, log=log, stop=export.stop)
    archive = own_image_archive.cached(
        export.client, recipe.reference, image_id, export.workshop.cache / "own-image", export.stop
    )
    shutil.copyfile(archive, export.folder / layout.OWN_IMAGE)
    facts = image_facts(export, recipe.reference)
    write_bill(export, recipe.reference, facts.image_id, facts.layers)
    write_statement(export, recipe, facts)
    return Built(recipe.spec.name, image_id, recipe.reference)


def _write_install_script(export: Export, target: TargetPlatform, image: Built) -> None:
    base = export.base.identity if export.base else None
    path = export.folder / layout.INSTALL
    path.write_text(install_script(export.name, base, target, image), encoding="utf-8")
    path.chmod(0o755)
