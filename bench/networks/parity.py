"""Parity over all comparable pairs of catalog entries at hand, with `docs/parity.md` and the figures behind it.

Each framework's image is built if it does not exist. Then every model is checked in it as a run does it, and every pair
is judged as a report does it, for training, inference and generation. LeNet is also checked with other options of each
framework, which are compared with its defaults. Every model in serving engines is compared with every framework, and
files that exporters of frameworks write with ours.
Nothing is timed. A new check replaces only its own figures.
"""

import argparse
import json
import os
import tempfile
import threading
from collections.abc import Mapping, Sequence, Set
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench.networks.parity_page import (
    EXPORTED,
    MODELS,
    MODES,
    OF_ENGINES,
    OF_EXPORTERS,
    OF_TRANSFORMERS,
    PARTS_BESIDE,
    TRANSFORMERS,
    page,
)
from bench.records import ROOT, conditions
from orchestrator import matrix, planning, resources
from orchestrator.analysis.parity.work import PairParity
from orchestrator.build_settings import BuildSettings
from orchestrator.catalog import load, load_models
from orchestrator.devices import allocate, inventory
from orchestrator.domain import Cell, OptionValue, Plan
from orchestrator.engine.client import connect
from orchestrator.events import BuildFinished, Event, Notice
from orchestrator.planning.ids import option_text
from orchestrator.reporting.findings.compose import parity
from orchestrator.results.store import Run
from orchestrator.running import Surroundings
from orchestrator.running.parity import check_parity
from orchestrator.runtimes import DockerRuntime, Runtime, VenvRuntime, this_process
from orchestrator.workflows.host import places
from orchestrator.workflows.inputs.planned_matrix import site_settings

FIGURES, PAGE = ROOT / "docs" / "parity.json", ROOT / "docs" / "parity.md"
FRAMEWORKS = (
    *("mxnet==1.5.1", "mxnet==1.9.1", "keras-mxnet==2.2.4.3 on mxnet==1.5.1"),
    *("tensorflow==2.21.0", "torch==2.13.0", "jax==0.12.0.1"),
)
KERAS_3 = tuple(f"keras3==3.15.1 on {backend}" for backend in ("tensorflow==2.21.0", "torch==2.13.0", "jax==0.12.0.1"))
WITH_ATTENTION = ("torch==2.13.0", "tensorflow==2.21.0", "jax==0.12.0.1", "mxnet==1.9.1", *KERAS_3)
BESIDE_ENGINES = (*FRAMEWORKS, "keras==2.2.4 on tensorflow==1.13.1", *KERAS_3, "scikit-learn==1.9.1")
"""A release of every framework that computes models. scikit-learn infers alone, and no model but the simplest."""
ENGINES = ("onnxruntime==1.32.0", "openvino==2026.4.1")
OPTIONS: tuple[tuple[str, str, tuple[Any, ...]], ...] = (
    ("mxnet==1.9.1", "hybridize", (True, False)),
    ("mxnet==1.9.1", "precision", ("fp32", "amp")),
    ("tensorflow==2.21.0", "eager", (False, True)),
    ("tensorflow==2.21.0", "xla", (False, True)),
    ("tensorflow==2.21.0", "layout", ("channels_last", "channels_first")),
    ("tensorflow==2.21.0", "precision", ("fp32", "bf16", "amp")),
    ("torch==2.13.0", "layout", ("channels_last", "channels_first")),
    ("torch==2.13.0", "precision", ("fp32", "bf16", "amp")),
    ("jax==0.12.0.1", "precision", ("fp32", "bf16", "amp")),
    ("keras-mxnet==2.2.4.3 on mxnet==1.5.1", "layout", ("channels_first", "channels_last")),
)
"""Options that need no other image; `compile` of PyTorch needs one with a compiler."""
WITH_OPTIONS = "lenet"
EXPORTING = ("torch==2.13.0", "tensorflow==2.21.0", "jax==0.12.0.1")
WITH_EXPORTERS = (
    *(f"{engine} on {framework}" for framework in EXPORTING for engine in ENGINES),
    *("onnxruntime==1.19.2", "onnxruntime==1.19.2 on mxnet==1.9.1"),
    *("openvino==2024.6.0", "openvino==2024.6.0 on mxnet==1.9.1"),
)


