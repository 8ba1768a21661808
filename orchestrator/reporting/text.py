"""Words and figures for people, the same in every format."""

import re
import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from orchestrator.analysis import CONFIDENCE, Bounds, Epochs, Estimate, GpuUse, Percentiles, Ratio
from orchestrator.domain import Cell, Options, Status

_ESCAPES = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # CSI: colours, cursor
    r"|\x1b[\]PX^_].*?(?:\x07|\x1b\\|$)"  # OSC and other strings: titles, links
    r"|\x1b[ -/]*[0-~]?",
    re.DOTALL,
)
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def clean(text: str) -> str:
    """Take out what could steer a terminal or disguise a line: escape sequences, control and direction characters.

    Newlines and tabs stay.
    """
    if text.isprintable():  # which no control or direction character is: nearly all texts, at a fraction of the time
        return text
    return _CONTROLS.sub("", _ESCAPES.sub("", text.replace("\r\n", "\n")))


@lru_cache(maxsize=8192)  # the same facts come from thousands of containers
def clean_line(text: str) -> str:
    """`clean`, with all white space folded into single spaces."""
    return " ".join(clean(text).split())


def flatten(facts: Mapping[str, object], prefix: str = "") -> Iterable[tuple[str, str]]:
    """Nested facts as dotted names and short texts, in their own order."""
    for key, value in facts.items():
        name = f"{prefix}{clean_line(str(key))}"
        if isinstance(value, Mapping):
            yield from flatten(value, f"{name}.")
        elif isinstance(value, list | tuple) and any(isinstance(item, Mapping) for item in value):
            yield from flatten({str(number): item for number, item in enumerate(value)}, f"{name}.")
        elif isinstance(value, list | tuple):
            yield from [(name, ", ".join(clean_line(str(item)) for item in value))] if value else []
        elif value is not None:
            yield name, clean_line(str(value))


def rate(samples_per_s: float) -> str:
    """Samples per second to about four digits: `13,402`, `87.3`, `2.41`, `1.35 M`."""
    if samples_per_s >= 999_995_000:
        return f"{samples_per_s / 1e9:,.2f} G"
    if samples_per_s >= 999_999.5:
        return f"{samples_per_s / 1e6:,.2f} M"
    if samples_per_s >= 99.95:
        return f"{samples_per_s:,.0f}"
    return f"{samples_per_s:.1f}" if samples_per_s >= 9.995 else f"{samples_per_s:.3g}"


def rate_interval(value: Estimate) -> str:
    """`12,990–13,830`, or why there is none."""
    if value.low is None or value.high is None:
        return "1 repeat"
    return _rates(value.low, value.high)


def next_interval(value: Estimate) -> str:
    """Where one further repeat will lie: `12,400–14,480`, or why nothing says."""
    if value.next_low is None or value.next_high is None:
        return "1 repeat"
    return _rates(value.next_low, value.next_high)


def _rates(low: float, high: float) -> str:
    """Write a range whose ends both show their unit, or both have none: `1.27 M–1.48 M`, `3.27–1,480,000`."""
    if rate(low)[-1].isdigit() and not rate(high)[-1].isdigit():
        return f"{rate(low)}–{float(f'{high:.3g}'):,.0f}"
    return f"{rate(low)}–{rate(high)}"


def factor(value: float) -> str:
    """A ratio to three digits: `0.553`, `1.83`, `12.4`, `104`; below a thousandth, `0.00012`."""
    if value >= 99.95:
        return f"{value:,.0f}"
    if value >= 9.995:
        return f"{value:.1f}"
    return f"{value:.2f}" if value >= 0.9995 else f"{value:.3f}" if value >= 0.001 else f"{value:.2g}"


def factor_interval(value: Ratio) -> str:
    """`0.531–0.572`, or why there is none."""
    if value.low is None or value.high is None:
        return "no interval"
    return f"{factor(value.low)}–{factor(value.high)}"


def verdict(value: Ratio) -> str:
    """`slower`, or `inconclusive: about 4 more repeats`."""
    if value.more_repeats is None:
        return value.verdict.value
    return f"{value.verdict.value}: about {value.more_repeats} more {plural('repeat', value.more_repeats)}"


