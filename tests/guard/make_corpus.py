"""Make the stored runs of `tests/guard/corpus`, as commit 31d338e makes them: a record of how, not a tool to run again.

The corpus is frozen. This file uses the fakes and the writing code of that commit, so it may stop working later; what
it made is what counts. Usage: python -m tests.guard.make_corpus FOLDER [RESULTS]
"""

import contextlib
import json
import random
import shutil
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from orchestrator import catalog, matrix
from orchestrator.user_files import PrintedMetric, Script, ScriptFile
from orchestrator.bundles.loaded import register
from orchestrator.domain import (
    Cell,
    Environment,
    Framework,
    ImageSpec,
    Mode,
    Options,
    Plan,
    Skip,
    Status,
    System,
    Workload,
)
from orchestrator.planning import check_id
from orchestrator.processes import Cause, Stop, Watch
from orchestrator.regression import Gate, Known, Rules, pairing, parse
from orchestrator.regression.bisection_record import LeftOut
from orchestrator.regression.model import Verdict
from orchestrator.regression.night_files import NightFiles
from orchestrator.regression.night_model import Ending, Judgement, Tonight, Trying
from orchestrator.regression.pairing import EVERYTHING, Pairing, Selection
from orchestrator.results.parity.checks import Checks
from orchestrator.results.contract import Block, Conditions, GpuConditions, Memory
from orchestrator.results.records import EnvironmentRecord
from orchestrator.results.parity.contract import Dropout, ParityOutcome
from orchestrator.results.scripts import PrintedMemory, PrintedValues, ScriptResult
from orchestrator.results.store import Run, Stored
from orchestrator.running import Policy, execute
from orchestrator.runtimes import Ended, Task
from tests.unit.bundles.carried_bundle import a_record, opened
from tests.unit.regression import night_records, search_records, trials
from tests.unit.regression.night_fakes import CELL, pair, regression
from tests.unit.reporting import synthetic as s
from tests.unit.running.running_fakes import FakeRuntime, exiting, result_for, surroundings

PARITY = json.loads((Path(__file__).parents[1] / "golden/contract/parity.json").read_text())
CATALOG = Path(__file__).parents[1] / "unit/catalog/fixtures"
HOST = {
    "hostname": "bench-1", "cpu": "Example CPU", "cpus": 2, "cores": 2, "memory_bytes": 16_000_000_000,
    "kernel": "6.1.0", "engine": "24.0.7", "governor": "performance", "gpus": [], "driver": None, "machine": "x86_64",
}  # fmt: skip


def write(  # noqa: PLR0913 -- one argument per thing that a case may want
    run: Run,
    plan: Plan,
    stored: Sequence[Stored],
    *,
    created_at: str = "2026-01-02T03:04:05+00:00",
    host: Mapping[str, Any] = HOST,
    runtime: str = "docker",
    environments: Sequence[EnvironmentRecord] | None = None,
) -> Run:
    """Write a run with its repeats, logs of what failed, and environments."""
    plan = builders(plan)
    record = s.record(plan, run.name)
    run.folder.mkdir(parents=True, exist_ok=True)
    run.write_record(record.model_copy(update={"created_at": created_at, "host": dict(host), "runtime": runtime}))
    for item in stored:
        outcome = item.outcome
        folder = run.repeat_folder(outcome.cell_id, outcome.repeat)
        folder.mkdir(parents=True, exist_ok=True)
        answer = item.result or item.printed
        if answer is not None:
            (folder / "result.json").write_text(answer.model_dump_json(by_alias=True, exclude_none=True))
        run.write_outcome(outcome)
        if outcome.log and outcome.status.is_failure:
            (run.folder / outcome.log).write_text(s.tail(outcome))
    run.write_environments(s.environments(plan) if environments is None else environments)
    return run


def quick(cell: Cell, rates: Sequence[float], **changes: Any) -> list[Stored]:
    """`ok` repeats without warm-up blocks and with few blocks, to be small on disk."""
    small = []
    for item in s.ok(cell, rates, spread=0.004):
        assert item.result is not None
        update = {"warmup": item.result.warmup[:1], "latency_s": item.result.latency_s[:60]} | changes
        small.append(replace(item, result=item.result.model_copy(update=update)))
    return small


# Outcomes ------------------------------------------------------------------------------------------------------------


def outcomes(results: Path) -> None:
    """Every status, disturbed, remeasured and retried repeats, a run that was stopped, one that was resumed."""
    example(Run(results / "20260102T030405Z-abcd"))
    every_status(Run(results / "20260103T030405Z-abce"))
    disturbed(results / "20260104T030405Z-abcf")
    stopped(Run(results / "20260105T030405Z-abd0"))
    rotten(Run(results / "20260106T030405Z-abd1"))


def example(run: Run) -> None:
    """A winner, a tie, a variant, epochs with accuracy, many failures and a skip: the example of the golden reports."""
    mxnet, imperative = (s.cell(s.MXNET, options=(("hybridize", flag),)) for flag in (True, False))
    tensorflow, torch = s.cell(s.TENSORFLOW), s.cell(s.TORCH)
    keras = s.cell(s.KERAS)
    mlps = [s.cell(framework, s.MLP) for framework in (s.MXNET, s.TORCH)]
    timed, once = s.cell(s.MXNET, s.MLP_EPOCHS, epochs=3), s.cell(s.TORCH, s.MLP_EPOCHS, epochs=1)
    alike = s.cell(s.KERAS, s.MLP_EPOCHS, epochs=3)
    far = s.cell(s.MXNET, system=s.GPU, options=(("hybridize", True),))
    cells = [mxnet, imperative, tensorflow, torch, keras, *mlps, timed, once, alike, far]
    skips = (Skip("tensorflow-2.21.0-4_gpu/lenet-train-b200", "excluded by matrix.yaml:12"),)
    stored = [
        *s.ok(mxnet, [13_402, 13_190, 13_515]),
        *s.ok(imperative, [9_120, 9_210, 9_034]),
        *s.ok(tensorflow, [7_411, 7_502, 7_388]),
        *s.ok(torch, [6_950, 7_041])[:2],
        s.failed(torch, 2, Status.TIMEOUT, "no result within 600 s"),
        *[s.failed(each, repeat, Status.IMPORT_FAILED, s.MARKED) for each in (keras, alike) for repeat in range(3)],
        *s.ok(timed, [52_000, 51_400, 52_700]),
        *s.ok(once, [49_100, 48_800, 49_500]),
        *s.ok(mlps[0], [21_040, 22_400, 20_110], spread=0.08),
        *s.ok(mlps[1], [20_480, 21_960, 21_700], spread=0.08),
        *[s.failed(far, repeat, Status.NO_DEVICE, "4_gpu needs 4 GPUs; this host has 0") for repeat in range(2)],
    ]
    write(run, s.plan(cells, skips, ("exclude 2 matches nothing",)), stored)


