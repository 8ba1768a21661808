"""The files of datasets: what is expected where, whether it is there, and what is made in its place."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from orchestrator.catalog import DATASETS, DatasetInfo, examine
from orchestrator.datasets.converting import make
from orchestrator.errors import InputError, did_you_mean
from orchestrator.matrix import Matrix
from orchestrator.workflows.host.host import Host
from orchestrator.workflows.inputs.data import DATA_VARIABLE
from orchestrator.workflows.inputs.planned_matrix import known_models, load_matrix


class DataState(StrEnum):
    """The state of a dataset's files."""

    COMPLETE = "complete"
    """Every file is there, with the sum that was published or in the form that the matrix describes."""
    STAND_IN = "stand-in"
    MISSING = "missing"
    WRONG = "wrong"
    """A folder is there, and a file in it is missing or another one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DataOptions:
    """The options of `data`."""

    names: tuple[str, ...] = ()
    """Datasets to look at; all that are files by default."""
    matrix: Path | None = None
    """A matrix whose own datasets and data folder count."""
    data: Path | None = None
    """The folder that holds the folders of datasets."""
    source: Path | None = None
    """The original files to convert the one named dataset from."""
    stand_in: bool = False
    """True to make a stand-in for each named dataset; without a name, for each that the matrix uses and lacks."""


@dataclass(frozen=True, slots=True)
class DatasetFiles:
    """A dataset with the files that are expected of it, and what there is."""

    name: str
    folder: str
    """The folder in which its files are expected."""
    formats: Mapping[str, tuple[str, ...]]
    """The files of each format; one format is enough."""
    where: str
    """The source of its files; empty for a dataset that a matrix describes."""
    state: DataState
    problems: tuple[str, ...] = ()
    made: bool = False
    """True if this command has made the files."""


def data(options: DataOptions, host: Host) -> tuple[DatasetFiles, ...]:
    """Look at the files of datasets, after making those that are to be made.

    Raises `InputError` for a name that is no dataset with files, if there is no data folder to make files in, and if
    files cannot be made.

    Example: `data(DataOptions(names=("mnist",), data=Path("data")), this_host())[0].state`
    """
    loaded = load_matrix(options.matrix, known_models(None), host) if options.matrix else None
    own = {info.name: info for info in loaded.own_datasets} if loaded else {}
    known = {name: info for name, info in {**DATASETS, **own}.items() if info.formats}
    unknown = [name for name in options.names if name not in known]
    if unknown:
        raise InputError(*(f"no dataset with files is called {name!r}{did_you_mean(name, known)}" for name in unknown))
    named = options.data or (loaded.data_folder if loaded else None) or host.environment.get(DATA_VARIABLE)
    folder = Path(named or "data")
    if (options.source or options.stand_in) and not named:
        raise InputError(f"no folder to make files in: give --data DIR, -f MATRIX with data_folder, or {DATA_VARIABLE}")
    names = options.names or tuple(known)
    if options.stand_in and loaded and not options.names:
        names = tuple(name for name in _used(loaded) if name in known)
    made = _made(options, names, folder)
    for name in made:
        make(known[name], folder / name, options.source)
    return tuple(_looked_at(known[name], folder / name, made=name in made) for name in names)


def _used(loaded: Matrix) -> tuple[str, ...]:
    """Return the names of the datasets that models and scripts of a matrix name, in their order."""
    of_models = (name for axes in loaded.models for name in axes.datasets)
    return tuple(dict.fromkeys((*of_models, *(axes.dataset for axes in loaded.scripts))))


def _made(options: DataOptions, names: Sequence[str], folder: Path) -> Sequence[str]:
    """Return the names of the datasets to make, which of a matrix are those that the folder lacks.

    Raises `InputError` if the options contradict each other or name none.
    """
    if not options.source and not options.stand_in:
        return ()
    if options.source and options.stand_in:
        raise InputError("--from and --stand-in exclude each other; keep one")
    if options.names:
        return names
    if options.source or not options.matrix:
        raise InputError("name the datasets whose files are to be made, or give --stand-in with -f MATRIX")
    return [name for name in names if not (folder / name).exists()]


def _looked_at(info: DatasetInfo, folder: Path, *, made: bool) -> DatasetFiles:
    mounted, problems = examine(info, folder)
    if mounted:
        state = DataState.STAND_IN if mounted.stand_in else DataState.COMPLETE
    else:
        state = DataState.WRONG if folder.is_dir() else DataState.MISSING
    formats = {kind: tuple(members) for kind, members in info.formats.items()}
    return DatasetFiles(info.name, str(folder), formats, info.where, state, tuple(problems), made)
