"""Text in the format of OpenMetrics, which the textfile collector of Prometheus' node exporter reads too.

Source: OpenMetrics 1.0, https://github.com/prometheus/OpenMetrics
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from orchestrator.wording import clean

Labels = Mapping[str, str]
_NO_NAME = re.compile(r"[^a-zA-Z0-9_]+")
_UNITS = {"s": "seconds", "B": "bytes", "J": "joules"}


@dataclass(frozen=True, slots=True)
class Family:
    """A gauge with its samples."""

    name: str
    help_text: str
    samples: tuple[tuple[Labels, float], ...]
    unit: str = ""
    """The end of the name, such as `seconds`; empty without one."""


def name_part(text: str) -> str:
    """Return a text as a part of the name of a metric, such as `printed_speed`."""
    return _NO_NAME.sub("_", text).strip("_").lower()


def unit_name(unit: str) -> str:
    """Return a unit as names of metrics have it, such as `seconds` or `samples_per_second`."""
    over, slash, under = unit.partition("/")
    if slash:
        below = unit_name(under)
        return f"{unit_name(over)}_per_{'second' if below == 'seconds' else below}"
    return _UNITS.get(unit, name_part(unit))


def text(families: Iterable[Family]) -> str:
    """Return the families as one text. A sample has no time: the collector refuses files that have any."""
    return "".join(f"{line}\n" for line in (*_lines(families), "# EOF"))


def _lines(families: Iterable[Family]) -> Iterator[str]:
    for family in families:
        yield f"# TYPE {family.name} gauge"
        if family.unit:
            yield f"# UNIT {family.name} {family.unit}"
        yield f"# HELP {family.name} {_escaped(family.help_text)}"
        for labels, value in family.samples:
            listed = ",".join(f'{name}="{_escaped(each)}"' for name, each in labels.items())
            yield f"{family.name}{{{listed}}} {value}"


def _escaped(text_: str) -> str:
    return clean(text_).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
