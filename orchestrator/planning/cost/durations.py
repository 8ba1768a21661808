"""Estimates of how long a container takes.

They come from the work of its cell and from containers that were measured before.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from orchestrator.catalog import DatasetInfo, ModelInfo, idle_builders
from orchestrator.domain import Cell
from orchestrator.modes import RULES
from orchestrator.modes.parts.load import Load
from orchestrator.modes.parts.settings import LATENCY_STEPS
from orchestrator.planning.parity import Check

MULTIPLY_ADDS_PER_CPU_S = 8e9
"""The rate of one CPU.

LeNet at batch 200 trains with 1.8e9 (Keras on MXNet), 6e9 (JAX), 8e9 (MXNet), 11e9 (TensorFlow) and 12e9 (PyTorch)
multiply-adds a second and CPU in docs/performance.md. Larger layers run faster, smaller ones slower.
"""
MULTIPLY_ADDS_PER_GPU_S = 2e12
"""The rate of one GPU, which no measurement supports.

It is a tenth of what float32 units of data centre GPUs can do.
"""
START_S = 5.0
"""Time of a container without its steps: start, import, data, model and the first step."""
CALLS_START_S = 2.0
"""The same time where single operators are called: there is no model, no data and no training step."""
EMPTY_START_S = 0.3
"""The same time without a framework."""
UNKNOWN_S = 8.0
"""Time of a script, or of a model whose work the host cannot read, before the first measurement."""
SEARCH_TRIES = 14
"""Processes of a search for the largest batch, of which seven bisect and the others double."""
LEAST_STEP_S = 0.0005
TOKEN_RATE = 0.2
"""The rate at which single steps of a generation multiply, as a share of that of whole sequences. It is a guess."""
CALL_S = 0.005
"""A call of a single operator, with the reading of the host around it."""
BLOCK_S = 0.25
"""Timed blocks last 0.2 s or a little more each."""
WARM_UP_S = 0.45
"""The least time that it takes to find the number of steps in a block."""
PARITY_START_S = 10.0
"""Start of a parity check, whose processes import the framework."""
COMPILE_S = 90.0
"""Time in which a framework compiles a model that its compile cache does not hold.

Theano took 10 to 120 s for dense and convolutional layers, and 170 s for two LSTMs.
"""
PARITY_STEPS = 17
"""Steps of training on a fixed batch."""

HELD_OUT = 1000
"""Test samples of synthetic data, as in `benchmarks/inputs/synthetic.py`."""


@dataclass(frozen=True, slots=True)
class Assumed:
    """The assumptions of an estimate on the host and on how cells are measured."""

    least_latency_steps: int
    """Steps that the latency pass takes at least, however long they take."""
    latency_limit_s: float
    """The longest latency pass of more than the least steps."""
    cpus: int = 1
    """CPUs of a system that takes every CPU."""
    cpu_rate: float = MULTIPLY_ADDS_PER_CPU_S
    gpu_rate: float = MULTIPLY_ADDS_PER_GPU_S


@dataclass(frozen=True, slots=True)
class Earlier:
    """One container that was measured on this host."""

    cell: Cell
    outside_s: float
    """The part of its wall time that was not spent on steps after the first."""
    sample_s: float | None = None
    """Seconds of a sample in its timed blocks; None for a script."""
    multiply_adds: int = 0
    """Multiply-adds of one sample's forward pass."""


@dataclass(frozen=True, slots=True)
class ContainerEstimate:
    """An estimated container."""

    wall_s: float
    source: str
    """The source of the estimate.

    `measured` stands for the same model and framework before, `scaled` for the framework on another model. The others
    are `assumed` and `unknown`.
    """


