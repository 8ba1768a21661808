"""Parity over all comparable pairs of catalog entries at hand, with `docs/parity.md` and the figures behind it.

Each framework's image is built if it does not exist. Then every model is checked in it as a run does it, and every pair
is judged as a report does it, for training and for inference. LeNet is also checked with other options of each
framework, which are compared with its defaults. Every model in serving engines is compared with frameworks, and files
that exporters of frameworks write with ours.
Nothing is timed. A new check replaces only its own figures.
"""

import argparse
import json
import os
import re
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence, Set
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench.records import ROOT, conditions, where
from orchestrator import matrix, modes, planning, resources
from orchestrator.analysis.parity.work import PairParity, WorkParity
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
MODELS = ("mlp", "lenet", "cnn", "lstm", "resnet20", "vgg19")
TRANSFORMERS = ("encoder", "decoder")
OF_TRANSFORMERS = "transformers"
"""The part of the figures with networks of attention, in the frameworks that have its layers and in engines."""
WITH_ATTENTION = (
    *("torch==2.13.0", "tensorflow==2.21.0", "jax==0.12.0.1", "mxnet==1.9.1"),
    *(f"keras3==3.15.1 on {backend}" for backend in ("tensorflow==2.21.0", "torch==2.13.0", "jax==0.12.0.1")),
)
MODES = modes.OF_MODELS
ENGINES = ("onnxruntime==1.32.0", "openvino==2026.4.1")
OF_ENGINES = "engines"
"""The part of the figures with every model of the program in engines that infer alone, against each framework."""
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
OF_EXPORTERS = "exporters"
"""The part of the figures with the files of frameworks' own exporters, against ours in the same engines."""
EXPORTING = ("torch==2.13.0", "tensorflow==2.21.0", "jax==0.12.0.1")
WITH_EXPORTERS = (
    *(f"{engine} on {framework}" for framework in EXPORTING for engine in ENGINES),
    *("onnxruntime==1.19.2", "onnxruntime==1.19.2 on mxnet==1.9.1"),
    *("openvino==2024.6.0", "openvino==2024.6.0 on mxnet==1.9.1"),
)
EXPORTED = ("mlp", "lenet", "lstm", "bilstm", "gru", "babi_rnn", "resnet20", "hierarchical_rnn", "encoder", "decoder")
PARTS_BESIDE = ("options", OF_ENGINES, OF_TRANSFORMERS, OF_EXPORTERS)
PARTS = {
    "worst first loss": "first loss",
    "first gradients": "first gradient",
    "loss after 3": "loss after 3",
    "loss after 10": "loss after 10",
    "optimizer from its rule": "[0-9]+ steps of .* from its rule",
    "optimizer between sides": "[0-9]+ steps of [^ ]+ on",
    "logits": "logits",
}
"""Columns of the page, with the beginning of the comparisons that belong in each."""


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


def page(figures: dict[str, Any]) -> str:
    """Return the page from the figures alone."""
    rows = [row for model in MODELS for row in figures.get(model, {}).get("pairs", [])]
    same = [row for row in rows if row["work"] == WorkParity.SAME.value]
    option_rows = figures.get("options", {}).get("pairs", [])
    lines = [
        "# Parity of the frameworks at hand",
        "",
        "Written by `python -m bench.parity` from [parity.json](parity.json).",
        "[How parity is proven](measurement/parity.md#parity) explains the comparison and its bars.",
        f"Of {len(rows)} pairs of frameworks with the same model in the same mode, {len(same)} do the same work.",
        "",
        *_table([(model, [row for row in rows if row["model"] == model]) for model in MODELS]),
        *_exceptions(rows),
    ]
    if option_rows:
        first = option_rows[0]["model"]
        kinds = dict.fromkeys(" ".join(row["one"].split(" ")[:-1]) for row in option_rows)
        lines += ["", "## One framework with other options", ""]
        lines += [f"`{first}` in each of them, compared with each other: {_options(option_rows)}.", ""]
        groups = [(kind, [row for row in option_rows if row["one"].startswith(f"{kind} ")]) for kind in kinds]
        lines += [*_table(groups), *_exceptions(option_rows, "###")]
    lines += _of_engines(figures.get(OF_ENGINES, {}).get("pairs", []))
    lines += _of_transformers(figures.get(OF_TRANSFORMERS, {}).get("pairs", []))
    lines += _of_exporters(figures.get(OF_EXPORTERS, {}).get("pairs", []))
    lines += ["", "Checked:", "", *_when(figures)]
    return "\n".join(lines) + "\n"


