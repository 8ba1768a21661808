"""Jobs of a run, which come from a matrix, from the plan of a bundle, or from an interrupted run."""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from orchestrator.bundles.read.loaded_bundle import LoadedBundle
from orchestrator.bundles.returns.results_manifest import MERGED
from orchestrator.devices import another_machine, host_facts, inventory
from orchestrator.domain import BuildSettings, Plan
from orchestrator.errors import InputError
from orchestrator.planning.bounds import plan as bounds
from orchestrator.results.results_folder import runs
from orchestrator.results.scripts import frozen as frozen_scripts
from orchestrator.results.store import Run
from orchestrator.running import new_run_name
from orchestrator.user_files import ModelFile, Script
from orchestrator.workflows.host.host import Host
from orchestrator.workflows.inputs import bundle_plans
from orchestrator.workflows.inputs.data import check_again
from orchestrator.workflows.inputs.planned_matrix import PlannedMatrix
from orchestrator.workflows.inputs.stored_runs import find_run, stored_settings
from orchestrator.workflows.option_values import RuntimeName


@dataclass(frozen=True, slots=True)
class Job:
    """A new run, or one to go on with."""

    plan: Plan
    settings: BuildSettings
    run: Run
    runtime: RuntimeName
    matrix: dict[str, Any] | None
    """The long form, for a new run. None for a resumed one."""
    own_models: tuple[ModelFile, ...] = ()
    bundle: LoadedBundle | None = None
    """The bundle that plan and images came from, if not from a matrix."""
    scripts: tuple[tuple[Script, Path], ...] = ()
    """The scripts that a new run has to freeze, each with the folder of its files."""


def new(planned: PlannedMatrix, results: Path, runtime: RuntimeName, repeats: int | None) -> Job:
    """Return the job of a new run of a matrix."""
    plan, own = _repeated(planned.plan, repeats), planned.own_models
    return Job(plan, planned.settings, _named(results), runtime, planned.document, own, scripts=planned.scripts)


def of_bundle(bundle: LoadedBundle, plan: Plan, results: Path, runtime: RuntimeName, repeats: int | None) -> Job:
    """Return the job of a new run of a bundle's plan.

    Raises `InputError` if a script did not come with the bundle.
    """
    frozen_scripts.refuse_paths(plan, "export the matrix again, or leave its cells out with --exclude '*-script'")
    scripts = tuple(
        (script, frozen_scripts.folder_of(bundle.folder, script)) for script in frozen_scripts.scripts_of(plan)
    )
    own, document = bundle.own_models(), bundle.matrix()
    settings, run = BuildSettings(), _named(results)
    return Job(_repeated(plan, repeats), settings, run, runtime, document, own, bundle, scripts)


def resumed(results: Path, name: str, runtime: RuntimeName, base_image: str | None, host: Host) -> Job:
    """Return the job of a stored run.

    Raises `InputError` if it cannot go on here as it began.
    """
    run = find_run(results, name)
    record = run.record()
    recorded = RuntimeName(record.runtime)
    if runtime not in {RuntimeName.AUTO, recorded}:
        raise InputError(f"{run.name} was measured with --runtime {recorded}; numbers of two runtimes do not mix")
    _refuse_elsewhere(run, record.host)
    plan = run.plan()
    frozen_scripts.refuse_paths(plan, "begin a new run of the matrix; what this one has measured stays")
    frozen_scripts.check(run.folder, frozen_scripts.scripts_of(plan))
    check_again(plan)
    if record.bundle is None:
        return Job(plan, stored_settings(run, base_image, host.environment), run, recorded, None)
    bundle_plans.refuse_settled([] if base_image is None else ["--base-image"])
    return Job(plan, BuildSettings(), run, recorded, None, bundle=bundle_plans.bundle_of(record.bundle, host))


def _refuse_elsewhere(run: Run, host: Mapping[str, Any]) -> None:
    """Raise `InputError` for a run of another host, which came in a file or was begun on another machine."""
    merged = (run.folder / MERGED).exists()
    other = "it was merged" if merged else another_machine(host, host_facts(inventory()))
    if other:
        whose = host.get("hostname") or "another host"
        raise InputError(
            f"{run.name} was begun on {whose} ({other}): go on there; numbers of two hosts do not mix in one run"
        )


def _named(results: Path) -> Run:
    return Run(results / new_run_name(datetime.now(UTC), secrets.token_hex(2), [run.name for run in runs(results)]))


def _repeated(plan: Plan, repeats: int | None) -> Plan:
    if repeats is None:
        return plan
    repeated = replace(plan, cells=tuple(replace(cell, repeats=repeats) for cell in plan.cells))
    bounds.check(repeated, "--repeats: ")
    return repeated