def every_status(run: Run) -> None:
    """A cell for each status, one that fails as it is expected to, and one that fails in each repeat otherwise."""
    torch = [replace(s.TORCH, version=f"2.{number}.0") for number in range(len(Status))]
    cells = [s.cell(framework, repeats=2) for framework in torch]
    expected = s.cell(replace(s.TORCH, version="3.0.0"), repeats=2, expect=Status.OOM_DEVICE)
    mixed = s.cell(replace(s.TORCH, version="3.1.0"), repeats=4)
    stored: list[Stored] = []
    for number, (status, cell) in enumerate(zip(Status, cells, strict=True)):
        if status is Status.OK:
            stored += quick(cell, [5000.0, 5050.0])
        else:
            stored += [
                s.failed(cell, repeat, status, f"it ended as {status.value}: 100 % | of it") for repeat in (0, 1)
            ]
        if number % 3 == 0:
            stored[-1] = replace(stored[-1], outcome=replace(stored[-1].outcome, attempts=3, idle_wait_s=12.5))
    stored += [s.failed(expected, repeat, Status.OOM_DEVICE, "CUDA out of memory") for repeat in (0, 1)]
    stored += quick(mixed, [4000.0])
    stored += [
        s.failed(mixed, 1, Status.FAILED, "killed by SIGSEGV; its last words: core dumped"),
        s.failed(mixed, 2, Status.OUTPUT_LIMIT, "left 3 GB in its folder; at most 2 GB"),
        s.failed(mixed, 3, Status.FAILED, "killed by SIGSEGV; its last words: core dumped"),
    ]
    stored[-1] = replace(stored[-1], outcome=replace(stored[-1].outcome, log_omitted_bytes=1_234_567))
    plan = s.plan([*cells, expected, mixed])
    made = [
        EnvironmentRecord(image=image.name, status=Status.BUILD_FAILED, reason="no matching distribution", log="x.log")
        if image.framework.version == "2.1.0"
        else EnvironmentRecord(
            image=image.name, status=Status.OK, reference=f"{image.name}-0123", image_id="sha256:" + "ef" * 32,
            base_digest="python@sha256:" + "cd" * 32, size_bytes=1_234_567_890, seccomp="default@sha256:12",
            versions={"torch": image.framework.version, "numpy": "1.26.4"},
        )
        for image in plan.images
    ]  # fmt: skip
    write(run, plan, stored, environments=made)


def under(steal_s: float, latency_steal_s: float = 0.0) -> Callable[..., Ended]:
    """Measure while the hypervisor takes this much of every block of a second."""

    def behave(task: Task, request: dict[str, object], watch: Watch) -> Ended:
        document = result_for(request)
        quiet = {"wall_s": 1.0, "cpu_s": 0.9, "busy_s": 1.0, "frequency_hz": 3_000_000_000, "load": 1.5}
        for number, block in enumerate(document["blocks"]):  # type: ignore[arg-type, var-annotated]
            block["conditions"] = quiet | {"steal_s": steal_s if number % 4 else 0.0}
        document["latency_conditions"] = quiet | {"steal_s": latency_steal_s}
        task.log.write_text("measured\n")
        (task.folder / "result.json").write_text(json.dumps(document))
        return Ended(Cause.EXITED, 0, wall_s=1.5, create_s=0.1)

    return behave


def fake_cells(count: int, repeats: int) -> Plan:
    spec = ImageSpec("bench/fake", "1-cpu", "cpu", Framework("fake", "1", python="3.11"), Environment("fake", "3.11"))
    cells = [
        Cell(
            f"fake-1-cpu/lenet-train-b{10 * number}", spec.framework, System("cpu", cpus=1),
            Workload("lenet", Mode.TRAIN, 10 * number), spec.name, repeats=repeats,
        )
        for number in range(1, count + 1)
    ]  # fmt: skip
    return Plan("disturbed", 11, (spec,), tuple(cells))


def disturbed(folder: Path) -> None:
    """Carried out: measured again with and without success, a latency pass, a crash in between, a crash at the end."""
    quiet, loud = under(0.0), under(1.0)
    plan = fake_cells(3, repeats=3)
    runtime = FakeRuntime([
        loud, quiet, quiet, under(0.0, latency_steal_s=1.0), quiet, exiting(1), loud, quiet, loud, loud, quiet,
        loud, exiting(1), exiting(1), quiet, exiting(5), exiting(3, "cannot do that"),
    ])  # fmt: skip
    around, _ = surroundings(folder, runtime)
    around.run.write_record(s.record(plan, folder.name).model_copy(update={"host": HOST}))
    list(execute(plan, around, Policy(extra_repeats=1, retries=1)))


def stopped(run: Run) -> None:
    """A run that was stopped: some repeats without outcome, a last one that says `not_run`, one cell untouched."""
    one, two, three = (s.cell(framework, repeats=4) for framework in (s.MXNET, s.TENSORFLOW, s.TORCH))
    stored = [*quick(one, [3000.0, 3030.0]), *quick(two, [2900.0]), s.failed(two, 2, Status.NOT_RUN, "stopped")]
    stored[0] = replace(stored[0], outcome=replace(stored[0].outcome, disturbance="latency pass: 1 CPU", busy="load 3"))
    again = replace(stored[1].outcome, remeasured=1, not_remeasured="timeout: not done within 600 s", attempts=3)
    stored[1] = replace(stored[1], outcome=replace(again, disturbed_blocks=4, disturbance="4 of 10 blocks (0–3): x"))
    write(run, s.plan([one, two, three]), stored)


def rotten(run: Run) -> None:
    """Files that have rotted in every way that readers know."""
    cells = [s.cell(replace(s.TORCH, version=f"2.{number}.0"), repeats=3) for number in range(10)]
    write(run, s.plan(cells), [item for cell in cells for item in quick(cell, [1000.0, 1010.0, 990.0])])
    ways: list[Callable[[Path], object]] = [
        lambda folder: cut(folder / "result.json"),
        lambda folder: (folder / "result.json").unlink(),
        lambda folder: (folder / "outcome.json").unlink(),
        lambda folder: cut(folder / "outcome.json"),
        lambda folder: edit(folder / "result.json", schema=2),
        lambda folder: edit(folder / "result.json", blocks=[]),
        lambda folder: edit(folder / "outcome.json", cell_id="another/cell"),
        lambda folder: edit(folder / "outcome.json", wall_s=1e300),
        lambda folder: (folder / "result.json").write_text('{"schema": 1, "facts": NaN}'),
        lambda folder: edit(folder / "result.json", extra=1),
    ]
    for cell, spoil in zip(cells, ways, strict=True):
        spoil(run.repeat_folder(cell.id, 1))


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:200])


def edit(path: Path, **changes: object) -> None:
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def rotten_records(results: Path) -> None:
    """Runs whose own record is broken, newer, or without a readable plan, beside one that is sound."""
    sound = s.cell(s.TORCH, repeats=2)
    for name in ("20260101T000000Z-0001", "20260101T000000Z-0002", "20260101T000000Z-0003", "20260101T000000Z-0004"):
        write(Run(results / name), s.plan([sound]), quick(sound, [1000.0, 1010.0]))
    cut(results / "20260101T000000Z-0002" / "run.json")
    edit(results / "20260101T000000Z-0003" / "run.json", schema=2)
    edit(results / "20260101T000000Z-0004" / "run.json", plan={"name": "x"})
    torn = write(Run(results / "20260101T000000Z-0000"), s.plan([sound]), quick(sound, [1000.0, 1010.0]))
    cut(torn.folder / "environments.json")


# Parity, floors, options, epochs, latencies --------------------------------------------------------------------------


def answer(run: Run, cell: Cell, *, folder: str = "", **changes: Any) -> None:
    """Write a check that ended `ok`."""
    check = check_id(cell)
    Checks(run).write_outcome(
        ParityOutcome(
            check=check, content="0" * 16, status=Status.OK, folder=folder or check, log=f"parity/{check}/log.txt",
            started_at="2026-01-02T03:04:05Z", wall_s=4.5, exit_code=0, reused=bool(folder),
        )
    )  # fmt: skip
    if not folder:
        text = json.dumps(PARITY | {"cell": check} | changes)
        (Checks(run).folder(check) / "result.json").write_text(text)


def no_answer(run: Run, cell: Cell, status: Status, reason: str) -> None:
    check = check_id(cell)
    Checks(run).write_outcome(
        ParityOutcome(check=check, content="0" * 16, status=status, reason=reason, folder=check, log="parity/x.txt")
    )


