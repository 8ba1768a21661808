"""A made-up run for tests of reports: its figures are invented, and look it."""

import random
from collections.abc import Sequence

from orchestrator.domain import (
    Cell,
    Duration,
    Environment,
    Framework,
    ImageSpec,
    Mode,
    Options,
    Outcome,
    Plan,
    Skip,
    Status,
    System,
    Workload,
)
from orchestrator.reporting.findings.compose import compose
from orchestrator.reporting.findings.model import Report
from orchestrator.results.contract import Block, Evaluation, Loss, Memory, ModelFacts, Phases, Result, Used
from orchestrator.results.evidence import Stored
from orchestrator.results.records import EnvironmentRecord, RunRecord, plan_to_json

CPU = System("cpu", cpus=2, memory_bytes=8_000_000_000)
GPU = System("4_gpu", gpus=4)
LENET = Workload("lenet", Mode.TRAIN, 200)
MLP = Workload("mlp", Mode.TRAIN, 32)
MLP_EPOCHS = Workload("mlp", Mode.TRAIN, 256)
MXNET = Framework("mxnet", "1.9.1", python="3.11")
TENSORFLOW = Framework("tensorflow", "2.21.0", python="3.11")
TORCH = Framework("torch", "2.13.0", python="3.11")
MARKED = "ImportError: cannot import name 'x' | <b>\x1b[31mred\x1b[0m"
KERAS = Framework("keras-mxnet", "2.2.4.3", backend=Framework("mxnet", "1.5.1"), python="3.11")


def cell(  # noqa: PLR0913 -- one argument per axis that a test may want
    framework: Framework,
    workload: Workload = LENET,
    *,
    system: System = CPU,
    options: Options = (),
    repeats: int = 3,
    expect: Status = Status.OK,
    epochs: int | None = None,
) -> Cell:
    """A planned cell; options become part of its id."""
    backend = f"-on-{framework.backend.name}-{framework.backend.version}" if framework.backend else ""
    packages = "".join(f"-{name}={version}" for name, version in framework.packages)
    environment = f"{framework.name}-{framework.version}{backend}{packages}-{system.image_class}"
    suffix = "".join(f"-{name}={str(value).lower()}" for name, value in options if value is not True)
    image = f"bench/{framework.name}:{framework.version}{backend}-{system.image_class}"
    return Cell(
        f"{environment}/{workload.label}{suffix}", framework, system, workload, image,
        options=options, repeats=repeats, expect=expect,
        duration=Duration(steps=None if epochs else 50, epochs=epochs),
    )  # fmt: skip


def result(planned: Cell, repeat: int, samples_per_s: float, *, spread: float = 0.02) -> Result:
    """A result whose blocks scatter around a rate, the same at every call."""
    draw = random.Random(f"{planned.id} {repeat}")
    of_steps = random.Random(f"{planned.id} {repeat} steps")
    batch = planned.global_batch
    step_s = batch / samples_per_s

    def block(steps: int, slower: float = 1.0) -> Block:
        wall_s = _rounded(slower * steps * step_s * draw.lognormvariate(0, spread))
        return Block(steps=steps, samples=steps * batch, wall_s=wall_s, cpu_s=_rounded(1.9 * wall_s))

    epochs = planned.duration.epochs
    start = round(1.5 + draw.random(), 3)
    train = planned.workload.mode is Mode.TRAIN
    return Result(
        measurement_version=1,
        cell=planned.id,
        repeat=repeat,
        started_at="2026-01-02T03:04:05Z",
        phases=Phases(
            import_s=start, build_s=0.25, first_step_s=0.4,
            warmup_s=10 * step_s, steady_s=200 * step_s, latency_s=50 * step_s,
        ),
        first_step=block(1),
        warmup=() if epochs else tuple(block(1) for _ in range(9)),
        blocks=(
            (block(234, slower=1.3), *(block(234) for _ in range(epochs - 1)))
            if epochs
            else tuple(block(20) for _ in range(10))
        ),
        latency_s=tuple(
            _rounded(step_s * (draw if step < 50 else of_steps).lognormvariate(0.05, 0.1)) for step in range(150)
        ),
        loss=Loss(first=2.302585, last=0.71 + 0.01 * repeat) if train else None,
        epochs=tuple(
            Evaluation(
                train_loss=round(2.1 * 0.45**epoch, 4), test_loss=round(2.2 * 0.5**epoch + 0.05, 4),
                test_accuracy=round(1 - 0.7 * 0.5**epoch, 4), evaluation_s=0.1,
            )
            for epoch in range(1, 1 + (epochs or 0))
        ),
        model=ModelFacts(parameters=61_706, multiply_adds=416_520),
        memory=Memory(peak_rss_bytes=int(3e8 + 1e8 * draw.random()), peak_device_bytes=None),
        used=Used(user_s=21.5 + repeat, system_s=0.75, read_bytes=12_345_678, written_bytes=4096),
        facts={
            "versions": {planned.framework.name: planned.framework.version, "numpy": "1.23.5", "six": "1.16.0"},
            "python": "3.11.7",
            "cpu": {"model": "Example CPU", "cores": 2},
            "threads": 2,
            "layout": "nchw",
            "gpus": [],
        },
    )  # fmt: skip


