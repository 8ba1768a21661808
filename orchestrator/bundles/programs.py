"""The orchestrator itself in a bundle: as wheels, as an image, and the script that installs either."""

import hashlib
import json
import shutil
from collections.abc import Mapping
from pathlib import Path

from orchestrator import __version__
from orchestrator.bundles import layout, own_image, own_wheel, wheels
from orchestrator.bundles.descriptions import describe
from orchestrator.bundles.export import Export
from orchestrator.bundles.manifest import Base
from orchestrator.bundles.proof import Proof, prove
from orchestrator.bundles.signature import NAMESPACE
from orchestrator.bundles.wheels import Errand, Far, WheelsError
from orchestrator.errors import HostError
from orchestrator.events import Notice
from orchestrator.images import Built
from orchestrator.resources import IMAGES
from orchestrator.results.store import write_atomically

_MACHINES = {"amd64": "x86_64", "arm64": "aarch64"}
_CACHED = "own-image"
_PROOFS = "wheel-proofs"


def write_programs(export: Export) -> None:
    """Write wheels for every Python asked for, the image, and `install.sh`."""
    machine = str(export.client.version().get("Arch", "amd64"))
    fetched = write_wheels(export, _MACHINES.get(machine, machine))
    python = own_image.PYTHON if own_image.PYTHON in fetched else next(iter(fetched))
    own = write_image(export, fetched[python], python)
    write_install(export, tuple(fetched), _MACHINES.get(machine, machine), own)


def write_wheels(export: Export, machine: str) -> Mapping[str, tuple[str, ...]]:
    """Write the wheels, and give the names of those that each Python takes.

    A Python without wheels is left out, with a word on it, unless it was asked for by name: then it raises.
    """
    folder = (export.folder / layout.WHEELS).resolve()
    folder.mkdir(parents=True)
    own = own_wheel.write(folder, export.workshop)
    fetched: dict[str, tuple[str, ...]] = {}
    for python in export.pythons or wheels.PYTHONS:
        far = Far(python, machine)
        try:
            fetched[python] = (own.name, *wheels.fetch(own, far, folder, _errand(export)))
        except WheelsError as error:
            if export.pythons or export.stop.is_set():
                raise
            export.listener(Notice(f"Python {python} is left out: {error}"))
            continue
        if export.try_wheels:
            export.listener(Notice(_proven(folder, fetched[python], far, export).sentence))
    if not fetched:
        raise HostError("there are no wheels of the orchestrator's dependencies for any Python; see the notices")
    return fetched


def _errand(export: Export) -> Errand:
    logs = export.workshop.cache / "build-logs"
    logs.mkdir(parents=True, exist_ok=True)
    return Errand(export.workshop, logs / "wheels.log", export.stop)


def _proven(folder: Path, names: tuple[str, ...], far: Far, export: Export) -> Proof:
    """Prove wheels, unless the very same ones were installed before on this host."""
    digests = [hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in names]
    key = hashlib.sha256("\n".join([far.python, far.machine, *names, *digests]).encode()).hexdigest()[:16]
    note = export.workshop.cache / _PROOFS / f"{key}.json"
    try:
        return Proof(far.python, str(json.loads(note.read_text())["interpreter"]))
    except (OSError, ValueError, KeyError, TypeError):
        proof = prove(folder, far, export.workshop)
    if proof.interpreter:
        note.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(note, json.dumps({"interpreter": proof.interpreter}) + "\n")
    return proof


def write_image(export: Export, names: tuple[str, ...], python: str) -> Built:
    """Write the image as an archive, and say which it is; what was written for an earlier bundle is taken again."""
    logs = export.workshop.cache / "build-logs"
    paths = [export.folder / layout.WHEELS / name for name in names]
    wanted = own_image.recipe(paths, python, export.settings)
    export.listener(Notice(f"the orchestrator's own image: {wanted.reference}"))
    image_id = own_image.build(export.client, wanted, export.settings, log=logs / "orchestrator.log", stop=export.stop)
    shelf = export.workshop.cache / _CACHED
    kept = shelf / f"{image_id.removeprefix('sha256:')}.tar.gz"
    if not kept.is_file():
        shelf.mkdir(parents=True, exist_ok=True)
        part = kept.with_suffix(".part")
        own_image.save(export.client, wanted.reference, part, export.stop)
        for older in shelf.glob("*.tar.gz"):
            older.unlink()
        part.replace(kept)
    shutil.copyfile(kept, export.folder / layout.OWN_IMAGE)
    describe(export, wanted)
    return Built(wanted.spec.name, image_id, wanted.reference)


def write_install(export: Export, pythons: tuple[str, ...], machine: str, own: Built) -> None:
    """Write `install.sh`, which knows this bundle."""
    base = export.earlier.base if export.earlier else None
    path = export.folder / layout.INSTALL
    path.write_text(install_script(export.name, base, Far(" ".join(pythons), machine), own), encoding="utf-8")
    path.chmod(0o755)


def install_script(bundle: str, base: Base | None, far: Far, own: Built) -> str:
    """Give the text of `install.sh` for a bundle that builds on `base`; `far` may name several Pythons.

    `own` is the orchestrator's image.
    """
    folder = IMAGES / "orchestrator"
    command = (folder / "orchestrator.sh").read_text(encoding="utf-8").replace("@IMAGE@", own.reference)
    told = {
        "BUNDLE": bundle,
        "VERSION": __version__,
        "IMAGE": own.reference,
        "IMAGE_ID": own.image_id,
        "PYTHONS": far.python,
        "MACHINE": far.machine,
        "BASE_NAME": base.name if base else "",
        "BASE_SHA256": base.manifest_sha256 if base else "",
        "NAMESPACE": NAMESPACE,
        "GLIBC_MINOR": str(wheels.GLIBC_MINOR),
        "COMMAND": command.rstrip("\n"),
    }
    text = (folder / "install.sh").read_text(encoding="utf-8")
    for name, value in told.items():
        text = text.replace(f"@{name}@", value)
    return text
