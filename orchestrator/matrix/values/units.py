"""Sizes and durations as people write them, such as `8g`, `90s` or `1h30m`."""

import math
import re

from orchestrator.limits import MAX_BYTES, MAX_SECONDS, MIN_BYTES, MIN_OUTPUT_BYTES

_SIZE = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*([kmgt])(?:i?b)?", re.IGNORECASE)
_LEAST_LATENCY_S = 1e-6
_POWER = {"k": 1, "m": 2, "g": 3, "t": 4}
_DURATION = re.compile(r"(?:(\d+(?:\.\d+)?)h)?\s*(?:(\d+(?:\.\d+)?)m)?\s*(?:(\d+(?:\.\d+)?)s)?", re.ASCII)


_LATENCY = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*(ms|s)", re.ASCII)


def latency_s(value: object) -> float:
    """Return the seconds of a latency, such as `100ms`, `1.5s` or a number of seconds.

    Raises `ValueError` with a sentence for people.
    """
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        seconds = float(value)
    elif isinstance(value, str) and (match := _LATENCY.fullmatch(value.strip())):
        seconds = float(match[1]) / (1000 if match[2] == "ms" else 1)
    else:
        raise ValueError(f"{value!r} is no latency; write 100ms, 1.5s or a number of seconds")
    if not _LEAST_LATENCY_S <= seconds <= MAX_SECONDS:  # nor is a NaN
        raise ValueError(f"{value} is no latency from 1 microsecond to 30 days; write 100ms, for example")
    return seconds


def size_bytes(value: object) -> int:
    """Return the bytes of a size of memory, such as `8g`, `512m`, `1.5TiB` or a number of bytes.

    Units are powers of 1024. Raises `ValueError` with a sentence for people.
    """
    return _bytes(value, MIN_BYTES, "a container needs; write 8g, for example")


def output_bytes(value: object) -> int:
    """Return the bytes of the most that a repeat may write, which takes the same forms as `size_bytes`.

    Raises `ValueError` with a sentence for people.
    """
    return _bytes(value, MIN_OUTPUT_BYTES, "a log and a result may take; write 2g, for example")


def _bytes(value: object, least: int, why: str) -> int:
    if isinstance(value, int) and not isinstance(value, bool):
        count = int(value)
    elif isinstance(value, str) and (match := _SIZE.fullmatch(value.strip())):
        count = int(float(match[1]) * 1024 ** _POWER[match[2].lower()])
    else:
        raise ValueError(f"{value!r} is no size; write 8g, 512m or a number of bytes")
    if count < least:
        raise ValueError(f"{value} is less than the {least // 1024**2} MiB {why}")
    if count > MAX_BYTES:
        raise ValueError(f"{value} is more than any host has")
    return count


def duration_s(value: object) -> float:
    """Return the seconds of a duration, such as `90s`, `10m`, `1h30m` or a number of seconds.

    Raises `ValueError` with a sentence for people.
    """
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        seconds = float(value)
    elif isinstance(value, str) and value.strip() and (match := _DURATION.fullmatch(value.strip())):
        seconds = sum(float(part or 0) * unit for part, unit in zip(match.groups(), (3600, 60, 1), strict=True))
    else:
        raise ValueError(f"{value!r} is no duration; write 90s, 10m, 1h30m or a number of seconds")
    if math.isnan(seconds) or seconds <= 0:
        raise ValueError(f"{value} is no time at all; write 10m, for example")
    if seconds > MAX_SECONDS:
        raise ValueError(f"{value} is longer than 30 days")
    return seconds
