"""Text for people, cleaned of control characters, with units and lists."""

import re
from collections.abc import Sequence
from functools import lru_cache

_ESCAPES = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # CSI: colours, cursor
    r"|\x1b[\]PX^_].*?(?:\x07|\x1b\\|$)"  # OSC and other strings: titles, links
    r"|\x1b[ -/]*[0-~]?",
    re.DOTALL,
)
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def clean(text: str) -> str:
    """Remove escape sequences, control and direction characters, which steer a terminal or disguise a line.

    Newlines and tabs stay.
    """
    if text.isprintable():  # which no control or direction character is: nearly all texts, at a fraction of the time
        return text
    return _CONTROLS.sub("", _ESCAPES.sub("", text.replace("\r\n", "\n")))


@lru_cache(maxsize=8192)  # the same facts come from thousands of containers
def clean_line(text: str) -> str:
    """Clean a text as `clean` does, and fold all white space into single spaces."""
    return " ".join(clean(text).split())


def rate(samples_per_s: float) -> str:
    """Format samples per second to about four digits, as `13,402`, `87.3`, `2.41` or `1.35 M`."""
    if samples_per_s >= 999_995_000:
        return f"{samples_per_s / 1e9:,.2f} G"
    if samples_per_s >= 999_999.5:
        return f"{samples_per_s / 1e6:,.2f} M"
    if samples_per_s >= 99.95:
        return f"{samples_per_s:,.0f}"
    return f"{samples_per_s:.1f}" if samples_per_s >= 9.995 else f"{samples_per_s:.3g}"


def factor(value: float) -> str:
    """Format a ratio to three digits, as `0.553`, `12.4` or `104`, and below a thousandth as `0.00012`."""
    if value >= 99.95:
        return f"{value:,.0f}"
    if value >= 9.995:
        return f"{value:.1f}"
    return f"{value:.2f}" if value >= 0.9995 else f"{value:.3f}" if value >= 0.001 else f"{value:.2g}"


def seconds(value: float) -> str:
    """Format a duration in the unit that suits it, as `80 ns`, `850 µs`, `14.9 ms`, `3.10 s` or `2 h 3 min`."""
    if value < 9.995e-7:
        return f"{value * 1e9:.0f} ns"
    if value < 0.0009995:
        return f"{three_digits(value * 1e6)} µs"
    if value < 0.9995:
        return f"{three_digits(value * 1e3)} ms"
    if value < 99.95:
        return f"{three_digits(value)} s"
    whole = round(value)
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600:,} h {whole % 3600 // 60} min"


def memory(size_bytes: int) -> str:
    """Format a size in decimal units, as `412 MB`, `3.21 GB` or `4 kB`."""
    if size_bytes < 99_500:
        return f"{size_bytes / 1e3:.0f} kB"
    if size_bytes >= 999_500_000:
        return f"{three_digits(size_bytes / 1e9)} GB"
    return f"{size_bytes / 1e6:.0f} MB" if size_bytes >= 9_950_000 else f"{size_bytes / 1e6:.1f} MB"


def count(number: int) -> str:
    """Format a number, as `61.7 k`, `3.21 M` or `1.2 G`."""
    for unit, size in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if number >= size * 0.9995:
            return f"{three_digits(number / size)} {unit}"
    return str(number)


def percent(value: float | None) -> str:
    """Format a share, as `1.8 %`, or `–` if unknown."""
    return "–" if value is None else f"{100 * value:.1f} %"


def share(value: float) -> str:
    """Format a part of a whole to two digits, as `0.0012 %`, `62 %` or `below 0.0001 %`."""
    if value < 1e-6:
        return "below 0.0001 %"
    return f"{100 * value:.0f} %" if value >= 0.0995 else f"{100 * value:.2g} %"


def plural(word: str, number: int) -> str:
    """Return the plural of a word unless the number is one."""
    return word if number == 1 else f"{word}s"


def counted(number: int, word: str) -> str:
    """Format a number of things, as `1 cell` or `1,234 repeats`."""
    return f"{number:,} {plural(word, number)}"


def listing(items: Sequence[str]) -> str:
    """Join items, as `a`, `a and b`, or `a, b and c`."""
    return " and ".join(part for part in (", ".join(items[:-1]), "".join(items[-1:])) if part)


def listing_of(items: Sequence[str], most: int) -> str:
    """Join items and name about `most` of them, as `a, b, c and 17 more`."""
    if len(items) <= most + 1:
        return listing(items)
    return listing([*items[:most], f"{len(items) - most:,} more"])


def three_digits(value: float) -> str:
    """Return a number to three digits, `0.12`, `12.3` or `123`, and zero as `0`."""
    return f"{value:.0f}" if value >= 99.95 or value == 0 else f"{value:.1f}" if value >= 9.995 else f"{value:.2f}"
