"""Facts of hosts and containers as names and short texts."""

from collections.abc import Iterable, Mapping

from orchestrator.reporting.findings.model import Facts
from orchestrator.wording import clean_line

_MOST_VALUES = 4


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


def merged(several: Iterable[Facts]) -> Facts:
    """Return one value per fact, those of containers that disagree joined by ` | `."""
    different = list(dict.fromkeys(several))
    if len(different) == 1:
        return different[0]
    values: dict[str, dict[str, None]] = {}
    for facts in different:
        for name, value in facts:
            values.setdefault(name, {})[value] = None
    return tuple(
        (name, " | ".join([*values_of_name][:_MOST_VALUES]) + (" | …" if len(values_of_name) > _MOST_VALUES else ""))
        for name, values_of_name in values.items()
    )
