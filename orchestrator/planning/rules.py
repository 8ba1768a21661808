"""Rules of `exclude` and `include` as bits: a cell is hit by a rule whose bit all of its parts carry."""

from collections.abc import Callable, Iterator, Sequence

from orchestrator.domain import Framework, Options, System, Workload
from orchestrator.matrix import Rule, pins


def site_bits(rules: Sequence[Rule], framework: Framework, system: System) -> int:
    """Rules that do not speak against a framework on a system."""

    def agrees(rule: Rule) -> bool:
        return (
            _any(rule.systems, system.name)
            and _any(rule.pythons, framework.python)
            and (not rule.frameworks or any(pins.parse(text).holds(framework) for text in rule.frameworks))
        )

    return _bits(rules, agrees)


def work_bits(rules: Sequence[Rule], work: Workload) -> int:
    """Rules that do not speak against a workload."""

    def agrees(rule: Rule) -> bool:
        return (
            _any(rule.models, work.model)
            and _any(rule.modes, work.mode)
            and _any(rule.batch_sizes, work.batch_size)
            and _any(rule.datasets, work.dataset)
        )

    return _bits(rules, agrees)


def option_bits(rules: Sequence[Rule], options: Options) -> int:
    """Rules that do not speak against a set of options; one that names an option the set lacks does."""
    given = dict(options)

    def agrees(rule: Rule) -> bool:
        return all(name in given and given[name] in values for name, values in rule.options)

    return _bits(rules, agrees)


def positions(bits: int) -> Iterator[int]:
    """Indices of the rules in a set, the first in the file first."""
    while bits:
        lowest = bits & -bits
        yield lowest.bit_length() - 1
        bits ^= lowest


def _any(wanted: Sequence[object], value: object) -> bool:
    return not wanted or value in wanted


def _bits(rules: Sequence[Rule], agrees: Callable[[Rule], bool]) -> int:
    return sum(1 << index for index, rule in enumerate(rules) if agrees(rule))
