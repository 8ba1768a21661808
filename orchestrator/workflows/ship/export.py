"""The export of a matrix with its images as one bundle, for a host without internet."""

import contextlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml

from orchestrator.bundles.describe.package_files import package_files
from orchestrator.bundles.format import layout, signature
from orchestrator.bundles.format.base import BaseBundle, open_base
from orchestrator.bundles.format.manifest import Manifest
from orchestrator.bundles.format.streams import STOPPED, TransferStoppedError
from orchestrator.bundles.write import export as writing
from orchestrator.bundles.write import output_folder, parts, plan_files
from orchestrator.bundles.write.request import Export
from orchestrator.bundles.write.tar import check_replaceable, write_tar
from orchestrator.engine.client import Client, connect
from orchestrator.errors import InputError, OrchestratorError
from orchestrator.images import BuildFailure, Built
from orchestrator.running.active_runs import announced
from orchestrator.runtimes.environments import Workshop
from orchestrator.workflows import option_values
from orchestrator.workflows.build import BUILD_LOGS, build_images
from orchestrator.workflows.host.disk import DiskCheck
from orchestrator.workflows.host.host import Host
from orchestrator.workflows.inputs.data import to_carry
from orchestrator.workflows.inputs.planned_matrix import (
    MatrixOptions,
    PlannedMatrix,
    plan_matrix,
    with_frozen_files,
)

DEFAULT_FOLDER = Path("offline_bundle")


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportOptions(MatrixOptions):
    """The options of `export`."""

    jobs: int = option_values.JOBS
    """Environments made at the same time."""
    output: Path | None = None
    """The folder of the bundle. `offline_bundle/NAME` by default."""
    since: Path | None = None
    """A bundle, or its `manifest.json`, whose contents are left out."""
    data: Sequence[str] = ()
    """Datasets to carry along, each as `NAME`, `NAME=DIR` or a folder of its name."""
    documentation: Path | None = None
    """The folder of a documentation site to carry along, as `make docs` builds it."""
    pythons: Sequence[str] = ()
    """Pythons of the far side, such as `3.12`. 3.11 to 3.14 by default."""
    wheel_check: bool = True
    """Install the wheels here, as a proof that they are enough."""
    orchestrator: bool = True
    """Carry the orchestrator along."""
    key: Path | None = None
    """An SSH key that signs the manifest."""
    tar: bool = False
    """Write the bundle as one file too, next to its folder."""


@dataclass(frozen=True, slots=True)
class ExportResult:
    """A bundle that was written."""

    folder: Path
    archive: Path | None
    """The bundle as one file, if that was asked for."""
    manifest: Manifest
    """The images and all other files, each with its size and digest."""

    @property
    def size_bytes(self) -> int:
        """The bytes of all files."""
        return sum(file.size_bytes for file in self.manifest.files)


def export(options: ExportOptions, host: Host) -> ExportResult:
    """Write a bundle with images, plan and orchestrator. It is for images of GPUs too, which need none here.

    Raises `InputError` for whatever can be wrong before hours of work.
    Raises `HostError` if the engine or the disk cannot do it, `OrchestratorError` if an image cannot be built.

    Example: `export(ExportOptions(data=["mnist=data/mnist"], tar=True), this_host()).archive`
    """
    planned = plan_matrix(options, host)
    text = _matrix_text(planned)
    plan_files.plan_documents(planned.plan, text)
    datasets = to_carry(options.data, planned.matrix, host)
    _check_pythons(options.pythons)
    _check_documentation(options.documentation)
    key = options.key
    if key:
        signature.sign(b"", key, host.environment)
    base = open_base(options.since) if options.since else None
    folder, archive = _places(options.output or DEFAULT_FOLDER / planned.plan.name, base, tar=options.tar)
    with contextlib.closing(connect(host.environment)) as client, announced(host.cache), host.working():
        for warning in planned.plan.warnings:
            host.say(f"warning: {warning}")
        DiskCheck(host).images(client, planned.plan.images, planned.settings)
        if base is None:
            DiskCheck(host).bundle(folder, planned.plan.images)
        wanted = Export(
            name=_bundle_name(planned.plan.name),
            folder=folder,
            plan=planned.plan,
            matrix=text,
            own_models=planned.own_models,
            built=_built(planned, client, options.jobs, host),
            settings=planned.settings,
            client=client,
            listener=host.listener,
            stop=host.stop,
            package_files=package_files,
            base=base,
            data=datasets,
            frozen=planned.frozen,
            workshop=Workshop(host.cache, planned.settings, host.environment),
            documentation=options.documentation,
            pythons=tuple(options.pythons),
            try_wheels=options.wheel_check,
            sign=(lambda content: signature.sign(content, key, host.environment)) if key else None,
        )
        manifest = writing.write(wanted, parts.all_parts(orchestrator=options.orchestrator))
        if archive:
            write_tar(folder, archive)
    return ExportResult(folder, archive, manifest)


def _places(folder: Path, base: BaseBundle | None, *, tar: bool) -> tuple[Path, Path | None]:
    """Return the bundle's folder and its one file.

    Raises `InputError` if another thing would be replaced.
    """
    output_folder.check_folder(folder, base)
    archive = folder.with_name(f"{folder.name}.tar") if tar else None
    if archive:
        check_replaceable(archive, base)
    return folder, archive


def _check_pythons(pythons: Sequence[str]) -> None:
    wrong = [name for name in pythons if not re.fullmatch(r"3\.(1[1-9]|[2-9][0-9])", name)]
    if wrong:
        raise InputError(f"--python {wrong[0]}: the orchestrator runs on 3.11 and newer; write it as 3.12")


def _check_documentation(folder: Path | None) -> None:
    if folder is not None and not (folder / "index.html").is_file():
        raise InputError(f"--docs {folder}: holds no index.html; `make docs` builds the documentation in build/site")


def _matrix_text(planned: PlannedMatrix) -> str:
    document = with_frozen_files(planned.document)
    document["models_folder"] = layout.MODELS if planned.own_models else None
    return str(yaml.safe_dump(document, sort_keys=False, allow_unicode=True))


def _bundle_name(name: str) -> str:
    """Return a name that a folder can have. A matrix may be called anything."""
    plain = "".join(character if character.isascii() and character.isalnum() else "-" for character in name)
    return plain.strip("-")[:100] or "bundle"


def _built(planned: PlannedMatrix, client: Client, jobs: int, host: Host) -> Mapping[str, Built]:
    """Build every image of the plan that is missing.

    Raises if one cannot be had.
    """
    ends = build_images(planned, client, jobs, host, host.cache / BUILD_LOGS)
    if host.stop.is_set():
        raise TransferStoppedError(STOPPED)
    failures = [end for end in ends if isinstance(end, BuildFailure)]
    if failures:
        lines = [f"{failure.image}: {failure.reason} (log: {failure.log})" for failure in failures]
        lines.append("no bundle is written: cure these, or leave them out with --exclude")
        raise OrchestratorError("\n".join(lines))
    return {end.image: end for end in ends if isinstance(end, Built)}