def work(results: Path) -> None:
    """Groups with every verdict of parity, a known fault, the floor, options, inference, and bounds of latencies."""
    run = Run(results / "20260107T030405Z-abd2")
    small = replace(s.LENET, model="lenet")
    same = [s.cell(framework, small, repeats=3) for framework in (s.TORCH, s.TENSORFLOW)]
    other = s.cell(s.MXNET, small, options=(("hybridize", True),))
    channels = Workload("resnet20", Mode.TRAIN, 400)
    fault = s.cell(s.KERAS, channels, options=(("layout", "channels_last"),))
    sound = s.cell(s.TORCH, channels)
    failing = s.cell(replace(s.TORCH, version="2.12.0"), small)
    missing = s.cell(replace(s.TORCH, version="2.11.0"), small)
    broken = s.cell(replace(s.TORCH, version="2.10.0"), small)
    versions = s.cell(replace(s.TORCH, version="2.9.0"), small)
    apart = s.cell(replace(s.TORCH, version="2.8.0"), small)
    reused = s.cell(replace(s.TORCH, version="2.13.0", packages=(("numpy", "2.0.0"),)), small)
    noop = s.cell(Framework("noop", "1", python="3.11"), small)
    infer = Workload("lenet", Mode.INFER, 32)
    inferring = [s.cell(framework, infer, repeats=3) for framework in (s.TORCH, s.TENSORFLOW, s.MXNET)]
    amp = s.cell(s.TORCH, s.MLP, options=(("precision", "amp"),))
    full = s.cell(s.TORCH, s.MLP)
    alone = s.cell(Framework("noop", "1", python="3.11"), Workload("resnet20", Mode.TRAIN, 8))
    unlike = [s.cell(framework, s.MLP_EPOCHS, repeats=2) for framework in (s.TORCH, s.TENSORFLOW)]
    rates = {
        same[0]: [9000, 9050, 8970], same[1]: [8800, 9060, 8900], other: [12000, 12100, 11900],
        fault: [15000, 15100, 14900], sound: [14000, 14100, 14050],
        failing: [7000, 7050, 6990], missing: [6900, 6950, 7000], broken: [6000, 6010, 6020],
        versions: [5000, 5010, 5020], apart: [8000, 8050, 8010], reused: [9010, 9020, 9000],
        noop: [900_000, 910_000, 905_000], inferring[0]: [40_000, 40_400, 39_900],
        inferring[1]: [40_100, 40_300, 40_000], inferring[2]: [39_000], amp: [30_000, 30_100, 30_050],
        full: [25_000, 25_050, 25_100], alone: [700_000, 710_000, 705_000], unlike[0]: [5000, 5010],
        unlike[1]: [6000, 6010],
    }  # fmt: skip
    cells = [replace(cell, repeats=len(values)) for cell, values in rates.items()]
    stored = [item for cell, values in zip(cells, rates.values(), strict=True) for item in s.ok(cell, values)]
    few = {failing.id: 40, missing.id: 0, broken.id: 120}
    stored = [
        replace(
            item, result=item.result.model_copy(update={"latency_s": item.result.latency_s[: few[item.result.cell]]})
        )
        if item.result and item.result.cell in few
        else replace(item, result=item.result.model_copy(update={"warmup": ()}))  # type: ignore[union-attr]
        for item in stored
    ]
    plan = replace(builders(s.plan(cells)), parity=True)
    write(run, plan, stored)
    answer(run, same[0])
    answer(run, same[1])
    answer(run, other, first_loss=0.5)
    losses = PARITY["losses"] | {"10": PARITY["losses"]["10"] * 1.05}
    answer(run, fault, losses=losses, layers=CONVOLUTION, counted=CONVOLUTION)
    answer(run, sound, layers=CONVOLUTION, counted=CONVOLUTION)
    no_answer(run, failing, Status.TIMEOUT, "not done within 600 s")
    answer(run, broken)
    cut(Checks(run).folder(check_id(broken)) / "result.json")
    answer(run, versions, measurement_version=PARITY["measurement_version"] + 1)
    answer(run, apart, first_loss=0.5)
    answer(run, reused, folder=check_id(same[0]))
    for cell in inferring:
        answer(run, cell)
    answer(run, inferring[2], inferred=None)
    answer(run, amp, facts=PARITY["facts"] | {"precision": "amp"})
    answer(run, full)
    answer(run, unlike[0])
    answer(run, unlike[1], parameters=PARITY["parameters"] + 10)
    not_asked(Run(results / "20260108T030405Z-abd3"))
    epochs(Run(results / "20260109T030405Z-abd4"))


def evidence(results: Path) -> None:
    """A group for each kind of evidence by which parity tells two cells apart: a correct answer beside another one."""
    sys.path.insert(0, str(Path(__file__).parents[1] / "unit/analysis"))
    import parity_results as p

    adam = {"name": "adam", "learning_rate": 0.001, "beta_1": 0.9, "beta_2": 0.999, "epsilon": 1e-8}
    dropping = {"dropout_1": Dropout(rate=0.5, losses=(2.3, 2.31))}
    not_dropping = {"dropout_1": Dropout(rate=0.5, losses=(2.3, 2.3))}
    changes: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
        "same": ({}, {}),
        "weights": ({}, {"weights": p.scaled(p.WEIGHTS, "dense_1.weight", 1.00001)}),
        "gradients": ({}, {"gradients": p.scaled(p.GRADIENTS, "dense_1.weight", 1.001)}),
        "edges": ({}, {"gradients": p.scaled(p.GRADIENTS, "conv2d_1.weight", 1.001)}),
        "losses": ({}, {"losses": {"1": 2.28, "3": 2.25, "10": 2.06}}),
        "rounding": ({}, {"losses": {"1": 2.28, "3": 2.25, "10": 2.0501}}),
        "logits": ({}, {"logits": p.tensor(1.0, -1.1)}),
        "rule": ({}, {"optimizer": p.steps(dense_1__weight=p.stepped(0.47))}),
        "settings": ({}, {"optimizer": p.steps(p.SGD | {"momentum": 0.8})}),
        "adam": ({"optimizer": p.steps(adam)}, {"optimizer": p.steps(adam, conv2d_1__weight=p.stepped(5e-5))}),
        "dropout": ({"dropouts": dropping}, {"dropouts": not_dropping}),
        "lacking": ({}, {"lacking": ("weights",)}),
        "unasked": ({}, {"lacking": ("predict",), "logits": None, "inferred": None}),
        "reduced": ({}, {"first_loss": 2.31}),
        "mixed": ({}, {"first_loss": 2.31}),
        "shapes": ({}, {"layers": p.layers(p.NativeLayer(name="dense_1", shape=(11,), parameters=11_530))}),
    }
    options: dict[str, tuple[Options, Options]] = {
        "reduced": ((("precision", "bf16"),), (("precision", "bf16"),)),
        "mixed": ((), (("precision", "bf16"),)),
    }
    cells = {
        name: [
            s.cell(framework, Workload(name, Mode.TRAIN, 200), repeats=2, options=given)
            for framework, given in zip((s.TORCH, s.MXNET), options.get(name, ((), ())), strict=True)
        ]
        for name in changes
    }
    every = [cell for pair in cells.values() for cell in pair]
    stored = [
        with_result(item, warmup=(), blocks=item.result.blocks[:2], latency_s=())  # type: ignore[union-attr]
        for number, cell in enumerate(every)
        for item in s.ok(cell, [1000.0 + number, 1001.0 + number], spread=0)
    ]
    run = Run(results / "20260111T030405Z-abd6")
    write(run, replace(s.plan(every), parity=True), stored)
    for name, sides in cells.items():
        for cell, changed in zip(sides, changes[name], strict=True):
            answer(run, cell, **p.result(**changed).model_dump(mode="json", by_alias=True, exclude={"cell"}))