class Durations:
    """Estimates of containers, by earlier measurements if there are any."""

    def __init__(
        self,
        models: Mapping[str, ModelInfo],
        datasets: Mapping[str, DatasetInfo],
        assumed: Assumed,
        earlier: Iterable[Earlier],
    ) -> None:
        self._models, self._datasets, self._assumed = models, datasets, assumed
        self._exact: dict[tuple[object, ...], list[Earlier]] = {}
        self._similar: dict[tuple[object, ...], list[Earlier]] = {}
        self._framework: dict[tuple[object, ...], list[Earlier]] = {}
        for each in earlier:
            self._exact.setdefault(_exact(each.cell), []).append(each)
            self._similar.setdefault(_similar(each.cell), []).append(each)
            self._framework.setdefault(_framework(each.cell), []).append(each)

    def container(self, cell: Cell, builder: str) -> ContainerEstimate:
        """Estimate one repeat of a cell, without regard to its time-out."""
        before = _alike(cell, self._exact.get(_exact(cell)) or self._similar.get(_similar(cell)) or [])
        if cell.script is not None:
            if before:
                return ContainerEstimate(median(each.outside_s for each in before), "measured")
            return ContainerEstimate(UNKNOWN_S, "unknown")
        start_s = self._start_s(cell, builder) * (SEARCH_TRIES if cell.workload.searches else 1)
        if builder in idle_builders():
            return ContainerEstimate(start_s, "measured" if before else "assumed")
        if cell.workload.rules.subjects:
            return self._of_calls(cell, before, start_s)
        pass_s, source = self._pass_s(cell, before)
        if pass_s is None:
            return ContainerEstimate(UNKNOWN_S, source)
        return ContainerEstimate(start_s + self._steps_s(cell, pass_s), source)

    def _of_calls(self, cell: Cell, before: Iterable[Earlier], start_s: float) -> ContainerEstimate:
        """Estimate a container whose calls are timed one by one, by those of the same subject before."""
        measured = [each.sample_s for each in before if each.sample_s is not None]
        calls = (cell.duration.steps or 0) + cell.duration.warmup_steps
        call_s = median(measured) if measured else CALL_S
        return ContainerEstimate(start_s + calls * call_s, "measured" if measured else "assumed")

    def parity_s(self, check: Check) -> float:
        """Estimate one parity check."""
        info = self._models.get(check.model)
        if info is None or info.multiply_adds is None:
            return PARITY_START_S
        work = (info.multiply_adds_of(dict(check.axes)) or 0) * check.batch_size * PARITY_STEPS * RULES["train"].passes
        return PARITY_START_S + work / self._rate(check.system.cpus, check.system.gpus)

    def _start_s(self, cell: Cell, builder: str) -> float:
        before = self._exact.get(_exact(cell)) or self._framework.get(_framework(cell))
        if before:
            return median(each.outside_s for each in before)
        if builder in idle_builders():
            return EMPTY_START_S
        return CALLS_START_S if cell.workload.rules.subjects else START_S

    def _pass_s(self, cell: Cell, before: Iterable[Earlier]) -> tuple[float | None, str]:
        """Return the seconds of one sample's forward pass, or None if nothing is known of it."""
        info = self._models.get(cell.workload.model)
        work = info.multiply_adds_of(dict(cell.workload.axes)) if info else None
        measured = [_scaled(each, work) for each in before if each.sample_s is not None]
        if measured:
            return median(measured), "measured"
        if not work:
            return None, "unknown"
        same_framework = _alike(cell, self._framework.get(_framework(cell), []))
        scalable = [each for each in same_framework if each.sample_s and each.multiply_adds]
        if scalable:
            # Small layers slow a framework down, so the model of the nearest size predicts best.
            nearest = min(scalable, key=lambda each: abs(math.log(each.multiply_adds / work)))
            return _scaled(nearest, work), "scaled"
        least_s = LEAST_STEP_S / (cell.global_batch * _passes(cell))
        rate = self._rate(cell.system.cpus, cell.system.gpus) * (TOKEN_RATE if cell.workload.generation else 1.0)
        return max(work / rate, least_s), "assumed"

    def _rate(self, cpus: int | None, gpus: int) -> float:
        return self._assumed.gpu_rate * gpus if gpus else self._assumed.cpu_rate * (cpus or self._assumed.cpus)

    def _steps_s(self, cell: Cell, pass_s: float) -> float:
        """Return the seconds of the warm-up, the timed steps or epochs with their evaluations, and the latency pass."""
        work, duration = cell.workload, cell.duration
        step_s = pass_s * _passes(cell) * cell.samples_of_a_step
        if work.load:
            return max(duration.warmup_steps * step_s, WARM_UP_S) + self._load_s(cell, work.load, step_s)
        latency_s = self._latency_s(duration.latency_steps, step_s)
        if duration.epochs:
            trained, tested = self._samples(cell)
            steps = trained // cell.global_batch
            # An evaluation takes the test samples, and as many of those that are trained with.
            evaluation_s = 2 * tested * pass_s if work.rules.evaluates else 0.0
            evaluations = duration.epochs if duration.evaluate_every_epoch else 1
            return duration.epochs * steps * step_s + evaluations * evaluation_s + latency_s
        warm_up_s = max(duration.warmup_steps * step_s, WARM_UP_S)
        timed_s = max(max(duration.steps or 0, duration.blocks) * step_s, duration.blocks * BLOCK_S)
        return warm_up_s + timed_s + latency_s

    @staticmethod
    def _load_s(cell: Cell, load: Load, step_s: float) -> float:
        """Return the seconds of all requests: those of the server, or of their arrivals if these take longer."""
        requests = cell.duration.steps or load.requests
        served_s = requests / min(cell.global_batch, load.clients or cell.global_batch) * step_s
        return max(served_s, requests / load.rate) if load.rate else served_s

    def _latency_s(self, wanted: int, step_s: float) -> float:
        """Return the seconds of the latency pass.

        It takes all wanted steps, or as many as fit its limit, but never fewer than the least; more than by default are
        all taken. `latency_steps` of `benchmarks/timing/measure.py` sets the number of steps.
        """
        assumed = self._assumed
        if wanted > LATENCY_STEPS:
            return wanted * step_s
        least_s = min(wanted, assumed.least_latency_steps) * step_s
        return min(wanted * step_s, max(assumed.latency_limit_s, least_s))

    def _samples(self, cell: Cell) -> tuple[int, int]:
        """Return the number of samples that an epoch trains with, and that an evaluation tests with."""
        dataset = self._datasets.get(cell.workload.dataset)
        if dataset is not None and dataset.training:
            return dataset.training, dataset.testing
        info = self._models.get(cell.workload.model)
        samples = info.samples if info else 0
        return samples, min(HELD_OUT, samples)