def _of_engines(rows: list[dict[str, Any]]) -> Iterator[str]:
    """Yield the section of serving engines, if anything of it was checked."""
    if not rows:
        return
    names = dict.fromkeys(row["model"] for row in rows)
    sides = dict.fromkeys(row[side] for row in rows for side in ("one", "other"))
    same = [row for row in rows if row["work"] == WorkParity.SAME.value]
    yield from ("", "## Serving engines", "")
    yield f"Inference of {len(names)} models in {', '.join(sides)}."
    yield from (f"Of {len(rows)} pairs with an engine, {len(same)} do the same work.", "")
    yield from _table([(name, [row for row in rows if row["model"] == name]) for name in sorted(names)])
    yield from _exceptions(rows, "###")


def _of_transformers(rows: list[dict[str, Any]]) -> Iterator[str]:
    """Yield the section of networks of attention, if any of them was checked."""
    if not rows:
        return
    names = dict.fromkeys(row["model"] for row in rows)
    sides = dict.fromkeys(row[side] for row in rows for side in ("one", "other"))
    same = [row for row in rows if row["work"] == WorkParity.SAME.value]
    yield from ("", "## Transformers", "")
    yield f"{' and '.join(f'`{name}`' for name in names)}, each at its first size, in {', '.join(sides)}."
    yield "Serving engines are in pairs of inference alone."
    yield from (f"Of {len(rows)} pairs, {len(same)} do the same work.", "")
    yield from _table([(name, [row for row in rows if row["model"] == name]) for name in names])
    yield from _exceptions(rows, "###")


def _of_exporters(rows: list[dict[str, Any]]) -> Iterator[str]:
    """Yield the section of files by exporters of frameworks, if any of them was checked."""
    if not rows:
        return
    names = dict.fromkeys(row["model"] for row in rows)
    sides = dict.fromkeys(row[side] for row in rows for side in ("one", "other") if " on " in row[side])
    same = [row for row in rows if row["work"] == WorkParity.SAME.value]
    yield from ("", "## Files by exporters of frameworks", "")
    yield f"{', '.join(f'`{name}`' for name in names)}, each compared with the same engine on our own file."
    yield f"Of {len(rows)} pairs, {len(same)} do the same work."
    yield ""
    yield from _table([(side, [row for row in rows if side in {row["one"], row["other"]}]) for side in sides])
    yield from _exceptions(rows, "###")


def _table(groups: Sequence[tuple[str, list[dict[str, Any]]]]) -> Iterator[str]:
    """Yield one row for each group and mode, with the equal pairs and their largest differences."""
    yield f"| {' | '.join(('', 'mode', 'pairs', 'same work', *PARTS))} |"
    yield f"|---|---|--:|--:|{'--:|' * len(PARTS)}"
    for name, rows in groups:
        for mode in MODES:
            rows_of_mode = [row for row in rows if row.get("mode", "train") == mode]
            equal = [row for row in rows_of_mode if row["work"] == WorkParity.SAME.value]
            if rows_of_mode:
                worst = " | ".join(_worst(equal, pattern) for pattern in PARTS.values())
                yield f"| {name} | {mode} | {len(rows_of_mode)} | {len(equal)} | {worst} |"


def _options(rows: list[dict[str, Any]]) -> str:
    values = dict.fromkeys(row[side].rpartition(" ")[2] for row in rows for side in ("one", "other"))
    return ", ".join(f"`{value}`" for value in sorted(values))


