"""The rules of a regression test, which set the deciding metrics, their tolerances, the looks and the false alarms."""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Annotated, Final

from pydantic import Field

from orchestrator.analysis.comparison import ALPHA, LOOKS, Look, looks
from orchestrator.analysis.percentiles import least_steps
from orchestrator.errors import InputError, did_you_mean
from orchestrator.modes import BY_TOKENS, METRICS, RULES
from orchestrator.modes.parts.metrics import Better, Metric, least_steps_of_a_repeat
from orchestrator.modes.parts.settings import LATENCY_STEPS
from orchestrator.regression.printed import PREFIX, named_metrics, printed_metric
from orchestrator.user_files import Script

BY_NAME: Final[Mapping[str, Metric]] = {metric.name: metric for metric in METRICS}
LEAST_BLOCKS = 2
"""One block says nothing about scatter."""
DOUBTED_BLOCKS = 2
"""Fresh blocks of a doubted series for each of those that found it slower."""

Values = Sequence[tuple[float, float]]
"""Baseline and candidate of each block that counts."""


@dataclass(frozen=True, slots=True)
class Gate:
    """A metric that decides, with the tolerance it is held to."""

    metric: str
    tolerance: float
    model: str = ""
    """The one model that the tolerance is for; empty: every other one. The metric decides for all in either case."""
    better: Annotated[Better | None, Field(exclude_if=lambda better: better is None)] = None
    """The direction of a figure that a script prints; None for a metric of our own, which is known by its name."""
    unit: Annotated[str, Field(exclude_if=lambda unit: not unit)] = ""
    """The unit of such a figure."""


DEFAULT_GATES: Final = tuple(Gate(metric.name, metric.tolerance) for metric in METRICS if metric.gates)


def known_metric(name: str, unit: str, better: Better) -> Metric:
    """Return a metric of our own by its name, or that of a figure that a script prints."""
    return BY_NAME.get(name) or printed_metric(name, unit, better)


def metric_of(gate: Gate) -> Metric:
    """Return the metric of a gate."""
    return printed_metric(gate.metric, gate.unit, gate.better) if gate.better else BY_NAME[gate.metric]


def printed_gates(scripts: Iterable[Script]) -> tuple[Gate, ...]:
    """Return a gate for every figure that scripts print, at its default tolerance."""
    return tuple(
        Gate(metric.name, metric.tolerance, script, metric.better, metric.unit)
        for script, metric in named_metrics(scripts)
    )


_SPEC = re.compile(r"(?P<name>[^=@]+)(?:@(?P<model>[^=]+))?(?:=(?P<tolerance>.+))?")


def parse_gates(
    texts: Sequence[str], option: str, models: Sequence[str], printed: Sequence[Gate] = ()
) -> tuple[Gate, ...]:
    """Read metrics such as `throughput`, `throughput=3%` and `throughput@mlp=0.05`.

    What is given for all models takes the place of the default ones. A tolerance for one model says nothing of what
    else decides: where nothing else is given, the default ones stay beside it. `printed` are the figures of scripts,
    which all decide unless some are given. Raises `InputError` with every mistake.
    """
    parsed: dict[tuple[str, str], Gate] = {}
    mistakes = []
    for text in texts:
        try:
            gates = _printed(text, printed) if text.strip().startswith(PREFIX) else (_gate(text, models),)
            if any((gate.metric, gate.model) in parsed for gate in gates):
                raise ValueError("is given twice; keep one")
        except ValueError as error:
            mistakes.append(f"{option} {text!r}: {error}")
        else:
            parsed |= {(gate.metric, gate.model): gate for gate in gates}
    if mistakes:
        raise InputError(*mistakes)
    own = tuple(gate for gate in parsed.values() if gate.better is None)
    of_scripts = tuple(gate for gate in parsed.values() if gate.better is not None)
    own = own if any(not gate.model for gate in own) else (*DEFAULT_GATES, *own)
    return (*own, *(of_scripts or printed))


def tolerance(gates: Sequence[Gate], metric: Metric, model: str) -> tuple[bool, float]:
    """Return if a metric decides, and its tolerance for a model.

    What is named for one model decides for all: the others are held to the tolerance that it has by itself.
    """
    own = {gate.model: gate.tolerance for gate in gates if gate.metric == metric.name}
    return bool(own), own.get(model, own.get("", metric.tolerance))


def _gate(text: str, models: Sequence[str]) -> Gate:
    match = _SPEC.fullmatch(text.strip())
    name = match["name"].strip() if match else text
    metric = BY_NAME.get(name)
    if match is None or metric is None:
        raise ValueError(f"unknown metric{did_you_mean(name, tuple(BY_NAME))}")
    model = (match["model"] or "").strip()
    if model and model not in models:
        raise ValueError(f"the matrix has no model {model!r}{did_you_mean(model, tuple(models))}")
    return Gate(name, tolerance_share(match["tolerance"]) if match["tolerance"] else metric.tolerance, model)


def _printed(text: str, printed: Sequence[Gate]) -> tuple[Gate, ...]:
    """Return the gates of a figure, one for each script that prints it, such as `printed.speed@word-lm=3%`."""
    match = _SPEC.fullmatch(text.strip())
    name, script = (match["name"].strip(), (match["model"] or "").strip()) if match else (text, "")
    named = [gate for gate in printed if gate.metric == name]
    if match is None or not named:
        known = tuple(dict.fromkeys(gate.metric for gate in printed))
        raise ValueError(f"no script of the matrix prints it{did_you_mean(name, known)}")
    scripts = tuple(gate.model for gate in named)
    if script and script not in scripts:
        raise ValueError(f"no script {script!r} prints it{did_you_mean(script, scripts)}")
    share = tolerance_share(match["tolerance"]) if match["tolerance"] else named[0].tolerance
    return tuple(replace(gate, tolerance=share) for gate in named if script in {"", gate.model})