def seconds(value: float) -> str:
    """A duration in the unit that suits it: `80 ns`, `850 µs`, `14.9 ms`, `3.10 s`, `12 min 5 s`, `2 h 3 min`."""
    if value < 9.995e-7:
        return f"{value * 1e9:.0f} ns"
    if value < 0.0009995:
        return f"{_three(value * 1e6)} µs"
    if value < 0.9995:
        return f"{_three(value * 1e3)} ms"
    if value < 99.95:
        return f"{_three(value)} s"
    whole = round(value)
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600:,} h {whole % 3600 // 60} min"


def seconds_interval(value: Estimate) -> str:
    """`12.1 s–12.9 s`, or why there is none."""
    if value.low is None or value.high is None:
        return "1 repeat"
    return f"{seconds(value.low)}–{seconds(value.high)}"


LEGEND = (
    f"Samples/s: geometric mean over the repeats. Intervals: {100 * CONFIDENCE:.0f} %, from repeat to repeat. "
    "A rank such as 1–2: the repeats do not tell these apart. "
    "Step: median and 99th percentile with its interval (– if there are too few steps or one repeat), from a separate "
    "pass that is synchronised at every step. "
    "Start: import, build and first step. Memory: the highest of any repeat."
)
EPOCH_HEADS = ("Epochs", "Total time", "Without the first", "First epoch", "Later epochs", "Test accuracy")
EPOCH_NOTE = (
    "Total time is the first step and all epochs. "
    "Samples/s is the median over the epochs after the first, or the only one that there is. "
    "Test accuracy is that after the last epoch: its median over the repeats, and the lowest and highest."
)


@dataclass(frozen=True, slots=True)
class Figure:
    """What a table shows in one place."""

    text: str
    below: str = ""
    value: float | None = None
    """To sort by."""


def epoch_figures(epochs: Epochs) -> tuple[Figure, ...]:
    """One figure for each of `EPOCH_HEADS`."""
    first, *later = epochs.epoch_s
    total, rest = epochs.total_s, epochs.after_first_s
    usual = statistics.median(later) if later else None
    return (
        Figure(str(len(epochs.epoch_s)), value=len(epochs.epoch_s)),
        Figure(seconds(total.value), seconds_interval(total), total.value),
        Figure(seconds(rest.value), seconds_interval(rest), rest.value) if rest else Figure("–", "only one epoch"),
        Figure(seconds(first), value=first),
        Figure(seconds(usual), "median" if len(later) > 1 else "", usual) if usual else Figure("–"),
        _accuracy(epochs.test_accuracies),
    )


def _accuracy(found: Sequence[float]) -> Figure:
    if not found:
        return Figure("–")
    middle, low, high = statistics.median(found), min(found), max(found)
    span = "every repeat" if percent(low) == percent(high) else f"{100 * low:.1f}–{percent(high)}"
    return Figure(percent(middle), span if len(found) > 1 else "1 repeat", middle)


def gpu_figures(gpus: GpuUse | None) -> tuple[Figure, Figure, Figure]:
    """Energy, highest temperature and lowest clock of a repeat's GPUs; `–` for what is unknown."""
    energy, hottest, clock = (gpus.energy_j, gpus.hottest_c, gpus.slowest_clock_hz) if gpus else (None, None, None)
    return (
        Figure("–" if energy is None else f"{_three(energy)} J", value=energy),
        Figure("–" if hottest is None else f"{hottest:.0f} °C", value=hottest),
        Figure("–" if clock is None else f"{clock / 1e6:.0f} MHz", value=clock),
    )


def _three(value: float) -> str:
    return f"{value:.0f}" if value >= 99.95 or value == 0 else f"{value:.1f}" if value >= 9.995 else f"{value:.2f}"


def memory(size_bytes: int) -> str:
    """`412 MB`, `3.21 GB`, `4 kB`: decimal units."""
    if size_bytes < 99_500:
        return f"{size_bytes / 1e3:.0f} kB"
    if size_bytes >= 999_500_000:
        return f"{_three(size_bytes / 1e9)} GB"
    return f"{size_bytes / 1e6:.0f} MB" if size_bytes >= 9_950_000 else f"{size_bytes / 1e6:.1f} MB"


def count(number: int) -> str:
    """`61.7 k`, `3.21 M`, `1.2 G`."""
    for unit, size in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if number >= size * 0.9995:
            return f"{_three(number / size)} {unit}"
    return str(number)


def latency(value: Percentiles | None) -> tuple[str, str, str]:
    """Median and p99 of a step, and the interval of the p99, for people."""
    if value is None:
        return "–", "–", "–"
    return seconds(value.p50_s), seconds(value.p99_s), seconds_bounds(value.p99_bounds_s)


def seconds_bounds(bounds: Bounds | None) -> str:
    """`17.1–25.0 ms`, `980 µs–1.12 ms`, or `–` if there are none."""
    if bounds is None:
        return "–"
    low, high = (seconds(end) for end in bounds)
    number, _, unit = low.partition(" ")
    return f"{number}–{high}" if high.partition(" ")[2] == unit and " " not in unit else f"{low}–{high}"


def percent(value: float | None) -> str:
    """`1.8 %`, `–` where unknown."""
    return "–" if value is None else f"{100 * value:.1f} %"


def share(value: float) -> str:
    """Return a part of a whole to two digits: `0.0012 %`, `3.4 %`, `62 %`; `below 0.0001 %`."""
    if value < 1e-6:
        return "below 0.0001 %"
    return f"{100 * value:.0f} %" if value >= 0.0995 else f"{100 * value:.2g} %"


def statuses(counts: Sequence[tuple[Status, int]]) -> str:
    """`2 ok, 1 timeout`."""
    return ", ".join(f"{number} {status.value}" for status, number in counts)


def plural(word: str, number: int) -> str:
    """`repeat` for one, `repeats` for any other number."""
    return word if number == 1 else f"{word}s"


def counted(number: int, word: str) -> str:
    """`1 cell`, `1,234 repeats`."""
    return f"{number:,} {plural(word, number)}"


def listing(items: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    return " and ".join(part for part in (", ".join(items[:-1]), "".join(items[-1:])) if part)


def listing_of(items: Sequence[str], most: int) -> str:
    """`listing`, of which no more than about `most` are named: `a, b, c and 17 more`."""
    if len(items) <= most + 1:
        return listing(items)
    return listing([*items[:most], f"{len(items) - most:,} more"])


def repeats(numbers: Sequence[int]) -> str:
    """`repeat 0`, `repeats 0–4`, `repeats 0, 2, 5`."""
    if len(numbers) > 2 and numbers[-1] - numbers[0] == len(numbers) - 1:
        return f"repeats {numbers[0]}–{numbers[-1]}"
    return f"{plural('repeat', len(numbers))} {', '.join(str(number) for number in numbers)}"


def options(values: Options) -> str:
    """`hybridize=true, layout=nchw`."""
    return ", ".join(f"{name}={str(value).lower() if isinstance(value, bool) else value}" for name, value in values)


def labels(cells: Sequence[Cell]) -> tuple[str, ...]:
    """Name the cells of a group: the framework, then only what tells cells of that framework apart."""
    axes = [_axes(cell) for cell in cells]
    values: dict[tuple[str, str], set[str | None]] = {}
    alike = Counter(cell.framework.label for cell in cells)
    having: Counter[tuple[str, str]] = Counter()
    for cell, mine in zip(cells, axes, strict=True):
        for name, text in mine.items():
            values.setdefault((cell.framework.label, name), set()).add(text)
            having[cell.framework.label, name] += 1
    for (label, name), some in values.items():
        if having[label, name] < alike[label]:
            some.add(None)
    found = []
    for cell, mine in zip(cells, axes, strict=True):
        varying = [text for name, text in mine.items() if len(values[cell.framework.label, name]) > 1]
        varying += ["own definition"] if cell.definition else []
        found.append(clean_line(" · ".join([cell.framework.label, *varying])))
    named = Counter(found)
    return tuple(label if named[label] == 1 else cell.id for label, cell in zip(found, cells, strict=True))


def _axes(cell: Cell) -> dict[str, str]:
    framework = cell.framework
    return {
        "python": f"Python {framework.python}",
        **{f"package {name}": f"{name} {version}" for name, version in framework.packages},
        **{f"option {name}": options(((name, value),)) for name, value in cell.options},
        "image": framework.image or framework.dockerfile or "own image",
    }
