"""Parity over all comparable pairs of catalog entries at hand: `docs/parity.md` and the figures behind it.

Each framework's image is made if it is not there; then every model is checked in it as a run does it, and every pair
is judged as a report does it. Nothing is timed. A model that is checked again replaces its own figures alone.
"""

import argparse
import json
import os
import tempfile
import threading
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from orchestrator import matrix, planning, resources
from orchestrator.analysis.parity import PairParity, Work
from orchestrator.catalog import load, load_models
from orchestrator.cli.composition import site_settings
from orchestrator.devices import allocate, inventory
from orchestrator.domain import BuildSettings, Plan
from orchestrator.engine.client import connect
from orchestrator.events import BuildFinished, Event, Notice
from orchestrator.reporting.gather import parity
from orchestrator.results.store import Run
from orchestrator.running import Surroundings
from orchestrator.running.parity import check_parity
from orchestrator.runtimes import DockerRuntime, this_process

ROOT = Path(__file__).parent.parent
FIGURES, PAGE = ROOT / "docs" / "parity.json", ROOT / "docs" / "parity.md"
FRAMEWORKS = (
    *("mxnet==1.5.1", "mxnet==1.9.1", "keras-mxnet==2.2.4.3 on mxnet==1.5.1"),
    *("tensorflow==2.21.0", "torch==2.13.0", "jax==0.12.0.1"),
)
MODELS = ("mlp", "lenet", "cnn", "lstm", "resnet20", "vgg19")


def plan(frameworks: Sequence[str], models: Sequence[str], folder: Path) -> Plan:
    """A plan of one training cell for each framework and model."""
    file = folder / "matrix.yaml"
    lists = f"frameworks: {json.dumps(list(frameworks))}\nmodels: {json.dumps(list(models))}\n"
    file.write_text(f"version: 1\nsystems: {{cpu: {{cpus: 2, memory: 8g}}}}\ntimeout: 30m\n{lists}")
    catalog, known = load(resources.IMAGES / "catalog"), load_models(resources.BENCHMARKS / "models")
    return planning.plan(matrix.load(file, catalog, known), catalog, known)


def check(planned: Plan, folder: Path) -> list[dict[str, Any]]:
    """Carry out the checks of a plan, and judge every pair of cells with the same model."""
    run, user, stop = Run(folder), f"{os.getuid()}:{os.getgid()}", threading.Event()
    folder.mkdir(exist_ok=True)
    runtime = DockerRuntime(connect(os.environ), site_settings(BuildSettings(), None), user=user, owner=this_process())
    provided = runtime.provide(planned.images, jobs=1, logs=folder / "builds", listener=_tell, stop=stop)
    here = inventory()
    given = {cell.system: allocate(cell.system, here) for cell in planned.cells}
    around = Surroundings(run, runtime, here, lambda: datetime.now(UTC), _tell, stop)
    check_parity(planned, provided, given, around, retry_failed=True)
    known = parity(run, planned)
    return [
        _row(one.workload.model, one.framework.label, other.framework.label, known.judge(one, other))
        for number, one in enumerate(planned.cells)
        for other in planned.cells[number + 1 :]
        if one.workload == other.workload
    ]


def _row(model: str, one: str, other: str, found: PairParity) -> dict[str, Any]:
    compared = [
        {"evidence": each.evidence, "what": each.what, "value": each.value, "bar": each.bar}
        for each in found.differences
    ]
    return {
        "model": model, "one": one, "other": other, "work": found.work.value, "reason": found.reason,
        "known_fault": found.known_fault, "compared": compared,
    }  # fmt: skip


def _tell(event: Event) -> None:
    text = event.message if isinstance(event, Notice) else ""
    if isinstance(event, BuildFinished):
        text = f"{event.image}: {event.reason or 'ready'}"
    if text:
        print(text, flush=True)


def page(figures: dict[str, Any]) -> str:
    """The page, from the figures alone."""
    rows = [row for model in MODELS for row in figures.get(model, {}).get("pairs", [])]
    same = [row for row in rows if row["work"] == Work.SAME.value]
    lines = [
        "# Parity of the frameworks at hand",
        "",
        "Written by `python -m bench.parity` from [parity.json](parity.json).",
        "[Measurement](measurement.md#parity) says what is compared, and where the bars come from.",
        f"Of {len(rows)} pairs of frameworks that were given the same model, {len(same)} do the same work.",
        "",
        "| model | pairs | same work | worst first loss | first gradients | loss after 3 steps | after 10 steps |",
        "|---|--:|--:|--:|--:|--:|--:|",
    ]
    for model in MODELS:
        mine = [row for row in rows if row["model"] == model]
        if mine:
            equal = [row for row in mine if row["work"] == Work.SAME.value]
            worst = (_worst(equal, part) for part in ("first loss", "first gradient", "loss after 3", "loss after 10"))
            lines.append(f"| {model} | {len(mine)} | {len(equal)} | {' | '.join(worst)} |")
    for work, title in ((Work.NOT_COMPARABLE, "Not comparable"), (Work.NOT_CHECKED, "Not checked")):
        found = [row for row in rows if row["work"] == work.value]
        lines += ["", f"## {title}", "", *(_exceptions(found) if found else ["None."])]
    lines += ["", "Checked:", "", *_when(figures)]
    return "\n".join(lines) + "\n"


def _worst(rows: list[dict[str, Any]], beginning: str) -> str:
    """The largest difference of a kind with its bar; a dash where nothing of the kind has one."""
    found = [each for row in rows for each in row["compared"] if each["what"].startswith(beginning)]
    if not found:
        return "–"
    worst = max(found, key=lambda each: each["value"])
    return f"{worst['value']:.1e} of {worst['bar']:g}"


def _exceptions(rows: list[dict[str, Any]]) -> Iterator[str]:
    for row in rows:
        fault = f" Known fault: {row['known_fault']}." if row["known_fault"] else ""
        yield f"- {row['model']}, {row['one']} and {row['other']}: {row['reason']}.{fault}"


def _when(figures: dict[str, Any]) -> Iterator[str]:
    for model in MODELS:
        if model in figures:
            on = figures[model]["measured"]
            yield f"- {model}: {on['at'][:10]}, commit {on['commit']}, {on['cpus']} × {on['cpu']}, Linux {on['kernel']}"


def main() -> None:
    """Check the named models, all by default, and write the page."""
    from bench.__main__ import conditions

    parser = argparse.ArgumentParser(prog="python -m bench.parity", description=__doc__)
    parser.add_argument("--only", nargs="+", choices=MODELS, default=list(MODELS), help="only these models")
    parser.add_argument("--frameworks", nargs="+", default=list(FRAMEWORKS), metavar="PIN")
    parser.add_argument("--keep", type=Path, help="folder for the checks, which are not made again if they are there")
    asked = parser.parse_args()
    figures = json.loads(FIGURES.read_text()) if FIGURES.exists() else {}
    with tempfile.TemporaryDirectory(prefix="bench-parity-") as scratch:
        folder = asked.keep or Path(scratch) / "run"
        for model in asked.only:
            pairs = check(plan(asked.frameworks, [model], Path(scratch)), folder)
            figures[model] = {"measured": conditions(), "pairs": pairs}
            FIGURES.write_text(json.dumps(figures, indent=1, ensure_ascii=False) + "\n")
            PAGE.write_text(page(figures))
    print(page(figures))


if __name__ == "__main__":
    main()