def tolerance_share(text: str) -> float:
    """Return `3%` and `0.03` as 0.03. Raises `ValueError` for what is no tolerance."""
    number = text.strip()
    try:
        share = float(number.removesuffix("%")) / (100 if number.endswith("%") else 1)
    except ValueError:
        share = -1.0
    if not 0 <= share < 1:
        raise ValueError(f"{number!r} is no tolerance; write a share of the baseline, such as 2% or 0.02")
    return share


def most_of_a_mode(counts: Callable[[Metric], bool]) -> int:
    """Return how many metrics of one mode count, for the mode with the most of them: a pair has one mode."""
    return max(sum(map(counts, rules.metrics)) for rules in (*RULES.values(), *BY_TOKENS.values()))


@dataclass(frozen=True, slots=True)
class Levels:
    """The levels of one look at a pair."""

    deciding: Look
    """The look for every deciding metric."""
    shown: Look
    """The look for every other metric."""
    failures: float
    """The level of the test that one side fails more often than the other."""


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules, which are set before anything is measured."""

    gates: tuple[Gate, ...] = DEFAULT_GATES
    looks: tuple[int, ...] = LOOKS
    """Blocks after which a look takes place, in order; only undecided pairs continue to the next."""
    alpha: float = ALPHA
    confirm: bool = True
    """True if slower metrics are measured again, on as many fresh blocks."""
    doubted: tuple[tuple[str, str], ...] = ()
    """Pairs and their metrics whose alarms were wrong: they are measured again on twice as many fresh blocks."""

    def doubts(self, pair: str, metric: str) -> bool:
        """Return true if the alarms of a metric of a pair were wrong so often that it needs more to alarm again."""
        return (pair, metric) in self.doubted

    @property
    def deciding(self) -> tuple[Metric, ...]:
        """Return the metrics that decide."""
        return tuple(metric for metric in METRICS if any(gate.metric == metric.name for gate in self.gates))

    def family(self, pairs: int) -> int:
        """Return the number of statistical verdicts that share alpha."""
        of_modes = most_of_a_mode(lambda metric: metric in self.deciding and not metric.is_exact)
        of_scripts = Counter(gate.model for gate in self.gates if gate.better)
        return max(1, pairs * max(of_modes, *of_scripts.values(), 0))

    def levels(self, look: int, pairs: int) -> Levels:
        """Return the levels of a look, counted from 0, at so many pairs."""
        shown = pairs * most_of_a_mode(lambda metric: metric not in self.deciding)
        failures = 1 - self.at(look, max(1, pairs)).confidence
        return Levels(self.at(look, self.family(pairs)), self.alone(max(1, shown)), failures)

    def at(self, look: int, family: int) -> Look:
        """Return the level of a look, counted from 0, for a family of deciding metrics."""
        return looks(family, blocks=self.looks, alpha=self.alpha)[look]

    def alone(self, family: int) -> Look:
        """Return the level of a single look, for metrics that only inform and for confirmations."""
        return looks(family, blocks=self.looks[-1:], alpha=self.alpha)[0]


def looks_up_to(most_blocks: int, option: str = "--max-blocks") -> tuple[int, ...]:
    """Return the looks of an adaptive test with at most so many blocks. Raises `InputError` if they are too few."""
    if most_blocks < LEAST_BLOCKS:
        raise InputError(f"{option} {most_blocks}: takes at least {LEAST_BLOCKS} blocks; one says nothing of scatter")
    # A longer test than usual continues by doubling.
    doubling = (LOOKS[0] * 2**step for step in range(32))
    return (*takewhile(lambda blocks: blocks < most_blocks, doubling), most_blocks)


def blocks_needed(metric: str, steps: int = LATENCY_STEPS) -> int:
    """Return the fewest blocks whose single steps bound a metric, or 0 if the metric is not made of single steps."""
    share = BY_NAME[metric].share if metric in BY_NAME else None
    return 0 if share is None else math.ceil(least_steps(share) / steps)


def short_repeats(gates: Sequence[Gate], steps: Iterable[int], blocks: int) -> list[str]:
    """Return a sentence for each deciding percentile that repeats of so many single steps have too few for.

    `steps` is `latency_steps` of each cell. A repeat has a percentile of its own from `least_steps_of_a_repeat` steps
    on, and that many `blocks` of repeats have its bounds from `least_steps` on.
    """
    fewest = min(steps, default=LATENCY_STEPS)
    shares = {gate.metric: share for gate in gates if (share := metric_of(gate).share) is not None}
    least = {
        metric: max(least_steps_of_a_repeat(share), math.ceil(least_steps(share) / blocks))
        for metric, share in shares.items()
    }
    return [
        f"{metric} decides after {blocks} blocks only with latency_steps: {needed} or more, and a cell has {fewest}"
        for metric, needed in least.items()
        if fewest < min(needed, LATENCY_STEPS)
    ]


def too_few_blocks(metric: str, blocks: int) -> str:
    """Return the reason that a metric cannot decide after so many blocks, with the needed number, or ""."""
    needed = blocks_needed(metric)
    share = BY_NAME[metric].share if metric in BY_NAME else None
    if share is None or blocks >= needed:
        return ""
    return (
        f"{metric} has no bounds with fewer than {least_steps(share)} single steps of each side; {blocks} blocks of "
        f"{LATENCY_STEPS} steps are {blocks * LATENCY_STEPS}, and {needed} blocks are needed"
    )
