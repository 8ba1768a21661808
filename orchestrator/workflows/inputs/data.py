"""Datasets in folders of the user's own, which are checked before anything is built or measured."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from orchestrator.bundles.read.loaded_bundle import LoadedBundle
from orchestrator.catalog import DATASETS, DatasetInfo, examine
from orchestrator.domain import Plan
from orchestrator.errors import InputError
from orchestrator.matrix import Matrix, own_datasets
from orchestrator.matrix.own_data import astray
from orchestrator.user_files import MountedData
from orchestrator.workflows.host.host import Host

DATA_VARIABLE = "ORCHESTRATOR_DATA"


def with_data(plan: Plan, matrix: Matrix, chosen: Path | None, host: Host) -> Plan:
    """Find the datasets of a plan below the folder `chosen`, the matrix's, or that of the environment.

    Raises `InputError` with everything that is missing, incomplete or another file than was published.
    """
    ways = f"give --data DIR, data_folder in the matrix, or {DATA_VARIABLE}"
    folder = chosen or matrix.data_folder or host.environment.get(DATA_VARIABLE)
    wanted = _wanted(plan, matrix.own_datasets, folder, matrix.path, ways)
    if not chosen and (lines := [line for _, place in wanted for line in astray(place, matrix)]):
        raise InputError(*lines)
    return replace(plan, data=_examined(wanted))


def with_carried_data(plan: Plan, bundle: LoadedBundle, chosen: Path | None, host: Host) -> Plan:
    """Find the datasets of a bundle's plan in the folder `chosen`, in the bundle, or in that of the environment.

    Raises `InputError` as `with_data` does.
    """
    folder = chosen or bundle.data_folder or host.environment.get(DATA_VARIABLE)
    ways = f"give --data DIR, or {DATA_VARIABLE}"
    wanted = _wanted(plan, own_datasets(bundle.matrix()), folder, f"bundle {bundle.name}", ways)
    return replace(plan, data=_examined(wanted))


def _wanted(
    plan: Plan, own: Sequence[DatasetInfo], folder: Path | str | None, place: str, ways: str
) -> list[tuple[DatasetInfo, Path]]:
    """Return the datasets of a plan that are files, each with the folder of its name below `folder`."""
    known = {**DATASETS, **{info.name: info for info in own}}
    named = dict.fromkeys(cell.workload.dataset for cell in plan.cells)
    if unknown := [name for name in named if name not in known]:
        raise InputError(
            *(f"{place}: no dataset is called {name[:100]!r}, and its matrix describes none" for name in unknown)
        )
    wanted = [known[name] for name in named if known[name].formats]
    if wanted and not folder:
        names = ", ".join(info.name for info in wanted)
        raise InputError(f"{place}: no folder holds the files of {names}: {ways}, each in the folder of its name")
    return [(info, Path(folder or "") / info.name) for info in wanted]


def to_carry(wanted: Sequence[str], matrix: Matrix, host: Host) -> tuple[tuple[str, Path], ...]:
    """Find the datasets that a bundle is to hold, each named by `NAME`, `NAME=DIR` or a folder of its name.

    Raises `InputError` with every mistake: the files of a dataset that is known must be what was published.
    """
    known = {**DATASETS, **{info.name: info for info in matrix.own_datasets}}
    below = matrix.data_folder or host.environment.get(DATA_VARIABLE)
    datasets: dict[str, Path] = {}
    mistakes: list[str] = []
    for one in wanted:
        name, _, folder = one.partition("=")
        if not folder:
            place = Path(name) if "/" in name or Path(name).is_dir() or not below else Path(below) / name
            name = place.resolve().name
        else:
            place = Path(folder)
        if name in datasets:
            mistakes.append(f"--data {one}: {name!r} is named twice")
        elif "/" in name or name in {"", ".", ".."}:
            mistakes.append(f"--data {one}: {name!r} is no name of a dataset")
        elif not place.is_dir():
            mistakes.append(f"--data {one}: {place}: no such folder; --data {name}=DIR names another")
        elif not folder and (lines := astray(place, matrix)):
            mistakes += lines
        elif name in known and known[name].formats:
            mistakes += examine(known[name], place)[1]
        datasets[name] = place
    if mistakes:
        raise InputError(*mistakes)
    return tuple(datasets.items())


def check_again(plan: Plan) -> None:
    """Compare the datasets of a resumed run with what they were.

    Raises `InputError` if one has changed.
    """
    now = _examined([(_as_it_was(data), Path(data.folder)) for data in plan.data])
    # The sums of a stand-in are those that its own folder has.
    changed = [then.folder for then, data in zip(plan.data, now, strict=True) if then.files != data.files]
    if changed:
        raise InputError(*(f"{folder}: is another stand-in than when the run began" for folder in changed))


def _as_it_was(data: MountedData) -> DatasetInfo:
    where = DATASETS[data.name].where if data.name in DATASETS else ""
    files = {data.format: dict(data.files)}
    return DatasetInfo(
        data.name, data.image, data.classes, data.training, data.testing, data.inputs, formats=files, where=where
    )


def _examined(wanted: list[tuple[DatasetInfo, Path]]) -> tuple[MountedData, ...]:
    examined = [examine(info, folder) for info, folder in wanted]
    mistakes = [mistake for _, mistakes in examined for mistake in mistakes]
    if mistakes:
        raise InputError(*mistakes)
    return tuple(data for data, _ in examined if data)