def _worst(rows: list[dict[str, Any]], pattern: str) -> str:
    """Return the largest difference of a kind with its bar, or a dash if there is none."""
    compared = [each for row in rows for each in row["compared"] if re.match(pattern, each["what"])]
    if not compared:
        return "–"
    worst = max(compared, key=lambda each: each["value"])
    return f"{worst['value']:.1e} of {worst['bar']:g}"


def _exceptions(rows: list[dict[str, Any]], level: str = "##") -> Iterator[str]:
    """Yield the pairs that do not the same work, by verdict."""
    for work, title in ((WorkParity.NOT_COMPARABLE, "Not comparable"), (WorkParity.NOT_CHECKED, "Not checked")):
        exceptions = [row for row in rows if row["work"] == work.value]
        yield from ("", f"{level} {title}", "")
        yield from (_exception(row) for row in exceptions)
        if not exceptions:
            yield "None."


def _exception(row: dict[str, Any]) -> str:
    fault = f" Known fault: {row['known_fault']}." if row["known_fault"] else ""
    where = f"{row['model']} ({row.get('mode', 'train')}), {row['one']} and {row['other']}"
    return f"- {where}: {row['reason']}.{fault}"


def _when(figures: dict[str, Any]) -> Iterator[str]:
    for model in (*MODELS, *PARTS_BESIDE):
        if model in figures:
            yield f"- {model}: {where(figures[model]['measured'])}"


def main() -> None:
    """Check the named models, or all of them by default, and write the page."""
    parser = argparse.ArgumentParser(prog="python -m bench.parity", description=__doc__)
    parser.add_argument("--only", nargs="+", choices=(*MODELS, *PARTS_BESIDE), default=[*MODELS, *PARTS_BESIDE])
    parser.add_argument(
        "--models", nargs="+", metavar="MODEL", help="with --only engines or exporters: these of the models alone"
    )
    parser.add_argument("--frameworks", nargs="+", default=list(FRAMEWORKS), metavar="PIN")
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
                planned = plan(arguments.frameworks, [name], Path(scratch), cpus=arguments.cpus)
                pairs = check(planned, folder, runtime)
            figures[name] = {"measured": conditions(), "pairs": pairs}
            FIGURES.write_text(json.dumps(figures, indent=1, ensure_ascii=False) + "\n")
            PAGE.write_text(page(figures))
    print(page(figures))


def _of_attention(scratch: Path, folder: Path, runtime: Runtime, cpus: int) -> list[dict[str, Any]]:
    """Return the comparisons of networks of attention, between frameworks and of inference with engines too."""
    planned = plan((*WITH_ATTENTION, *ENGINES), TRANSFORMERS, scratch, cpus=cpus)
    engines = {cell.framework.label for cell in planned.cells if f"{cell.framework.name}==" in "".join(ENGINES)}
    pairs = check(planned, folder, runtime)
    return [row for row in pairs if row["mode"] == "infer" or not {row["one"], row["other"]} & engines]


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
        sides = [*arguments.frameworks, *ENGINES]
        planned = plan(sides, [model], scratch, of_modes=["infer"], cpus=arguments.cpus)
        engines = {cell.framework.label for cell in planned.cells if f"{cell.framework.name}==" in "".join(ENGINES)}
        pairs = [row for row in check(planned, folder, runtime) if {row["one"], row["other"]} & engines]
        _replace(figures, OF_ENGINES, pairs)


def _replace(figures: dict[str, Any], part: str, pairs: list[dict[str, Any]]) -> None:
    """Put comparisons into a part of the figures, in place of those of the same pairs, and write it."""
    checked = {_pair(row) for row in pairs}
    others = [row for row in figures.get(part, {}).get("pairs", []) if _pair(row) not in checked]
    figures[part] = {"measured": conditions(), "pairs": [*others, *pairs]}
    FIGURES.write_text(json.dumps(figures, indent=1, ensure_ascii=False) + "\n")
    PAGE.write_text(page(figures))


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
