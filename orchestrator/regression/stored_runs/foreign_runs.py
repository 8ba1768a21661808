"""The comparison of files of another benchmark tool, by the statistics of our own results."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from orchestrator.analysis.comparison import Verdict
from orchestrator.errors import InputError
from orchestrator.foreign import ForeignBenchmark, ForeignFile, ForeignSamples
from orchestrator.modes.parts.metrics import Better, Metric
from orchestrator.regression.judge.findings import PairFindings
from orchestrator.regression.judge.judge import compared_runs
from orchestrator.regression.judge.metric_rule import MetricRule
from orchestrator.regression.model import Design, Judged, JudgedPair, Regression, SideRecord
from orchestrator.regression.rules import LEAST_BLOCKS, Rules
from orchestrator.regression.stored_runs.foreign_gates import ForeignGate, gate_of, usual_tolerance
from orchestrator.wording import clean_line, listing, listing_of

_UNKNOWN_DIRECTION = "the file does not say whether more of it is better"
_NO_PARITY = "nobody has checked that both sides do the same work: that the names are the same is all that is known"
_UNKNOWN = (("hostname", "host"), ("cpu", "CPU"), ("python", "Python"))
_OF_A_MACHINE = (("cpu", "CPU"), ("cpus", "number of CPUs"))
_MOST_NAMED = 3
_RULES = Rules((), looks=(LEAST_BLOCKS,), confirm=False)


@dataclass(frozen=True, slots=True)
class ForeignSide:
    """Files of one side, each of which is a run."""

    text: str
    files: tuple[ForeignFile, ...]
    name: str = ""
    """The one benchmark that is meant; empty for all of them."""

    @property
    def tool(self) -> str:
        """The tool, with its version where the files say one."""
        return " | ".join(dict.fromkeys(file.tool for file in self.files))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the benchmarks that are meant, each once."""
        every = dict.fromkeys(name for file in self.files for name in file.benchmarks)
        return tuple(name for name in every if not self.name or name == self.name)

    def found(self, name: str) -> Mapping[str, ForeignBenchmark]:
        """Return a benchmark in every file that has it, by the path of the file."""
        return {str(file.path): file.benchmarks[name] for file in self.files if name in file.benchmarks}

    def fact(self, name: str) -> str:
        """Return what the files say of their host."""
        return " | ".join(dict.fromkeys(file.facts[name] for file in self.files if name in file.facts))


def compare_files(baseline: ForeignSide, candidate: ForeignSide, gates: Sequence[ForeignGate] = ()) -> Regression:
    """Compare the benchmarks of two sides by their names, or one of each side whatever its name.

    Samples of both sides are independent, and never paired: no file says what was measured next to what.
    Raises `InputError` if the files are of different tools, or no benchmark is on both sides.
    """
    _refuse_other_tools(baseline, candidate)
    named = _matched(baseline, candidate)
    judge = _FileJudge(
        Design.RUNS if len(baseline.files) == len(candidate.files) == 1 else Design.SEVERAL_RUNS,
        tuple(gates),
        _machine_difference(baseline, candidate),
        [(baseline.found(one), candidate.found(other)) for one, other in named],
    )
    pairs = [judge.pair(*names, *found) for names, found in zip(named, judge.both, strict=True)]
    pairs += _alone(baseline, {one for one, _ in named}, candidate, Verdict.GONE)
    pairs += _alone(candidate, {other for _, other in named}, baseline, Verdict.NEW)
    return Regression(
        run=f"{baseline.text} {candidate.text}",
        created_at=max(file.created_at for file in candidate.files),
        host=candidate.fact("hostname"),
        runtime=candidate.tool,
        baseline=_record(baseline),
        candidate=_record(candidate),
        alpha=judge.rules.alpha,
        family=judge.family(decides=True),
        looks=(),
        confirms=False,
        complete=True,
        design=judge.design,
        warnings=tuple(_warnings(baseline, candidate)),
        pairs=tuple(pairs),
    )


def _record(side: ForeignSide) -> SideRecord:
    return SideRecord(text=side.text, label=side.name or side.text, python=side.fact("python"))