def plan(
    frameworks: Sequence[str],
    models: Sequence[str],
    folder: Path,
    options: Mapping[str, Mapping[str, Any]] | None = None,
    of_modes: Sequence[str] = MODES,
    *,
    cpus: int = 2,
) -> Plan:
    """Return a plan of one cell for each framework, model, mode and value of an option."""
    file = folder / "matrix.yaml"
    lists = f"frameworks: {json.dumps(list(frameworks))}\nmodels: {json.dumps(list(models))}\n"
    lists += f"modes: {json.dumps(list(of_modes))}\noptions: {json.dumps(options or {})}\n"
    file.write_text(f"version: 1\nsystems: {{cpu: {{cpus: {cpus}, memory: 8g}}}}\ntimeout: 30m\n{lists}")
    catalog, known = load(resources.IMAGES / "catalog"), load_models(resources.BENCHMARKS / "models")
    return planning.plan(matrix.load(file, catalog, known), catalog, known)


def in_docker() -> Runtime:
    """Return what runs the checks in images."""
    settings = site_settings(BuildSettings(), None, os.environ)
    return DockerRuntime(connect(os.environ), settings, user=f"{os.getuid()}:{os.getgid()}", owner=this_process())


def in_environments() -> Runtime:
    """Return what runs the checks in virtual environments of this host."""
    settings = site_settings(BuildSettings(), None, os.environ)
    return VenvRuntime(places.cache_folder(os.environ), settings, os.environ)


def check(planned: Plan, folder: Path, runtime: Runtime) -> list[dict[str, Any]]:
    """Carry out the checks of a plan, and judge every pair of cells with the same model."""
    run, stop = Run(folder), threading.Event()
    folder.mkdir(exist_ok=True)
    provided = runtime.provide(planned.images, jobs=1, logs=folder / "builds", listener=_tell, stop=stop)
    here = inventory()
    allocations = {cell.system: allocate(cell.system, here) for cell in planned.cells}
    around = Surroundings(run, runtime, here, lambda: datetime.now(UTC), _tell, stop)
    check_parity(planned, provided, allocations, around, retry_failed=True)
    known = parity(run, planned)
    return [
        _row(one, other, known.judge(one, other))
        for number, one in enumerate(planned.cells)
        for other in planned.cells[number + 1 :]
        if one.workload == other.workload
    ]


def _row(one: Cell, other: Cell, verdict: PairParity) -> dict[str, Any]:
    same = set(one.options) & set(other.options) if one.framework == other.framework else {*one.options, *other.options}
    compared = [
        {"evidence": each.evidence, "what": each.what, "value": each.value, "bar": each.bar}
        for each in verdict.differences
    ]
    return {
        "model": one.workload.model, "mode": one.workload.mode.value, "one": _label(one, same),
        "other": _label(other, same), "work": verdict.work.value, "reason": verdict.reason, "note": verdict.note,
        "known_fault": verdict.known_fault, "compared": compared,
    }  # fmt: skip


def _label(cell: Cell, same: Set[tuple[str, OptionValue]]) -> str:
    """Return a cell's framework with the options in which the other cell differs."""
    own = [f"{name}={option_text(value)}" for name, value in cell.options if (name, value) not in same]
    return " ".join([cell.framework.label, *own])


def _tell(event: Event) -> None:
    text = event.message if isinstance(event, Notice) else ""
    if isinstance(event, BuildFinished):
        text = f"{event.image}: {event.reason or 'ready'}"
    if text:
        print(text, flush=True)


def main() -> None:
    """Check the named models, or all of them by default, and write the page."""
    parser = argparse.ArgumentParser(prog="python -m bench parity", description=__doc__)
    parser.add_argument("--only", nargs="+", choices=(*MODELS, *PARTS_BESIDE), default=[*MODELS, *PARTS_BESIDE])
    parser.add_argument(
        "--models", nargs="+", metavar="MODEL", help="with --only engines or exporters: these of the models alone"
    )
    parser.add_argument(
        "--frameworks", nargs="+", metavar="PIN", help="in place of the usual ones; beside engines, of every framework"
    )
    parser.add_argument("--runtime", choices=("docker", "venv"), default="docker", help="where the checks run")
    parser.add_argument("--cpus", type=int, default=2, help="CPUs of a check (default 2)")
    parser.add_argument("--keep", type=Path, help="folder for the checks, which are not made again if they are there")
    arguments = parser.parse_args()
    figures = json.loads(FIGURES.read_text()) if FIGURES.exists() else {}
    runtime = in_docker() if arguments.runtime == "docker" else in_environments()
    with tempfile.TemporaryDirectory(prefix="bench-parity-") as scratch:
        folder = arguments.keep or Path(scratch) / "run"
        for name in arguments.only:
            if name == OF_ENGINES:
                _with_engines(figures, arguments, Path(scratch), folder, runtime)
                continue
            if name == OF_EXPORTERS:
                _with_exporters(figures, arguments, Path(scratch), folder, runtime)
                continue
            if name == OF_TRANSFORMERS:
                pairs = _of_attention(Path(scratch), folder, runtime, arguments.cpus)
            elif name == "options":
                pairs = _with_options(Path(scratch), folder, runtime)
            else:
                planned = plan(arguments.frameworks or FRAMEWORKS, [name], Path(scratch), cpus=arguments.cpus)
                pairs = check(planned, folder, runtime)
            figures[name] = {"measured": conditions(), "pairs": pairs}
            FIGURES.write_text(json.dumps(figures, indent=1, ensure_ascii=False) + "\n")
            PAGE.write_text(page(figures))
    print(page(figures))