CONVOLUTION = [
    {"name": "conv2d_1", "shape": [6, 28, 28], "parameters": 0},
    {"name": "max_pool_1", "shape": [6, 14, 14], "parameters": 0},
    *PARITY["layers"],
]


def builders(plan: Plan) -> Plan:
    """The same with the builders that the catalog has, so that `noop` is known to compute nothing."""
    names = {"noop": "noop", "torch": "torch", "tensorflow": "tensorflow", "mxnet": "mxnet", "keras-mxnet": "keras"}
    images = tuple(
        replace(image, environment=replace(image.environment, builder=names.get(image.framework.name, "fake")))
        for image in plan.images
    )
    return replace(plan, images=images)


def not_asked(run: Run) -> None:
    """A run that was not to check parity; options and variables as axes; several systems and packages."""
    big = System("big", cpus=8, memory_bytes=32_000_000_000)
    cells = [
        s.cell(s.TORCH, options=(("compile", compiled), ("env.OMP", text)), system=system)
        for compiled in (True, False)
        for text in ("1", "2")
        for system in (s.CPU, big)
    ]
    cells = [
        replace(cell, repeats=2, id=cell.id.replace("/", "-big/") if cell.system is big else cell.id) for cell in cells
    ]
    pinned = s.cell(replace(s.TORCH, packages=(("numpy", "2.0.0"),)), repeats=2)
    values = [[1000.0 + 10 * number, 1001.0 + 10 * number] for number in range(len(cells))]
    stored = [item for cell, rates in zip(cells, values, strict=True) for item in quick(cell, rates)]
    stored += quick(pinned, [1111.0, 1112.0])
    write(run, s.plan([*cells, pinned]), stored)


def epochs(run: Run) -> None:
    """Epoch runs: accuracy that rises, that is 0, with fewer evaluations than epochs, on a mounted dataset."""
    signs = Workload("lenet", Mode.TRAIN, 50, "signs")
    cells = [
        s.cell(s.TORCH, signs, epochs=3), s.cell(s.TENSORFLOW, signs, epochs=3), s.cell(s.MXNET, signs, epochs=3),
        s.cell(s.TORCH, s.MLP_EPOCHS, epochs=1, repeats=1),
    ]  # fmt: skip
    stored = [item for cell in cells for item in s.ok(cell, [1000.0, 1010.0, 1020.0][: cell.repeats])]
    changed = []
    for item in stored:
        found = item.result
        assert found is not None
        facts = found.facts | {"data": {"name": "signs", "training": 600, "testing": 100, "sha256": "ab" * 32}}
        update: dict[str, Any] = {"facts": facts, "warmup": ()}
        if item.outcome.cell_id == cells[1].id:
            update["epochs"] = tuple(each.model_copy(update={"test_accuracy": 0.0}) for each in found.epochs)
        if item.outcome.cell_id == cells[2].id and item.outcome.repeat == 1:
            update["epochs"] = ()
        changed.append(replace(item, result=found.model_copy(update=update)))
    write(run, replace(s.plan(cells), name="signs"), changed)


# Scripts, hosts, GPUs, older records ---------------------------------------------------------------------------------

METRICS = (
    PrintedMetric("speed", r"speed: (\S+)", "samples/s", PrintedMetric.Better.HIGHER),
    PrintedMetric("loss", r"loss: (\S+)", "nats", PrintedMetric.Better.LOWER),
)


def scripts(results: Path) -> None:
    """Script cells with their figures, one that fails, one whose file rotted, and one beside a model."""
    run = Run(results / "20260110T030405Z-abd5")
    files = (ScriptFile("train.py", 120, "1" * 64), ScriptFile("data/words.txt", 20, "2" * 64))
    script = Script("word-lm", METRICS, "train.py", files, ("--epochs", "2"), (("GREETING", "hello"),))
    older = Script("old", METRICS[:1], path="/home/somebody/old.py")
    model = s.cell(s.TORCH, repeats=2)
    scripted = [
        replace(
            s.cell(framework, Workload(one.name, Mode.SCRIPT, 1), repeats=3), script=one,
            id=f"{framework.name}-{framework.version}-cpu/{one.name}-script",
        )
        for framework, one in ((s.TORCH, script), (s.MXNET, script), (s.TENSORFLOW, script), (s.TORCH, older))
    ]  # fmt: skip
    stored = quick(model, [1000.0, 1010.0])
    for number, cell in enumerate(scripted):
        for repeat in range(3):
            if number == 1 and repeat == 2:
                stored.append(s.failed(cell, repeat, Status.FAILED, "the script exited with 1"))
                continue
            stored.append(replace(s.ok(cell, [1.0] * 3)[repeat], result=None, printed=printed(cell, repeat, number)))
    plan = s.plan([model, *scripted])
    write(run, plan, stored)
    cut(run.repeat_folder(scripted[2].id, 1) / "result.json")
    for cell in scripted[:3]:
        (run.repeat_folder(cell.id, 0) / "model.bin").write_text("left by the script\n")


SCRIPTED = {"python": "3.11.7", "cpu": "Example CPU"}


def printed(cell: Cell, repeat: int, number: int) -> ScriptResult:
    assert cell.script is not None
    values = {
        each.name: PrintedValues(values=(1000.0 + number, 1010.0 + 3 * repeat), matches=2 + repeat)
        for each in cell.script.metrics
    }
    return ScriptResult(
        measurement_version=4, cell=cell.id, repeat=repeat, started_at="2026-01-10T03:04:05Z", wall_s=12.25 + repeat,
        metrics=values, memory=PrintedMemory(peak_rss_bytes=300_000_000), facts=SCRIPTED,
    )  # fmt: skip


def hosts(results: Path) -> None:
    """Runs of several hosts: two that differ, one of the first's name again, one with GPUs, one measured otherwise."""
    far = HOST | {"hostname": "far-7", "cpu": "Other CPU", "cpus": 64, "cores": 32, "memory_bytes": 256 * 10**9}
    gpu = far | {
        "hostname": "gpu-1", "driver": "550.54",
        "gpus": [{"index": index, "name": "Example GPU", "memory_bytes": 80 * 10**9} for index in range(4)],
    }  # fmt: skip
    cells = [s.cell(s.TORCH, repeats=3), s.cell(s.MXNET, repeats=3), s.cell(Framework("noop", "1", python="3.11"))]
    on_gpu = s.cell(s.TORCH, system=s.GPU, repeats=3)
    plan = builders(s.plan([*cells, on_gpu]))
    for number, (host, factor, version) in enumerate(
        ((HOST, 1.0, 1), (far, 2.5, 1), (HOST, 1.004, 1), (gpu, 2.4, 1), (far, 2.6, 2))
    ):
        run = Run(results / f"2026020{number + 1}T030405Z-000{number}")
        stored = [
            item
            for place, cell in enumerate(cells)
            for item in quick(cell, [factor * (5000 - 700 * place) * each for each in (1.0, 1.01, 0.995)])
        ]
        stored = [
            replace(item, result=item.result.model_copy(update={"measurement_version": version}))  # type: ignore[union-attr]
            for item in stored
        ]
        if host.get("driver"):
            stored += on_gpus(on_gpu)
        else:
            stored += [s.failed(on_gpu, repeat, Status.NO_DEVICE, "4_gpu needs 4 GPUs") for repeat in range(3)]
        named = replace(plan, warnings=("one | warning",) if number == 1 else ())
        made = s.environments(plan)
        if number == 1:
            made = [each.model_copy(update={"image_id": "sha256:" + "77" * 32}) for each in made]
        write(
            run, named, stored, created_at=f"2026-02-0{number + 1}T03:04:05+00:00", host=host, environments=made,
            runtime="venv" if number == 4 else "docker",
        )  # fmt: skip
        if number:
            (run.folder / ".merged").write_text("")


