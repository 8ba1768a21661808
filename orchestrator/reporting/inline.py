"""Text inside the blocks of a document: figures in words, the same in every format, and parts that stand out."""

import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from orchestrator.analysis.estimates import CONFIDENCE, Estimate
from orchestrator.analysis.measurements import Epochs
from orchestrator.analysis.percentiles import Bounds, Percentiles
from orchestrator.analysis.ratios import Ratio
from orchestrator.analysis.resources import GpuUse
from orchestrator.domain import Options, Status
from orchestrator.wording import factor, percent, plural, rate, seconds, three_digits

_LEGEND = (
    "Samples/s: geometric mean over the repeats. Intervals: {}, from repeat to repeat. "
    "A rank such as 1–2: the repeats do not distinguish these. "
    "Step: median and 99th percentile with its interval (– if there are too few steps or one repeat), from a separate "
    "pass that is synchronised at every step. "
    "Start: import, build and first step. Memory: the highest of any repeat."
)
AT_ITS_LOOK = "interval at its look"
"""The name of an interval of a run until decided, which is at the level of the look that it is of."""
EPOCH_HEADS = ("Epochs", "Total time", "Without the first", "First epoch", "Later epochs", "Test accuracy")
EPOCH_NOTE = (
    "Total time is the first step and all epochs. "
    "Samples/s is the median over the epochs after the first, or the only one that there is. "
    "Test accuracy is that after the last epoch: its median over the repeats, and the lowest and highest."
)
_ENDLESS = 1000
"""A bound of a ratio beyond this says nothing."""


def legend(*, at_looks: bool) -> str:
    """Return the meaning of the columns of a ranking, which may be of a run until decided."""
    usual = f"{100 * CONFIDENCE:.0f} %"
    return _LEGEND.format(f"{usual} over all looks, at the level of each look" if at_looks else usual)


def interval_name(estimates: Iterable[Estimate], usual: str) -> str:
    """Return the name of the intervals of some rates, which is the `usual` one unless looks set their levels."""
    return usual if all(each.confidence == CONFIDENCE for each in estimates) else AT_ITS_LOOK


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure in one place of a table."""

    text: str
    below: str = ""
    value: float | None = None
    """To sort by."""


def epoch_figures(epochs: Epochs) -> tuple[Figure, ...]:
    """Return a figure for each of `EPOCH_HEADS`."""
    first, *later = epochs.epoch_s
    total, rest = epochs.total_s, epochs.after_first_s
    usual = statistics.median(later) if later else None
    return (
        Figure(str(len(epochs.epoch_s)), value=len(epochs.epoch_s)),
        Figure(seconds(total.value), _seconds_interval(total), total.value),
        Figure(seconds(rest.value), _seconds_interval(rest), rest.value) if rest else Figure("–", "only one epoch"),
        Figure(seconds(first), value=first),
        Figure(seconds(usual), "median" if len(later) > 1 else "", usual) if usual else Figure("–"),
        _accuracy(epochs.test_accuracies),
    )


def _accuracy(accuracies: Sequence[float]) -> Figure:
    if not accuracies:
        return Figure("–")
    middle, low, high = statistics.median(accuracies), min(accuracies), max(accuracies)
    span = "every repeat" if percent(low) == percent(high) else f"{100 * low:.1f}–{percent(high)}"
    return Figure(percent(middle), span if len(accuracies) > 1 else "1 repeat", middle)


def gpu_figures(gpus: GpuUse | None) -> tuple[Figure, Figure, Figure]:
    """Return energy, highest temperature and lowest clock of a repeat's GPUs, with `–` for what is unknown."""
    energy, hottest, clock = (gpus.energy_j, gpus.hottest_c, gpus.slowest_clock_hz) if gpus else (None, None, None)
    source = " (from power)" if gpus and gpus.is_energy_integrated else ""
    return (
        Figure("–" if energy is None else f"{three_digits(energy)} J{source}", value=energy),
        Figure("–" if hottest is None else f"{hottest:.0f} °C", value=hottest),
        Figure("–" if clock is None else f"{clock / 1e6:.0f} MHz", value=clock),
    )


def rate_interval(value: Estimate) -> str:
    """Return an interval as `12,990–13,830`, or the reason there is none."""
    if value.low is None or value.high is None:
        return "1 repeat" if value.n < 2 else "no look yet"
    return _rates(value.low, value.high)


def next_interval(value: Estimate) -> str:
    """Return the range of one further repeat, `12,400–14,480`, or the reason there is none."""
    if value.next_low is None or value.next_high is None:
        return "1 repeat" if value.n < 2 else "–"
    return _rates(value.next_low, value.next_high)


def _rates(low: float, high: float) -> str:
    """Write a range whose ends both show their unit, or both have none, as `1.27 M–1.48 M` or `3.27–1,480,000`."""
    if rate(low)[-1].isdigit() and not rate(high)[-1].isdigit():
        return f"{rate(low)}–{float(f'{high:.3g}'):,.0f}"
    return f"{rate(low)}–{rate(high)}"


def factor_interval(value: Ratio) -> str:
    """Return the interval of a ratio as `0.531–0.572`, or the reason there is none."""
    return factor_range(value.low, value.high)


def factor_range(low: float | None, high: float | None) -> str:
    """Return the range of a factor as `0.531–0.572`, or the reason there is none."""
    return "no interval" if low is None or high is None else f"{factor(low)}–{factor(high)}"


def verdict(value: Ratio) -> str:
    """Return a verdict, with the repeats that it still needs."""
    if value.more_repeats is None:
        return value.verdict.value
    return f"{value.verdict.value}: about {value.more_repeats} more {plural('repeat', value.more_repeats)}"