def _refuse_other_tools(*sides: ForeignSide) -> None:
    if len({file.tool.partition("/")[0] for side in sides for file in side.files}) > 1:
        said = " and ".join(f"{side.text} is of {side.tool}" for side in sides)
        raise InputError(f"{said}: compare files of one tool, which measures both sides in the same way")


def _matched(baseline: ForeignSide, candidate: ForeignSide) -> list[tuple[str, str]]:
    for side in (baseline, candidate):
        if not side.names:
            there = listing_of(
                list(dict.fromkeys(name for file in side.files for name in file.benchmarks)), _MOST_NAMED
            )
            raise InputError(f"{side.text}: no benchmark {side.name!r}; there is {clean_line(there)}")
    common = [(name, name) for name in baseline.names if name in candidate.names]
    if common:
        return common
    if len(baseline.names) == len(candidate.names) == 1:
        return [(baseline.names[0], candidate.names[0])]
    ones, others = (clean_line(listing_of(list(side.names), _MOST_NAMED)) for side in (baseline, candidate))
    raise InputError(
        f"{baseline.text} and {candidate.text}: no benchmark has the same name; there is {ones}, and {others}; "
        "name one of each, as in FILE:NAME"
    )


_Found = Mapping[str, ForeignBenchmark]
"""A benchmark in every file of a side that has it, by the path of the file."""


@dataclass(frozen=True)
class _FileJudge:
    """The judge of all pairs of two sides."""

    design: Design
    gates: tuple[ForeignGate, ...]
    difference: str
    """The reason that nothing is comparable; empty without one."""
    both: Sequence[tuple[_Found, _Found]]
    """All pairs, which share the risk of error."""
    rules: Rules = _RULES

    @cached_property
    def verdicts(self) -> tuple[int, int]:
        """The number of verdicts on metrics that decide, and on those that only inform."""
        decides = [self._gate(metric, pair) is not None for pair in self.both for metric in _metrics(*pair)]
        return sum(decides), len(decides) - sum(decides)

    def family(self, *, decides: bool) -> int:
        """Return the number of verdicts that share alpha."""
        deciding, informing = self.verdicts
        return max(1, deciding if decides else informing)

    def _gate(self, metric: str, pair: tuple[_Found, _Found]) -> ForeignGate | None:
        """Return the gate of a metric. One whose direction nobody knows decides nothing."""
        gate = gate_of(metric, self.gates)
        return gate if gate and (gate.better or _direction(metric, pair)) else None

    def pair(self, one: str, other: str, ones: _Found, others: _Found) -> JudgedPair:
        """Judge a benchmark of each side."""
        name = one if one == other else f"{one} \N{RIGHTWARDS ARROW} {other}"
        findings = self._findings(ones, others)
        return JudgedPair(
            id=name,
            baseline_cell=one,
            candidate_cell=other,
            verdict=findings.overall,
            reason=findings.because,
            notes=findings.notes,
            metrics=tuple(findings.metrics.values()),
        )

    def _findings(self, ones: _Found, others: _Found) -> PairFindings:
        notes = tuple(dict.fromkeys((*_notes(ones, "baseline"), *_notes(others, "candidate"))))
        findings = PairFindings(0, notes=notes)
        failing = _failing(ones, others)
        if failing is not None:
            return replace(findings, verdict=failing[0], reason=failing[1])
        if self.difference:
            return replace(findings, verdict=Verdict.NOT_COMPARABLE, reason=self.difference)
        return replace(
            findings, metrics={metric: self._judged(metric, ones, others) for metric in _metrics(ones, others)}
        )

    def _judged(self, metric: str, ones: _Found, others: _Found) -> Judged:
        sides = [_samples(metric, side) for side in (ones, others)]
        given = [samples for side in sides for samples in side.values()]
        gate = self._gate(metric, (ones, others))
        better = gate.better if gate and gate.better else _direction(metric, (ones, others))
        tolerance = gate.tolerance if gate else usual_tolerance(metric)
        unit = given[0].unit
        rule = MetricRule(
            Metric(metric, metric.replace("_", " "), unit, better or Better.EQUAL, tolerance, lambda _: None),
            gate is not None,
            tolerance,
        )
        units = listing(list(dict.fromkeys(samples.unit or "none" for samples in given)))
        if any(samples.unit != unit for samples in given):
            return rule.empty(Verdict.NOT_COMPARABLE, f"the units differ: {units}")
        look = self.rules.alone(self.family(decides=gate is not None))
        values = [{run: samples.values for run, samples in side.items()} for side in sides]
        judged = compared_runs(rule, self.design, (values[0], values[1]), look)
        if better is None:
            unknown = {"verdict": Verdict.NOT_COMPARABLE, "more_blocks": None}
            return judged.model_copy(update=unknown | {"reason": f"{_UNKNOWN_DIRECTION}; say --metric {metric}:lower"})
        lacks = next((samples.lacks for samples in given if samples.lacks), "")
        if lacks and judged.verdict is Verdict.INCONCLUSIVE and judged.blocks < LEAST_BLOCKS:
            return judged.model_copy(update={"reason": lacks})
        return judged


