"""The loading of `site.yaml`, to values or to every mistake in it."""

from collections.abc import Iterator
from pathlib import Path

from pydantic import BaseModel

from orchestrator.catalog import source as yaml_source
from orchestrator.catalog.source import Mistake, Source
from orchestrator.clusters.site import file, pods
from orchestrator.clusters.site.model import (
    Executor,
    ImagesFrom,
    NodeImages,
    Program,
    Site,
    TimeLimits,
    too_many_nodes,
)
from orchestrator.clusters.site.options import SWITCHES
from orchestrator.errors import InputError
from orchestrator.matrix import mistakes

_NESTED: dict[str, type[BaseModel]] = {
    "time": file.TimeEntry,
    "images": file.ImagesEntry,
    "results": file.ResultsEntry,
    "program": file.ProgramEntry,
    "kubernetes": pods.KubernetesEntry,
}
_OF_SLURM = ("partition", "account", "constraint", "reservation", "nodes_at_once", "replicate", "sbatch", "gpu_types")


_OF_NO_USE = {
    "local": (*_OF_SLURM, "kubernetes"),
    "slurm": ("kubernetes",),
    "kubernetes": (*(key for key in _OF_SLURM if key != "replicate"), "setup", "images", "program", "gpus"),
}
"""The keys that are mistakes with an executor."""


def load(path: Path) -> Site:
    """Read a site file. Relative paths in it start at its folder.

    Raises `InputError` with all mistakes, each `file:line:column: place: what is wrong`.
    """
    source = yaml_source.read(path, "site file")
    source.require_version("a site file", file.VERSION)
    wrong = [*source.mistakes, *mistakes.of_shape(source, file.SiteFile, _NESTED), *_meaning(source)]
    if wrong:
        raise InputError(*mistakes.lines(source, wrong))
    return _resolved(file.SiteFile.model_validate(source.value), path.parent.absolute())


def _meaning(source: Source) -> Iterator[Mistake]:
    """Yield the mistakes beyond the shape of each value."""
    executor = source.value.get("executor")
    for key in _OF_NO_USE.get(executor, ()) if isinstance(executor, str) else ():
        if source.value.get(key) is not None:
            yield source.mistake((key,), f"{key!r} is of no use to `executor: {executor}`; drop it", key=True)
    results = source.value.get("results")
    if executor in {Executor.LOCAL, Executor.KUBERNETES} and isinstance(results, dict) and results.get("on_nodes"):
        mistake = f"'on_nodes' is of no use to `executor: {executor}`; drop it"
        yield source.mistake(("results", "on_nodes"), mistake, key=True)
    if executor == Executor.KUBERNETES and source.value.get("kubernetes") is None:
        yield source.mistake((), "'kubernetes' is missing, which `executor: kubernetes` needs")
    replicate, at_once = (source.value.get(key) for key in ("replicate", "nodes_at_once"))
    if isinstance(replicate, int) and isinstance(at_once, int) and replicate > at_once > 0:
        yield source.mistake(("replicate",), too_many_nodes(replicate, at_once))
    given = source.value.get("sbatch")
    for name, value in given.items() if isinstance(given, dict) else ():
        if name in SWITCHES and value is not True:
            yield source.mistake(("sbatch", name), "is a switch: write true, or drop the key")
        elif name not in SWITCHES and value is True:
            yield source.mistake(("sbatch", name), "needs a value; true is for switches")


def _resolved(entry: file.SiteFile, folder: Path) -> Site:
    return Site(
        executor=entry.executor,
        partition=entry.partition,
        account=entry.account,
        constraint=entry.constraint,
        reservation=entry.reservation,
        nodes_at_once=entry.nodes_at_once,
        replicate=entry.replicate,
        time=_time(entry.time),
        sbatch=tuple(sorted(entry.sbatch.items())),
        setup=entry.setup or (),
        images=_images(entry.images, folder),
        results=_path(entry.results.folder, folder) or None,
        on_nodes=entry.results.on_nodes or "",
        program=_program(entry.program, folder) if entry.program else None,
        gpus=entry.gpus,
        gpu_types=tuple(entry.gpu_types.items()),
        kubernetes=pods.pods(entry.kubernetes) if entry.kubernetes else None,
    )


def _time(entry: file.TimeEntry) -> TimeLimits:
    shortest = TimeLimits().shortest_s if entry.shortest is None else entry.shortest
    return TimeLimits(entry.margin, min(shortest, entry.longest or shortest), entry.longest)


def _images(entry: file.ImagesEntry, folder: Path) -> NodeImages:
    if entry.pushed is not None:
        return NodeImages(ImagesFrom.REGISTRY, _path(entry.pushed, folder))
    if entry.bundle is not None:
        return NodeImages(ImagesFrom.BUNDLE, _path(entry.bundle, folder))
    return NodeImages()


def _program(entry: file.ProgramEntry, folder: Path) -> Program:
    return Program(
        path=_path(entry.path, folder),
        wheel=_path(entry.wheel, folder),
        find_links=_path(entry.find_links, folder),
        python=entry.python or Program().python,
    )


def _path(text: str | None, folder: Path) -> str:
    return str(folder / text) if text else ""