def _seconds_interval(value: Estimate) -> str:
    """Return an interval as `12.1 s–12.9 s`, or the reason there is none."""
    if value.low is None or value.high is None:
        return "1 repeat"
    return f"{seconds(value.low)}–{seconds(value.high)}"


def latency(value: Percentiles | None) -> tuple[str, str, str]:
    """Return median and p99 of a step, and the interval of the p99, for people.

    There is no p99 of so few steps that it would be the slowest one, and none of requests without an interval.
    """
    if value is None:
        return "–", "–", "–"
    p99 = seconds(value.p99_s) if value.gives(0.99) else "–"
    return seconds(value.p50_s), p99, seconds_bounds(value.p99_bounds_s)


def seconds_bounds(bounds: Bounds | None) -> str:
    """Return bounds as `17.1–25.0 ms` or `980 µs–1.12 ms`, or `–` if there are none."""
    if bounds is None:
        return "–"
    low, high = (seconds(end) for end in bounds)
    number, _, unit = low.partition(" ")
    return f"{number}–{high}" if high.partition(" ")[2] == unit and " " not in unit else f"{low}–{high}"


def statuses(counts: Sequence[tuple[Status, int]]) -> str:
    """Return counts of statuses, as `2 ok, 1 timeout`."""
    return ", ".join(f"{number} {status.value}" for status, number in counts)


def repeats(numbers: Sequence[int]) -> str:
    """Return numbers of repeats, as `repeat 0`, `repeats 0–4` or `repeats 0, 2, 5`."""
    if len(numbers) > 2 and numbers[-1] - numbers[0] == len(numbers) - 1:
        return f"repeats {numbers[0]}–{numbers[-1]}"
    return f"{plural('repeat', len(numbers))} {', '.join(str(number) for number in numbers)}"


def options(values: Options) -> str:
    """Return options as `hybridize=true, layout=nchw`."""
    return ", ".join(f"{name}={str(value).lower() if isinstance(value, bool) else value}" for name, value in values)


def ratio_interval(low: float | None, high: float | None) -> str:
    """Return an interval as `0.893–0.921`, or `–` if there is none."""
    return "–" if low is None or high is None else f"{ratio(low)}–{ratio(high)}"


def ratio(value: float) -> str:
    """Return a ratio, near 1 to three decimals because per cents are judged."""
    if value >= _ENDLESS or value <= 1 / _ENDLESS:
        return f">{_ENDLESS}" if value > 1 else f"<{1 / _ENDLESS:g}"
    return f"{value:.3f}" if 0.1 <= value < 10 else factor(value)


def short_percent(share: float) -> str:
    """Return a share as `2 %` or `0.31 %`."""
    return f"{100 * share:.3g} %"


def moment(iso: str) -> str:
    """Return a time in UTC with a space between date and time."""
    return iso.replace("T", " ").replace("+00:00", " UTC").replace("Z", " UTC")


def level(confidence: float) -> str:
    """Return a confidence as `95 %` or `99.96 %`, with the digits that tell it from 100 %."""
    missing = 100 * (1 - confidence)
    return (
        f"{100 * confidence:.{max(0, 1 - math.floor(math.log10(missing)))}f} %"
        if missing < 0.5
        else (f"{100 * confidence:.0f} %")
    )


def whole_percent(share: float) -> str:
    """Return a share as `95 %`, which no line breaks apart."""
    return f"{100 * share:.0f}\N{NO-BREAK SPACE}%"


class Tone(StrEnum):
    """The weight of a text, or its color."""

    PLAIN = ""
    STRONG = "strong"
    FAINT = "faint"
    GOOD = "good"
    BAD = "bad"
    OPEN = "open"
    """Neither good nor bad: not decided, not measured."""


@dataclass(frozen=True, slots=True)
class Phrase:
    """A part of a text that stands out."""

    text: str
    kind: str
    """`em`, `code`, `strong`, `b`, `small`, `hidden` from those who do not see the page, a tone, or another class."""
    hint: str = ""
    """Longer text that a page shows on demand."""


@dataclass(frozen=True, slots=True)
class Link:
    """A text that leads to an address."""

    text: "Sentence"
    address: str = ""
    """Path from the page; empty for the page itself."""
    anchor: str = ""
    """Name of the place on that page."""
    label: str = ""
    """Name for those who do not see the page, if the text does not say where it leads."""
    relation: str = ""
    """`prev` or `next` for a link that turns the page."""


@dataclass(frozen=True, slots=True)
class Chip:
    """A word or two in a frame of their color, such as the answer of a report."""

    text: str
    mark: str = ""
    """Tone or word that gives it its color."""
    count: int | None = None


@dataclass(frozen=True, slots=True)
class VerdictWord:
    """A verdict in the color of its mark."""

    text: str
    mark: str


Part = str | Phrase | Link | Chip | VerdictWord
Sentence = Part | tuple[Part, ...]


def parts(text: Sentence) -> tuple[Part, ...]:
    """Return the parts of a sentence."""
    return text if isinstance(text, tuple) else (text,)


def plain(text: Sentence) -> str:
    """Return the words of a sentence alone."""
    return "".join(part if isinstance(part, str) else plain(part.text) for part in parts(text))


def spaced(each: Iterable[Part]) -> tuple[Part, ...]:
    """Return a sentence of parts with spaces between them."""
    sentence: list[Part] = []
    for part in each:
        sentence += [" ", part] if sentence else [part]
    return tuple(sentence)