def _metrics(ones: _Found, others: _Found) -> tuple[str, ...]:
    """Return the metrics that both sides have, in the order of the baseline."""
    have = {metric for each in others.values() for metric in each.metrics}
    return tuple(dict.fromkeys(metric for each in ones.values() for metric in each.metrics if metric in have))


def _direction(metric: str, pair: tuple[_Found, _Found]) -> Better | None:
    """Return the direction of a metric by the files, or None if they do not say it."""
    return next(
        (each.metrics[metric].better for found in pair for each in found.values() if metric in each.metrics), None
    )


def _samples(metric: str, found: _Found) -> dict[str, ForeignSamples]:
    return {run: each.metrics[metric] for run, each in found.items() if metric in each.metrics and not each.failure}


def _failing(ones: _Found, others: _Found) -> tuple[Verdict, str] | None:
    """Return the verdict where a side has failed in all its files, with its reason, or None."""
    reasons = [_failure(side) for side in (ones, others)]
    match [bool(reason) for reason in reasons]:
        case [False, True]:
            return Verdict.BROKE, reasons[1]
        case [True, False]:
            return Verdict.FIXED, f"the baseline: {reasons[0]}"
        case [True, True]:
            return Verdict.NOT_MEASURED, reasons[0]
    return None


def _failure(found: _Found) -> str:
    failures = [each.failure for each in found.values()]
    return clean_line(failures[0]) if all(failures) else ""


def _notes(found: _Found, side: str) -> Iterator[str]:
    for run, each in found.items():
        remarks = [each.note, *(samples.note for samples in each.metrics.values())]
        remarks += [f"{each.failure} ({run})"] if each.failure and len(found) > 1 else []
        yield from (clean_line(f"{side}: {remark}") for remark in remarks if remark)


def _machine_difference(baseline: ForeignSide, candidate: ForeignSide) -> str:
    """Return the fact in which the machines of both sides differ, or an empty text if none is known to."""
    for name, title in _OF_A_MACHINE:
        one, other = baseline.fact(name), candidate.fact(name)
        if one and other and one != other:
            return f"{title} {one} against {other}"
    return ""


def _alone(side: ForeignSide, paired: set[str], other: ForeignSide, verdict: Verdict) -> list[JudgedPair]:
    reason = f"it is not in {other.text}"
    return [JudgedPair.of_one_side(verdict, name, name, reason) for name in side.names if name not in paired]


def _warnings(baseline: ForeignSide, candidate: ForeignSide) -> Iterator[str]:
    yield clean_line(f"Results of {baseline.tool}, not ours: {_NO_PARITY}")
    unknown = [title for name, title in _UNKNOWN if not (baseline.fact(name) and candidate.fact(name))]
    if unknown:
        yield f"The files say nothing of the {listing(unknown)}: that both sides had the same is not known"
    for name, title in _UNKNOWN:
        one, other = baseline.fact(name), candidate.fact(name)
        if one and other and one != other and name != "cpu":
            yield clean_line(f"The {title} is {one} for the baseline and {other} for the candidate")