def on_gpus(cell: Cell) -> list[Stored]:
    """Repeats with what four GPUs went through."""

    def conditions(number: int) -> Conditions:
        gpus = tuple(
            GpuConditions(
                clock_hz=1_400_000_000 + 10_000_000 * number, temperature_c=60.0 + number, energy_j=150.0 + index,
                power_limited_s=0.05 * number, heat_limited_s=0.0, slowed_by=("power_limit",) if number > 5 else (),
            )
            for index in range(4)
        )  # fmt: skip
        return Conditions(wall_s=1.0, cpu_s=0.9, busy_s=1.1, steal_s=0.01, gpus=gpus)

    found = []
    for item in quick(cell, [90_000.0, 91_000.0, 90_500.0]):
        assert item.result is not None
        blocks = tuple(
            Block(
                steps=each.steps, samples=each.samples, wall_s=each.wall_s, cpu_s=each.cpu_s, conditions=conditions(at)
            )
            for at, each in enumerate(item.result.blocks)
        )
        memory = Memory(peak_rss_bytes=4 * 10**9, peak_device_bytes=11 * 10**9 + item.outcome.repeat)
        facts = item.result.facts | {"gpus": [{"name": "Example GPU", "driver": "550.54"}] * 4, "precision": "float32"}
        found.append(
            replace(item, result=item.result.model_copy(update={"blocks": blocks, "memory": memory, "facts": facts}))
        )
    return found


def older(results: Path) -> None:  # noqa: C901 -- one step per kind of file
    """Records as earlier versions wrote them: all that was added since left out, and outcomes of the least fields."""
    cells = [s.cell(s.TORCH, repeats=2), s.cell(s.MXNET, repeats=2), s.cell(s.TORCH, s.MLP_EPOCHS, epochs=2, repeats=2)]
    run = write(Run(results / "20251201T030405Z-0001"), s.plan(cells), [
        item for cell in cells for item in s.ok(cell, [1000.0, 1010.0])
    ])  # fmt: skip
    record = json.loads((run.folder / "run.json").read_text())
    plan = record["plan"]
    for key in ("models", "parity", "data", "definitions"):
        plan.pop(key)
    for cell in plan["cells"]:
        for key in ("script", "definition", "output"):
            cell.pop(key)
    for image in plan["images"]:
        for key in ("links", "variables", "package_index"):
            image["environment"].pop(key)
    record.pop("schema")
    record.pop("bundle")
    record["host"] = {"hostname": "old-1", "cpus": 2}
    (run.folder / "run.json").write_text(json.dumps(record))
    for path in run.folder.glob("*/*/*/outcome.json"):
        document = json.loads(path.read_text())
        kept = ("cell_id", "repeat", "status", "reason", "log", "attempts", "started_at", "wall_s")
        path.write_text(json.dumps({key: document[key] for key in kept}))
    for path in run.folder.glob("*/*/*/result.json"):
        document = json.loads(path.read_text())
        for key in ("used", "epochs"):
            document.pop(key, None)
        document["latency_s"] = document["latency_s"][:50]
        path.write_text(json.dumps(document))
    environments = json.loads((run.folder / "environments.json").read_text())
    environments.pop("schema")
    for made in environments["environments"]:
        for key in ("size_bytes", "seccomp", "versions", "base_digest", "log"):
            made.pop(key)
    (run.folder / "environments.json").write_text(json.dumps(environments))
    bare = write(Run(results / "20251202T030405Z-0002"), s.plan(cells[:1]), quick(cells[0], [1000.0, 1010.0]))
    (bare.folder / "environments.json").unlink()


# Regression tests ----------------------------------------------------------------------------------------------------