def _rounded(seconds: float) -> float:
    return round(seconds, 6) if seconds > 1e-3 else seconds


def ok(planned: Cell, rates: Sequence[float], *, spread: float = 0.02) -> list[Stored]:
    """One `ok` repeat per rate."""
    return [
        Stored(
            Outcome(
                planned.id, repeat, Status.OK, log=f"{planned.id}/{repeat}/log.txt",
                started_at=f"2026-01-02T03:0{repeat}:05Z", wall_s=12.5, create_s=0.25, exit_code=0,
                image_id="sha256:" + "ab" * 32,
            ),
            result(planned, repeat, rate, spread=spread),
        )
        for repeat, rate in enumerate(rates)
    ]  # fmt: skip


def failed(planned: Cell, repeat: int, status: Status, reason: str) -> Stored:
    """A repeat that did not end well."""
    log = f"{planned.id}/{repeat}/log.txt"
    return Stored(
        Outcome(planned.id, repeat, status, reason, log, started_at="2026-01-02T03:04:05Z", wall_s=3.0, exit_code=1),
        None,
    )


def plan(cells: Sequence[Cell], skips: tuple[Skip, ...] = (), warnings: tuple[str, ...] = ()) -> Plan:
    """A plan of these cells with an image each."""
    images = {
        planned.image: ImageSpec(
            *planned.image.split(":"), planned.system.image_class, planned.framework,
            Environment(
                planned.framework.name,
                "3.11",
                expected_versions=((planned.framework.name, planned.framework.version), ("numpy", "1.23.5")),
            ),
        )
        for planned in cells
    }  # fmt: skip
    return Plan("example", 1, tuple(images.values()), tuple(cells), skips, warnings)


def record(planned: Plan, run: str = "20260102T030405Z-abcd") -> RunRecord:
    """The record of the run of a plan."""
    return RunRecord(
        run=run,
        created_at="2026-01-02T03:04:05+00:00",
        orchestrator_version="0.1.0",
        runtime="docker",
        host={
            "hostname": "bench-1",
            "cpu": "Example CPU",
            "cpus": 2,
            "memory_bytes": 16_000_000_000,
            "gpus": [{"index": 0, "name": "Example GPU"}],
            "driver": None,
        },
        plan=plan_to_json(planned),
        matrix={},
    )


def example() -> Report:
    """A run with a winner, a tie, a variant, every kind of trouble and a skip."""
    mxnet, imperative = (cell(MXNET, options=(("hybridize", flag),)) for flag in (True, False))
    tensorflow, torch = cell(TENSORFLOW), cell(TORCH)
    keras = cell(KERAS)
    mlps = [cell(framework, MLP) for framework in (MXNET, TORCH)]
    timed, once = cell(MXNET, MLP_EPOCHS, epochs=3), cell(TORCH, MLP_EPOCHS, epochs=1)
    alike = cell(KERAS, MLP_EPOCHS, epochs=3)
    far = cell(MXNET, system=GPU, options=(("hybridize", True),))
    planned = plan(
        [mxnet, imperative, tensorflow, torch, keras, *mlps, timed, once, alike, far],
        (Skip("tensorflow-2.21.0-4_gpu/lenet-train-b200", "excluded by matrix.yaml:12"),),
        ("exclude 2 matches nothing",),
    )
    stored = [
        *ok(mxnet, [13_402, 13_190, 13_515]),
        *ok(imperative, [9_120, 9_210, 9_034]),
        *ok(tensorflow, [7_411, 7_502, 7_388]),
        *ok(torch, [6_950, 7_041])[:2],
        failed(torch, 2, Status.TIMEOUT, "no result within 600 s"),
        *[failed(each, repeat, Status.IMPORT_FAILED, MARKED) for each in (keras, alike) for repeat in range(3)],
        *ok(timed, [52_000, 51_400, 52_700]),
        *ok(once, [49_100, 48_800, 49_500]),
        *ok(mlps[0], [21_040, 22_400, 20_110], spread=0.08),
        *ok(mlps[1], [20_480, 21_960, 21_700], spread=0.08),
        *[failed(far, repeat, Status.NO_DEVICE, "4_gpu needs 4 GPUs; this host has 0") for repeat in range(2)],
    ]  # fmt: skip
    return compose(record(planned), planned, stored, tail, environments(planned))


def environments(planned: Plan) -> list[EnvironmentRecord]:
    """Every image of the host's own kind made, all on one base."""
    return [
        EnvironmentRecord(
            image=image.name, status=Status.OK, reference=f"{image.name}-0123456789ab", image_id="sha256:" + "ab" * 32,
            base_digest="python@sha256:" + "cd" * 32, versions=dict(image.environment.expected_versions),
        )
        for image in planned.images
        if image.image_class == "cpu"
    ]  # fmt: skip


def tail(outcome: Outcome) -> str:
    """A log with what logs hold: colours, progress bars, markup, backticks."""
    if not outcome.status.is_failure:
        return ""
    return (
        "loading\r 50 %\r100 %\r\n\x1b[1mTraceback\x1b[0m (most recent call last):\n"
        '  File "run.py", line 1\n```\n<script>alert(1)</script>\n=1+1\n' + outcome.reason
    )