def _scaled(measured: Earlier, work: int | None) -> float:
    """Return the seconds of a forward pass of `work` multiply-adds, scaled from a measured container."""
    ratio = work / measured.multiply_adds if work and measured.multiply_adds else 1.0
    return (measured.sample_s or 0.0) / _passes(measured.cell) * ratio


def _passes(cell: Cell) -> float:
    """Return the forward passes of a sample, where a generation is about as long as a sequence.

    The sample of a generation is a token, and under load a whole one.
    """
    return cell.global_batch / cell.samples_of_a_step if cell.workload.generation else cell.workload.rules.passes


def _alike(cell: Cell, earlier: Sequence[Earlier]) -> list[Earlier]:
    """Return the containers that generate as a cell does, or do not as it does not, because tokens take longer."""
    return [each for each in earlier if (each.cell.workload.generation is None) == (cell.workload.generation is None)]


def _framework(cell: Cell) -> tuple[object, ...]:
    return cell.framework.name, cell.system.cpus, cell.system.gpus


def _similar(cell: Cell) -> tuple[object, ...]:
    return (*_framework(cell), cell.workload.model)


def _exact(cell: Cell) -> tuple[object, ...]:
    work = cell.workload
    own = (work.mode, cell.framework.label, cell.options, work.feed, work.workers, work.scaling)
    return (*_similar(cell), *own, *((work.size,) if work.size else ()), work.generation)