class Pairer:
    """Pairs two sides over a matrix of which the lines that matter are given, with the catalog of the unit tests."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "m.yaml"
        self.known = Known(catalog.load(CATALOG / "catalog"), dict(catalog.load_models(CATALOG / "models")))

    def __call__(self, baseline: str, candidate: str, text: str = "", selection: Selection = EVERYTHING) -> Pairing:
        given = {line.split(":")[0] for line in text.splitlines()}
        rest = {"version": "1", "frameworks": "[mxnet==1.9.1]", "models": "[lenet]"}
        text += "".join(f"\n{key}: {value}" for key, value in rest.items() if key not in given)
        self.path.write_text(text, encoding="utf-8")
        loaded = matrix.load(self.path, self.known.catalog, self.known.models)
        one = parse(baseline, "--baseline", self.known.catalog)
        other = parse(candidate, "--candidate", self.known.catalog)
        return pairing(loaded, self.known, one, other, selection)


OLD, NEW = "mxnet==1.5.1", "mxnet==1.9.1"
TWO = "models: [lenet, mlp]"


def regressions(results: Path, scratch: Path) -> None:
    """A regression test for each verdict, and for each way in which one is come to."""
    pair_of = Pairer(scratch)
    few, looks = Rules(looks=(4,), confirm=False), Rules(looks=(3, 6))

    def rate(**factors: float) -> Callable[[str, int], float]:
        return trials.steady(**factors)

    def chance(cell: str, repeat: int) -> float:
        """Slower by much at first, and as fast as before on fresh blocks."""
        slow = "1.9.1" in cell and repeat < 3
        return trials.steady()(cell, repeat) * (0.9 if slow else 1.0)

    def loud(cell: str, repeat: int) -> float:
        return 1000 * (1 + random.Random(f"{cell} {repeat}").gauss(0, 0.03))

    edge = rate(**{"1.9.1-cpu/mlp": 1 / 1.02})
    slower, faster = rate(**{"1.9.1": 0.9}), rate(**{"1.9.1": 1.2})
    parity = {"1.9.1": {"first_loss": 0.5}}
    drift = {"1.9.1": {"losses": PARITY["losses"] | {"10": PARITY["losses"]["10"] * 1.001}}}
    moved = {"bench/mxnet:1.9.1-cpu": (("numpy", "1.22.4"), ("six", "1.16.0"), ("mxnet", "1.9.1"))}
    bench = trials.Bench
    given: list[tuple[str, Pairing, trials.Bench, Rules]] = [
        ("slower", pair_of(OLD, NEW), bench(rate=slower, versions=moved), looks),
        ("chance", pair_of(OLD, NEW), bench(rate=chance), looks),
        ("faster", pair_of(OLD, NEW), bench(rate=faster), few),
        ("same", pair_of(OLD, NEW, TWO), bench(), looks),
        ("itself", pair_of(NEW, NEW), bench(), few),
        ("edge", pair_of(OLD, NEW, TWO), bench(rate=edge), looks),
        ("loud", pair_of(OLD, NEW), bench(rate=loud), few),
        ("broke", pair_of(OLD, NEW), bench(ends={"1.9.1": trials.crash}), few),
        ("fixed", pair_of(OLD, NEW), bench(ends={"1.5.1": trials.crash}), few),
        ("gone", pair_of(OLD, NEW), bench(ends={"1.9.1": trials.unsupported}), few),
        ("new", pair_of(OLD, NEW), bench(ends={"1.5.1": trials.unsupported}), few),
        ("unbuilt", pair_of(OLD, NEW),
         bench(unavailable={"bench/mxnet:1.9.1-cpu": trials.unbuildable("bench/mxnet:1.9.1-cpu")}), few),
        ("lost", pair_of(OLD, NEW), bench(ends={"1.9.1": trials.at(trials.lost, 0, 1)}), few),
        ("doubt", pair_of(OLD, NEW), bench(rate=faster, ends={"1.9.1": trials.at(trials.crash, 1)}), few),
        ("again", pair_of(OLD, NEW), bench(rate=slower, ends={"1.9.1": trials.at(trials.crash, 3, 4, 5)}), looks),
        ("python", pair_of(OLD, NEW), bench(facts={"1.9.1": {"python": "3.12.1"}}), few),
        ("other", pair_of(OLD, NEW), bench(parity=parity), few),
        ("drift", pair_of(OLD, NEW), bench(parity=drift), few),
        ("unchecked", pair_of(OLD, NEW), bench(parity_ends={"1.9.1": trials.crash}), few),
        ("metrics", pair_of(OLD, NEW), bench(rate=slower), Rules(
            (Gate("latency_p50", 0.02), Gate("peak_memory", 0.1), Gate("throughput", 0.2, "lenet"),
             Gate("latency_p99", 0.1), Gate("cold_start", 0.05)), (4,), confirm=False)),
        ("inference", pair_of(OLD, NEW, "modes: [train, infer]"), bench(), few),
        ("unasked", pair_of(OLD, NEW, "parity: false"), bench(rate=slower), few),
        ("epochs", pair_of(OLD, NEW, "epochs: 2"), Epochs(rate=slower), Rules(
            (Gate("accuracy", 0.01), Gate("total_time", 0.02)), (4,), confirm=False)),
    ]  # fmt: skip
    systems = "systems: {cpu: {cpus: 1}, 1_gpu: {gpus: 1}}"
    axes = f"{TWO}\noptions: {{mxnet: {{hybridize: [true, false]}}}}"
    one_of_many = rate(**{"1.9.1-cpu/mlp-train-b32-hybridize=false": 0.93})
    pinned = (f"{NEW},numpy==1.22.4", f"{NEW},numpy==1.23.5")
    given += [
        ("lacking", pair_of(NEW, "mxnet==1.4.1", systems), bench(), few),
        ("added", pair_of("mxnet==1.4.1", NEW, systems), bench(), few),
        ("packages", pair_of(*pinned), bench(rate=rate(**{"1.23.5": 1.1})), few),
        ("many", pair_of(OLD, NEW, axes), bench(rate=one_of_many), looks),
    ]
    for number, (name, paired, runtime, rules) in enumerate(given):
        folder = results / f"202603{number + 1:02}T030405Z-{name}"
        trials.begin(folder, paired, rules)
        named(Run(folder))
        trials.go_on(folder, runtime)
    folder = results / "20260330T030405Z-stopped"
    stop = threading.Event()
    trials.begin(folder, pair_of(OLD, NEW, TWO), looks)
    named(Run(folder))
    trials.go_on(folder, trials.Bench(rate=slower, stop_after=9, stop=stop))
    folder = results / "20260331T030405Z-unended"
    trials.begin(folder, pair_of(OLD, NEW), looks)
    named(Run(folder))


def parts(results: Path, scratch: Path) -> None:
    """Regression tests whose metrics have several verdicts, of which the worst counts."""
    pair_of = Pairer(scratch)
    rules = Rules((Gate("throughput", 0.02), Gate("peak_device_memory", 0.05)), (4,), confirm=False)
    slower, faster = trials.steady(**{"1.9.1": 0.9}), trials.steady(**{"1.9.1": 1.1})

    def loud(cell: str, repeat: int) -> float:
        return 1000 * (1 + random.Random(f"{cell} {repeat}").gauss(0, 0.03))

    given = {
        "slower": trials.Bench(rate=slower),
        "faster": trials.Bench(rate=faster),
        "loud": trials.Bench(rate=loud),
        "other": trials.Bench(parity={"1.9.1": {"first_loss": 0.5}}),
    }
    ruled = dict.fromkeys(given, rules)
    given["mostly"] = trials.Bench(ends={"1.9.1": trials.at(trials.crash, 0, 1, 3)})
    ruled["mostly"] = Rules(looks=(4,), confirm=False)
    given["confirmed"] = trials.Bench(rate=slower)
    ruled["confirmed"] = Rules((Gate("throughput", 0.02), Gate("cold_start", 0.05)), (3, 6))
    for number, (name, runtime) in enumerate(given.items(), start=1):
        folder = results / f"202603{number:02}T040405Z-{name}"
        trials.begin(folder, pair_of(OLD, NEW), ruled[name])
        named(Run(folder))
        trials.go_on(folder, runtime)


def named(run: Run) -> None:
    """Give the record the host and the time that its name says."""
    day = run.name[6:8]
    run.write_record(
        run.record().model_copy(
            update={"host": HOST, "runtime": "docker", "created_at": f"2026-03-{day}T03:04:05+00:00"}
        )
    )


class Epochs(trials.Bench):
    """Measures epochs, and an accuracy that is 0 in the candidate."""

    def launch(self, task: Task, *, stop: Stop, watch: Watch) -> Ended:
        ended = super().launch(task, stop=stop, watch=watch)
        request = json.loads((task.folder / "request.json").read_text())
        if request["mode"] == "parity":
            return ended
        path = task.folder / "result.json"
        answer = json.loads(path.read_text())
        accuracy = 0.0 if "1.9.1" in request["cell"] else 0.9 + 0.001 * request["repeat"]
        answer["blocks"] = answer["blocks"][:2]
        score = {"train_loss": 0.5, "test_loss": 0.6, "test_accuracy": accuracy, "evaluation_s": 0.1}
        answer["epochs"] = [score, score]
        path.write_text(json.dumps(answer))
        return ended


# Nights, series, searches --------------------------------------------------------------------------------------------


def nights(results: Path) -> None:
    """Nights of two releases: the host slows down, a release is slower, a night is silent, the CPU changes."""
    draw = random.Random(4)
    releases = ["1.5.1"] * 10 + ["1.6.0"] * 7 + ["1.9.1"] * 7
    for number, release in enumerate(releases, start=1):
        factor = (0.9 if release == "1.9.1" else 1.0) * (0.8 if number > 9 else 1.0)
        facts = {"cpu": "Example CPU"} if number < 4 else {"cpu": "Newer CPU"}
        one, other = (s.cell(replace(s.MXNET, version=each), repeats=3) for each in ("1.4.1", release))
        plan = replace(builders(s.plan([one, other])), parity=number % 2 == 0)
        run = Run(results / f"202604{number:02}T030405Z-{number:04x}")
        stored: list[Stored] = []
        for cell, base in ((one, 1000.0), (other, 1000.0 * factor)):
            if number == 5 and cell is one:
                stored += [s.failed(cell, repeat, Status.FAILED, "exit status 139") for repeat in range(3)]
                continue
            night = base * (1 + draw.gauss(0, 0.003))
            rates = [night * (1 + draw.gauss(0, 0.002)) for _ in range(3)]
            for item in quick(cell, rates):
                assert item.result is not None
                found = item.result.model_copy(
                    update={"facts": item.result.facts | facts, "blocks": item.result.blocks[:3]}
                )
                stored.append(replace(item, result=found))
        made = [
            each.model_copy(
                update={"size_bytes": 10**9 + 10**7 * number, "versions": {"numpy": f"1.{20 + number // 9}.0"}}
            )
            for each in s.environments(plan)
        ]
        write(run, plan, stored, created_at=f"2026-04-{number:02}T03:04:05+00:00", environments=made)
        if number % 2 == 0:
            for cell in (one, other):
                losses = PARITY["losses"] | {"10": 0.65 + 1e-6 * number}
                answer(run, cell, losses=losses)
    (results / "acknowledged.yaml").write_text(
        "version: 1\nacknowledged:\n"
        '  - {cell: "cpu/lenet-*", metric: throughput, release: 1.9.1, up_to: 15%, reason: agreed in the team}\n'
        '  - {cell: "cpu/lenet-*", metric: throughput, date: 2026-04-10, up_to: 10%, reason: less than it was}\n'
    )


def searches(results: Path) -> None:
    """Searches in `bisect.json`: plain, every change, a release that cannot be tested, nothing found, one under way."""
    results.mkdir(parents=True)
    (results / "bisect-20260501T030405Z-0001").mkdir()
    every = search_records.a_search(results / "bisect-20260501T030405Z-0001")
    assert every.found is not None
    host = search_records.Host(search_records.rates(v1_6_0=0.9))
    plain = search_records.done(host, results / "bisect-20260502T030405Z-0002")
    assert plain.found is not None
    broken = search_records.Host(search_records.rates(v1_6_0=0.9), broken=["mxnet==1.6.0", "mxnet==1.5.1"])
    search_records.done(broken, results / "bisect-20260503T030405Z-0003")
    search_records.done(search_records.Host(search_records.rates()), results / "bisect-20260504T030405Z-0004")
    gradual = search_records.Host(search_records.rates(v1_3_1=0.985, v1_4_1=0.985, v1_6_0=0.985, v1_8_0=0.985))
    search_records.done(gradual, results / "bisect-20260505T030405Z-0005", every=True)
    faster = search_records.Host(search_records.rates(v1_6_0=1.2), loud=["mxnet==1.5.1"])
    search_records.done(faster, results / "bisect-20260506T030405Z-0006")
    under_way = search_records.record().model_copy(
        update={"left_out": (LeftOut(release="1.5.0", reason="yanked"),), "host": "test-host"}
    )
    folder = results / "bisect-20260507T030405Z-0007"
    folder.mkdir()
    (folder / "bisect.json").write_text(under_way.model_dump_json(by_alias=True, indent=1) + "\n")
    folder = results / "bisect-20260508T030405Z-0008"
    folder.mkdir()
    (folder / "bisect.json").write_text('{"schema": 1')


def nightly(reports: Path) -> None:
    """Nights of every ending, with every judgement, alarms, acknowledged changes, a moved baseline and a webhook."""
    files = NightFiles(reports)
    slower = tuple(Trying(
        record=night_records.record("2.0.0", judgement, f"it was {judgement.value}", "run-2"),
        regression=regression(
            Tonight(night="n", release="2.0.0", baseline="1.9.1"),
            pair(Verdict.BROKE, reason="import_failed: cannot import"), pair(Verdict.FASTER, 1.3, "cpu/mlp-train-b32"),
            pair(Verdict.NOT_MEASURED, 1.0, "cpu/a", "no device"), pair(Verdict.NOT_COMPARABLE, 1.0, "cpu/b", "parity"),
        ),
        alarms=(night_records.alarm(release="2.0.0", metric="", ratio=None, low=None, high=None, confirmed=None,
                                    reason="import_failed: cannot import"),),
        page="../../../results/run-2/regression/index.html",
    ) for judgement in (Judgement.REGRESSED,))  # fmt: skip
    tried = tuple(
        Trying(record=night_records.record(f"3.{number}.0", judgement, f"why {judgement.value}"))
        for number, judgement in enumerate(Judgement)
    )
    found = [
        night_records.a_night(night="20260601T030000Z-0001"),
        night_records.silent_night().model_copy(update={"night": "20260602T030000Z-0002"}),
        night_records.a_night(night="20260603T030000Z-0003", tried=slower, posted=None, waiting=()),
        night_records.a_night(
            night="20260604T030000Z-0004", ending=Ending.NOTHING_NEW, tried=(), problems=(), waiting=(), posted=None,
            changes=(night_records.a_change(), night_records.a_change(ratio=1.07, after=107.0, worse=False, cell=CELL)),
            removed_images=("bench/mxnet:1.4.1-cpu",),
        ),
        night_records.a_night(night="20260605T030000Z-0005", ending=Ending.STOPPED, tried=(), posted=None),
        night_records.a_night(night="20260606T030000Z-0006", ending=Ending.NO_RESULT, tried=tried[:6], posted=None),
        night_records.a_night(
            night="20260607T030000Z-0007", tried=tried[:1], baseline="1.9.1", accepted="3.0.0", problems=(), posted=None
        ),
    ]  # fmt: skip
    for night in found:
        files.night_folder(night.night).mkdir(parents=True)
        files.write_night(night)
    broken = files.night_folder("20260608T030000Z-0008")
    broken.mkdir()
    (broken / "night.json").write_text("{")


# Where two readers or judges disagree -------------------------------------------------------------------------------


def disagreements(folder: Path) -> None:
    """The smallest runs that show each disagreement of README.md, a results folder each."""
    old, new = (s.cell(replace(s.MXNET, version=version), repeats=4) for version in ("1.5.1", "1.9.1"))
    noisy = ([1.0, 1.006, 0.994, 1.002], [0.997, 1.004, 1.0, 1.003])
    write(
        Run(folder / "report-and-compare" / "20260701T000000Z-0001"), s.plan([old, new]),
        [*flat(old, [1000 * each for each in noisy[0]]), *flat(new, [1022 * each for each in noisy[1]])],
    )  # fmt: skip
    mixed = flat(old, [1000.0, 1000.0, 1300.0, 1300.0])
    mixed[2:] = [with_result(item, measurement_version=2) for item in mixed[2:]]
    both(folder / "mixed", old, mixed)
    beyond = replace(old, repeats=3)
    for run in both(folder / "beyond-the-plan", old, flat(old, [1000.0, 1000.0, 1000.0, 2000.0])):
        run.write_record(run.record().model_copy(update={"plan": s.record(builders(s.plan([beyond]))).plan}))
    first, _ = both(folder / "unknown-machine", old, flat(old, [1000.0, 1001.0, 1002.0, 1003.0]))
    first.write_record(first.record().model_copy(update={"host": {k: v for k, v in HOST.items() if k != "machine"}}))
    spread = s.ok(old, [1000.0, 1500.0, 700.0, 1200.0], spread=0)
    both(folder / "summaries", old, [
        with_result(item, latency_s=item.result.latency_s[:110], memory=Memory(peak_rss_bytes=10**8 * number))  # type: ignore[union-attr]
        for number, item in enumerate(spread, start=1)
    ])  # fmt: skip
    trained = [s.cell(each.framework, s.MLP_EPOCHS, epochs=2, repeats=4) for each in (old, new)]
    write(
        Run(folder / "zeros" / "20260701T000000Z-0001"), s.plan(trained),
        [zeroed(item) for cell in trained for item in s.ok(cell, [1000.0, 1001.0, 1002.0, 1003.0], spread=0)],
    )  # fmt: skip
    asked = write(
        Run(folder / "not-asked" / "20260701T000000Z-0001"), s.plan([old, new]),
        [*flat(old, [1000.0, 1001.0, 1002.0, 1003.0]), *flat(new, [1000.0, 1001.0, 1002.0, 1003.0])],
    )  # fmt: skip
    answer(asked, old)
    answer(asked, new, first_loss=0.5)
    lost = write(
        Run(folder / "rotten" / "20260701T000000Z-0001"), s.plan([old, new]),
        [*flat(old, [1000.0, 1001.0, 1002.0, 1003.0]), *flat(new, [1000.0, 1001.0, 1002.0, 1003.0])],
    )  # fmt: skip
    for repeat in range(3):
        cut(lost.repeat_folder(new.id, repeat) / "result.json")
    for name, day, rate in (("20260702T000000Z-0002", 1, 1000.0), ("20260701T000000Z-0001", 2, 1200.0)):
        run = Run(folder / "order" / name)
        write(run, s.plan([old]), flat(old, [rate] * 4), created_at=f"2026-07-0{day}T00:00:00+00:00")
    pythons = both(folder / "other-python", old, flat(old, [1000.0, 1001.0, 1002.0, 1003.0]))
    for path in pythons[1].folder.rglob("result.json"):
        document = json.loads(path.read_text())
        edit(path, facts=document["facts"] | {"python": "3.12.1"})
    noop = s.cell(Framework("noop", "1", python="3.11"), repeats=4)
    for number, rate in ((1, 1000.0), (2, 700.0)):
        run = Run(folder / "noop" / f"2026070{number}T000000Z-000{number}")
        write(run, s.plan([noop]), flat(noop, [rate, rate + 1, rate + 2, rate + 3]))


def flat(cell: Cell, rates: Sequence[float]) -> list[Stored]:
    return [with_result(item, warmup=(), blocks=item.result.blocks[:3]) for item in s.ok(cell, rates, spread=0)]  # type: ignore[union-attr]


def with_result(item: Stored, **changes: Any) -> Stored:
    assert item.result is not None
    return replace(item, result=item.result.model_copy(update=changes))


def zeroed(item: Stored) -> Stored:
    assert item.result is not None
    scores = tuple(each.model_copy(update={"test_accuracy": 0.0}) for each in item.result.epochs)
    return with_result(item, epochs=scores)


def both(results: Path, cell: Cell, stored: Sequence[Stored]) -> list[Run]:
    """The same in two runs, so that there is something to compare, and a series."""
    runs = [Run(results / f"2026070{number}T000000Z-000{number}") for number in (1, 2)]
    for number, run in enumerate(runs, start=1):
        write(run, s.plan([cell]), stored, created_at=f"2026-07-0{number}T00:00:00+00:00")
    return runs


# What came in a bundle, and what was really measured -----------------------------------------------------------------


def bundle(folder: Path) -> None:
    """A bundle of two images, as `verify` reads it, and one with a byte changed."""
    sys.path.insert(0, str(Path(__file__).parents[1] / "unit/bundles"))
    from small_bundles import an_engine, exported

    releases = ("1.0", "2.0")
    exported(an_engine(*releases), folder / "whole", releases)
    shutil.copytree(folder / "whole", folder / "damaged")
    matrix_file = folder / "damaged" / "matrix.yaml"
    matrix_file.write_text(matrix_file.read_text().replace("1", "2", 1))


def a_search_that_is_shown_again(folder: Path) -> None:
    """A search that the command line has carried out on a scripted host, so that it can be resumed at its end."""
    import os

    from orchestrator.cli import bisect as bisect_command
    from orchestrator.cli import main as program
    from orchestrator.cli import searches as searching
    from orchestrator.cli.probes import Probes
    from orchestrator.regression.package_index import Offered
    from orchestrator.regression.releases import Release
    from tests.unit.cli import test_bisect as scripted

    folder.mkdir(parents=True)
    (folder / "matrix.yaml").write_text(scripted.MATRIX)
    host = scripted.Host()
    Probes.measure = host.measure  # type: ignore[method-assign, assignment]
    bisect_command.packages = scripted._held  # type: ignore[assignment]
    searching.offered = lambda *_: Offered(tuple(map(Release, scripted.PUBLISHED)))  # type: ignore[assignment]
    before = Path.cwd()
    os.chdir(folder)
    os.environ["XDG_CACHE_HOME"] = str(folder.parent.parent / "scratch")
    for more in ((), ("--all",)):
        with contextlib.suppress(SystemExit):
            program([*scripted.ASKED, *more, "--results", "results"])
    os.chdir(before)
    for number, found in enumerate(sorted((folder / "results").glob("bisect-*"))):
        record = json.loads((found / "bisect.json").read_text())
        name = f"bisect-2026051{number}T030405Z-000{number}"
        record |= {"name": name, "created_at": f"2026-05-1{number}T03:04:05+00:00", "host": "bench-1"}
        record["asked"]["matrix"] = "matrix.yaml"
        (found / "bisect.json").write_text(json.dumps(record, indent=1) + "\n")
        for path in found.iterdir():
            if path.name != "bisect.json":
                path.unlink()
        found.rename(found.with_name(name))


def really_measured(results: Path, source: Path) -> None:
    """Runs of `noop` and of a script in containers and in a virtual environment, without the places of that host."""
    containers, regression_test, venv = "20261122T234123Z-37eb", "20261122T234154Z-ec67", "20261122T234202Z-87f5"
    for name in (containers, regression_test, venv):
        shutil.copytree(source / name, results / name)
        shutil.rmtree(results / name / "report", ignore_errors=True)
        shutil.rmtree(results / name / "regression", ignore_errors=True)
        shutil.rmtree(results / name / "builds", ignore_errors=True)
        if name != containers:
            shutil.rmtree(results / name / "scripts")
    for path in results.rglob("*"):
        if path.name == "phase":
            path.unlink()
        elif path.is_file():
            text = path.read_text()
            for one, other in (
                ('"hostname": "vm"', '"hostname": "bench-1"'),
                ("6.18.44-fc-v669", "6.1.0"),
                (f"{source.parent}/", "/home/somebody/"),
                (f"{source.parents[1]}/cache/", "/home/somebody/.cache/"),
            ):
                text = text.replace(one, other)
            path.write_text(text)


def bundles(folder: Path) -> None:
    """A loaded bundle, as `plan --plan` reads it."""
    register(folder, a_record(), opened())


def shrink(folder: Path) -> None:
    """Leave out what no command reads: requests, locks, logs of what ended well; and the spaces of JSON."""
    for path in sorted(folder.rglob("*")):
        if path.name in {"result.json", "outcome.json", "run.json"} and path.is_file() and "bundle" not in path.parts:
            try:
                path.write_text(json.dumps(json.loads(path.read_text()), separators=(",", ":"), ensure_ascii=False))
            except ValueError:
                continue
        if path.name in {"request.json", ".lock", ".cache.lock"} or path.suffix == ".lock":
            path.unlink()
        elif path.name == "log.txt" and "attempt-" not in str(path):
            outcome = path.with_name("outcome.json")
            if outcome.exists() and '"ok"' in outcome.read_text():
                path.unlink()
    for path in sorted(folder.rglob("*"), reverse=True):
        if path.is_dir() and not any(path.iterdir()):
            path.rmdir()


def main(folder: Path, measured_before: Path | None) -> None:
    """Make all of it; what was really measured is taken from the results folder of those runs."""
    scratch = folder.parent / "scratch"
    scratch.mkdir(parents=True, exist_ok=True)
    outcomes(folder / "outcomes")
    rotten_records(folder / "records")
    work(folder / "work")
    evidence(folder / "parity")
    scripts(folder / "scripts")
    hosts(folder / "hosts")
    older(folder / "older")
    regressions(folder / "regressions", scratch)
    parts(folder / "regressions-in-parts", scratch)
    nights(folder / "nights")
    searches(folder / "searches")
    nightly(folder / "nightly")
    disagreements(folder / "disagreements")
    bundles(folder / "bundles")
    bundle(folder / "bundle")
    a_search_that_is_shown_again(folder / "resumed")
    if measured_before is not None:
        really_measured(folder / "measured", measured_before)
    shrink(folder)
    shutil.rmtree(scratch)


if __name__ == "__main__":
    main(Path(sys.argv[1]).absolute(), Path(sys.argv[2]).absolute() if len(sys.argv) > 2 else None)
