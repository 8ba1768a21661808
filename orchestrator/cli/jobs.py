"""What `run` has to do: a matrix, the plan of a bundle, or a run that was interrupted."""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from orchestrator import matrix
from orchestrator.bundles.read.loaded_bundle import LoadedBundle
from orchestrator.bundles.returns.results_manifest import MERGED
from orchestrator.cli import carried, composition
from orchestrator.cli.data import check_again
from orchestrator.cli.runtime import RuntimeName
from orchestrator.devices import another_machine, host_facts, inventory
from orchestrator.domain import BuildSettings, Plan
from orchestrator.errors import InputError
from orchestrator.planning.bounds import plan as bounds
from orchestrator.results.scripts import frozen as frozen_scripts
from orchestrator.results.store import Run, runs
from orchestrator.running import new_run_name
from orchestrator.user_files import ModelFile, Script


@dataclass(frozen=True, slots=True)
class Job:
    """What there is to do: a new run, or one to be taken up again."""

    plan: Plan
    settings: BuildSettings
    run: Run
    runtime: RuntimeName
    matrix: dict[str, Any] | None
    """Long form, for a new run; None for one that is there."""
    own_models: tuple[ModelFile, ...] = ()
    bundle: LoadedBundle | None = None
    """Where plan and images came from, if not from a matrix."""
    scripts: tuple[tuple[Script, Path], ...] = ()
    """Of a new run: what it has to freeze, each with the folder of its files."""


def new(prepared: composition.Prepared, results: Path, runtime: RuntimeName, repeats: int | None) -> Job:
    """A new run of a matrix."""
    plan = _repeated(prepared.plan, repeats)
    document = composition.without_credentials(matrix.long_form(prepared.matrix), prepared.settings)
    scripts = composition.scripts_of(prepared.matrix)
    return Job(plan, prepared.settings, _named(results), runtime, document, prepared.own_models, scripts=scripts)


def of_bundle(bundle: LoadedBundle, plan: Plan, results: Path, runtime: RuntimeName, repeats: int | None) -> Job:
    """A new run of a bundle's plan; raises `InputError` where a script of it did not come with the bundle."""
    frozen_scripts.refuse_paths(plan, "export the matrix again, or leave its cells out with --exclude '*-script'")
    scripts = tuple(
        (script, frozen_scripts.folder_of(bundle.folder, script)) for script in frozen_scripts.scripts_of(plan)
    )
    own, document = bundle.own_models(), bundle.matrix()
    settings, run = BuildSettings(), _named(results)
    return Job(_repeated(plan, repeats), settings, run, runtime, document, own, bundle, scripts)


def resumed(results: Path, name: str, runtime: RuntimeName, base_image: str | None, *, changed: bool) -> Job:
    """A run that is there; `changed` says that something is asked for which its plan has settled."""
    if changed:
        raise InputError(
            "--resume goes on with the run's own plan: leave out --file, --plan, --select, --exclude, --models, "
            "--data, --repeats, --no-parity and --strict"
        )
    found = composition.find_run(results, name)
    record = found.record()
    recorded = RuntimeName(record.runtime)
    if runtime not in {RuntimeName.AUTO, recorded}:
        raise InputError(f"{found.name} was measured with --runtime {recorded}; numbers of two runtimes do not mix")
    _refuse_elsewhere(found, record.host)
    plan = found.plan()
    frozen_scripts.refuse_paths(plan, "begin a new run of the matrix; what this one has measured stays")
    frozen_scripts.check(found.folder, frozen_scripts.scripts_of(plan))
    check_again(plan)
    if record.bundle is None:
        return Job(plan, composition.stored_settings(found, base_image), found, recorded, None)
    carried.refuse_matrix_options(base_image, None)
    return Job(plan, BuildSettings(), found, recorded, None, bundle=carried.again(record.bundle))


def _refuse_elsewhere(run: Run, host: Mapping[str, Any]) -> None:
    """Raise `InputError` for a run of another host: it came from there in a file, or this one is another machine."""
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