def _of_attention(scratch: Path, folder: Path, runtime: Runtime, cpus: int) -> list[dict[str, Any]]:
    """Return the comparisons of networks of attention, between frameworks and with engines too."""
    planned = plan((*WITH_ATTENTION, *ENGINES), TRANSFORMERS, scratch, cpus=cpus)
    return without_training_engines(check(planned, folder, runtime), engine_labels(planned))


def engine_labels(planned: Plan) -> Set[str]:
    """Return the labels of the serving engines of a plan."""
    names = {engine.partition("==")[0] for engine in ENGINES}
    return {cell.framework.label for cell in planned.cells if cell.framework.name in names}


def without_training_engines(pairs: Sequence[dict[str, Any]], engines: Set[str]) -> list[dict[str, Any]]:
    """Return the comparisons without those of training with an engine, which does not train."""
    return [row for row in pairs if row["mode"] != "train" or not {row["one"], row["other"]} & engines]


def _with_exporters(
    figures: dict[str, Any], arguments: argparse.Namespace, scratch: Path, folder: Path, runtime: Runtime
) -> None:
    """Compare each engine on an exporter's file with the same engine on ours, and write the figures of each model."""
    for model in arguments.models or EXPORTED:
        planned = plan((*ENGINES, *WITH_EXPORTERS), [model], scratch, of_modes=["infer"], cpus=arguments.cpus)
        pairs = check(planned, folder, runtime)
        own = [row for row in pairs if " on " in row["other"] and row["other"].partition(" on ")[0] == row["one"]]
        _replace(figures, OF_EXPORTERS, own)


def _with_engines(
    figures: dict[str, Any], arguments: argparse.Namespace, scratch: Path, folder: Path, runtime: Runtime
) -> None:
    """Check every model in engines and frameworks, and write the figures of each model once they are there."""
    every = load_models(resources.BENCHMARKS / "models")
    for model in arguments.models or every:
        sides = [*(arguments.frameworks or BESIDE_ENGINES), *ENGINES]
        planned = plan(sides, [model], scratch, of_modes=["infer"], cpus=arguments.cpus)
        engines = engine_labels(planned)
        pairs = [row for row in check(planned, folder, runtime) if {row["one"], row["other"]} & engines]
        _replace(figures, OF_ENGINES, pairs)


def _replace(figures: dict[str, Any], part: str, pairs: list[dict[str, Any]]) -> None:
    """Put comparisons into a part of the figures, in place of those of the same pairs, and write it."""
    figures[part] = replaced(figures.get(part, {"measured": {}, "pairs": []}), pairs, conditions())
    FIGURES.write_text(json.dumps(figures, indent=1, ensure_ascii=False) + "\n")
    PAGE.write_text(page(figures))


def replaced(before: Mapping[str, Any], pairs: list[dict[str, Any]], on: Mapping[str, Any]) -> dict[str, Any]:
    """Return a part of the figures with comparisons in place of those of the same pairs.

    The conditions belong to each model. Those of before stay as long as a comparison of theirs does.
    """
    checked = {_pair(row) for row in pairs}
    others = [row for row in before["pairs"] if _pair(row) not in checked]
    kept = {row["model"] for row in others}
    measured = {model: list(each) for model, each in before["measured"].items() if model in kept}
    for model in dict.fromkeys(row["model"] for row in pairs):
        measured.setdefault(model, []).append(dict(on))
    return {"measured": measured, "pairs": [*others, *pairs]}


def _pair(row: dict[str, Any]) -> tuple[str, frozenset[str]]:
    """Return what makes a comparison the same as an earlier one, which it then replaces."""
    return row["model"], frozenset((row["one"], row["other"]))


def _with_options(scratch: Path, folder: Path, runtime: Runtime) -> list[dict[str, Any]]:
    """Return the comparisons of every value of every option of a framework, with its other options unchanged."""
    pairs = []
    for framework, option, values in OPTIONS:
        axes = {framework.partition("==")[0]: {option: values}}
        pairs += check(plan([framework], [WITH_OPTIONS], scratch, axes), folder, runtime)
    return pairs


if __name__ == "__main__":
    main()
