"""The rules of `exclude` and `include` as bits.

A rule covers a cell if every part of the cell has the bit of the rule.
"""

from collections.abc import Callable, Iterator, Sequence

from orchestrator.domain import Framework, Options, OptionValue, System, Workload
from orchestrator.matrix.model import Rule, covers
from orchestrator.modes.parts.sizes import SIZE, named_size


def site_bits(rules: Sequence[Rule], framework: Framework, system: System) -> int:
    """Return the bits of the rules that allow a framework on a system."""

    def agrees(rule: Rule) -> bool:
        return (
            _any(rule.systems, system.name)
            and _any(rule.pythons, framework.python)
            and covers(rule.frameworks, framework)
        )

    return _bits(rules, agrees)


def work_bits(rules: Sequence[Rule], work: Workload) -> int:
    """Return the bits of the rules that allow a workload."""

    def agrees(rule: Rule) -> bool:
        return (
            _any(rule.models, work.model)
            and _any(rule.modes, work.mode)
            and _any(rule.batch_sizes, work.batch)
            and _any(rule.datasets, work.dataset)
            and _any(rule.feeds, work.feed)
            and _any(rule.workers, work.workers)
            and _any(rule.scalings, work.scaling)
            and rule.load.hold(work.load)
            and rule.generation.hold(work.generation)
            and all(_axis(work, name) in values for name, values in rule.axes)
        )

    return _bits(rules, agrees)


def _axis(work: Workload, name: str) -> OptionValue | None:
    """Return the value of an axis. A size goes by its name, whatever axes differ from it."""
    return named_size(work.size) if name == SIZE and work.size else dict(work.axes).get(name)


def option_bits(rules: Sequence[Rule], options: Options) -> int:
    """Return the bits of the rules that allow a set of options, which must have every option that a rule names."""
    values_of = dict(options)

    def agrees(rule: Rule) -> bool:
        return all(name in values_of and values_of[name] in values for name, values in rule.options)

    return _bits(rules, agrees)


def positions(bits: int) -> Iterator[int]:
    """Yield the indices of the rules in a set, in the order of the file."""
    while bits:
        lowest = bits & -bits
        yield lowest.bit_length() - 1
        bits ^= lowest


def _any(wanted: Sequence[object], value: object) -> bool:
    return not wanted or value in wanted


def _bits(rules: Sequence[Rule], agrees: Callable[[Rule], bool]) -> int:
    return sum(1 << index for index, rule in enumerate(rules) if agrees(rule))
