"""A run as plain figures, and as spans of time."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta

from orchestrator.analysis.estimates import estimate
from orchestrator.analysis.percentiles import Percentiles
from orchestrator.domain import Cell, Status
from orchestrator.modes.parts.metrics import Better, Metric
from orchestrator.regression.printed import PREFIX
from orchestrator.reporting.findings.model import CellReport, Repeat, Report
from orchestrator.reporting.measures import Facts, MeasuredMetric, MeasuredRun, TimeSpan, Trace, nanoseconds
from orchestrator.results.builds import Build

_OWN, _FLOOR = "own definition", "harness floor"
"""The remark in the name of a benchmark on a cell whose figures belong into no series with others."""
_Figure = tuple[float, float | None, float | None]
_POOLED: dict[str, Callable[[Percentiles], _Figure]] = {
    "latency_p50": lambda steps: (steps.p50_s, *(steps.p50_bounds_s or (None, None))),
    "latency_p90": lambda steps: (steps.p90_s, *(steps.p90_bounds_s or (None, None))),
    "latency_p99": lambda steps: (steps.p99_s, *(steps.p99_bounds_s or (None, None))),
}
"""Percentiles, which the report takes from the steps of all repeats together."""
_TAILS = (0.9, 0.99)


def measures(report: Report) -> tuple[MeasuredRun, ...]:
    """Return the measures of a run, those of each node by themselves in a run on a cluster."""
    return tuple(run for each in (report, *report.replicates) for run in _measured_runs(each))


def _measured_runs(report: Report) -> Iterator[MeasuredRun]:
    nodes = report.cluster.node_of if report.cluster else {}
    by_node: dict[str, list[CellReport]] = {} if nodes else {dict(report.host).get("hostname", ""): [*report.cells]}
    for cell in report.cells if nodes else ():
        by_node.setdefault(nodes.get(cell.cell.id, ""), []).append(cell)
    for host, cells in by_node.items():
        statuses = Counter(repeat.outcome.status.value for cell in cells for repeat in cell.repeats)
        yield MeasuredRun(
            run=report.run,
            created_at=report.created_at,
            host=host,
            host_facts=host_facts(report),
            measures=tuple(measure for cell in cells for measure in _measures(cell)),
            title=report.matrix,
            remark=report.profile.title if report.profile else "",
            succeeded_at=_last_success(cells),
            ended={status: str(count) for status, count in statuses.items()},
        )


def host_facts(report: Report) -> Facts:
    """Return the facts of the host that are known, with its GPUs in one line."""
    host = dict(report.host)
    gpus = [value for name, value in host.items() if name.startswith("gpus.") and name.endswith(".name")]
    known = {name: value for name, value in host.items() if value and not name.startswith("gpus.")}
    return known | ({"gpus": ", ".join(gpus)} if gpus else {}) | {"runtime": report.runtime}


def _last_success(cells: Sequence[CellReport]) -> str:
    ends = [_ended_at(repeat) for cell in cells for repeat in cell.repeats if _is_ok(repeat)]
    return max((end for end in ends if end), default="")


def _is_ok(repeat: Repeat) -> bool:
    return repeat.outcome.status is Status.OK


def _ended_at(repeat: Repeat) -> str:
    try:
        began = datetime.fromisoformat(repeat.outcome.started_at)
    except ValueError:
        return ""
    began = began if began.tzinfo else began.replace(tzinfo=UTC)
    return (began.astimezone(UTC) + timedelta(seconds=repeat.outcome.wall_s)).isoformat(timespec="milliseconds")


def _measures(cell: CellReport) -> Iterator[MeasuredMetric]:
    """Yield every metric of a cell that has a value, first those of every mode."""
    facts, rules = cell_facts(cell.cell) | _measured_facts(cell), cell.cell.workload.rules
    benchmark = cell.cell.id + (f" ({_OWN})" if cell.cell.definition else "")
    benchmark += "" if cell.computes else f" ({_FLOOR})"
    metrics = {metric.name: metric for metric in (*rules.metrics, *rules.columns) if metric.take}
    for name, metric in metrics.items():
        values = _values(metric, cell)
        if values:
            yield MeasuredMetric(
                benchmark, name, metric.unit, metric.better, *_figure(metric, cell, values), values, facts
            )
    for figure in cell.printed:
        better = Better(figure.better)
        name = f"{PREFIX}{figure.name}"
        yield MeasuredMetric(
            benchmark, name, figure.unit, better, figure.value, values=tuple(figure.repeats), facts=facts
        )


def _values(metric: Metric, cell: CellReport) -> tuple[float, ...]:
    """Return the values of a metric, or nothing if it is a percentile of requests without an interval."""
    pooled = cell.measurement.latency if cell.measurement else None
    if pooled and pooled.are_requests and metric.share in _TAILS and not pooled.gives(metric.share):
        return ()
    measured = [repeat.measurement for repeat in cell.repeats if repeat.measurement]
    return tuple(float(value) for each in measured if metric.take and (value := metric.take(each)) is not None)


def _figure(metric: Metric, cell: CellReport, values: tuple[float, ...]) -> _Figure:
    """Return the value of a metric with its interval, as the report shows it."""
    measured = cell.measurement
    if metric.name == "throughput" and measured:
        return measured.throughput.value, measured.throughput.low, measured.throughput.high
    if metric.name in _POOLED and measured and measured.latency:
        return _POOLED[metric.name](measured.latency)
    if min(values) <= 0:
        return sum(values) / len(values), None, None
    over = estimate(values)
    return over.value, over.low, over.high


def cell_facts(cell: Cell) -> dict[str, str]:
    """Return what a cell is, by plain names."""
    framework, work = cell.framework, cell.workload
    facts = {
        "framework": framework.name, "version": framework.version, "python": framework.python,
        "backend": framework.backend.label if framework.backend else "",
        "packages": ", ".join(f"{name}=={version}" for name, version in framework.packages),
        "model": work.model, "mode": work.mode.value, "batch_size": str(work.batch), "dataset": work.dataset or "",
        "definition": _OWN if cell.definition else "", "system": cell.system.name, "gpus": str(cell.system.gpus or ""),
        **{name: str(value) for name, value in work.axes},
        **{f"option.{name}": str(value).lower() for name, value in cell.options},
    }  # fmt: skip
    return {name: value for name, value in facts.items() if value}


def _measured_facts(cell: CellReport) -> dict[str, str]:
    return {name: value for name, value in cell.facts if name == "precision"}


def traces(report: Report) -> tuple[Trace, ...]:
    """Return the spans of a run: one for the run, in it one for each repeat that was launched and each build.

    The span of a repeat holds one for each of its phases.
    """
    return tuple(filter(None, map(_trace, (report, *report.replicates))))


def _trace(report: Report) -> Trace | None:
    began = nanoseconds(report.created_at)
    repeats = [span for cell in report.cells for repeat in cell.repeats if (span := _repeat_span(cell, repeat))]
    repeats.sort(key=lambda span: span.begin_ns)
    # Builds come last: a run that is taken up again has others, and its repeats keep the ids of their spans.
    inside = (*repeats, *filter(None, map(_build_span, report.builds)))
    if began is None and not inside:
        return None
    begin = min(filter(None, (began, *(span.begin_ns for span in inside))))
    end = max((begin, *(span.end_ns for span in inside)))
    facts = {"orchestrator.run": report.run, "orchestrator.matrix": report.matrix}
    facts |= {"orchestrator.profile": report.profile.title} if report.profile else {}
    whole = TimeSpan(f"run {report.run}", begin, end, facts=facts, spans=inside)
    return Trace(_name(report), host_facts(report), report.orchestrator_version, whole)


def _name(report: Report) -> str:
    """Return the name of a run, with its nodes where several have measured the same."""
    nodes = sorted(set(report.cluster.node_of.values())) if report.cluster else []
    return " ".join((report.run, *nodes))


def _repeat_span(cell: CellReport, repeat: Repeat) -> TimeSpan | None:
    outcome = repeat.outcome
    begin = nanoseconds(outcome.started_at) if outcome.started_at else None
    if begin is None:
        return None
    facts: dict[str, str | int | float] = {
        "orchestrator.cell": outcome.cell_id, "orchestrator.repeat": outcome.repeat,
        "orchestrator.status": outcome.status.value, "orchestrator.attempts": outcome.attempts,
        **{f"orchestrator.{name}": value for name, value in cell_facts(cell.cell).items()},
    }  # fmt: skip
    if repeat.measurement:
        facts |= {f"orchestrator.phase.{name}_s": seconds for name, seconds in repeat.measurement.phases_s}
        facts["orchestrator.samples_per_s"] = repeat.measurement.samples_per_s
    if outcome.disturbance:
        facts["orchestrator.disturbance"] = outcome.disturbance
    failure = "" if _is_ok(repeat) else outcome.reason or outcome.status.value
    end = begin + round(outcome.wall_s * 1e9)
    phases = tuple(_phase_spans(repeat.measurement.phases_s, begin, end)) if repeat.measurement else ()
    return TimeSpan(f"{outcome.cell_id} #{outcome.repeat}", begin, end, failure, facts, phases)


def _phase_spans(phases_s: Sequence[tuple[str, float]], begin_ns: int, end_ns: int) -> Iterator[TimeSpan]:
    """Yield a span for each phase, one behind the other: results hold how long a phase took, and not when it began."""
    for name, seconds in phases_s:
        until_ns = min(begin_ns + round(seconds * 1e9), end_ns)
        yield TimeSpan(name, begin_ns, until_ns, facts={"orchestrator.phase": name, "orchestrator.phase_s": seconds})
        begin_ns = until_ns


def _build_span(build: Build) -> TimeSpan | None:
    begin = nanoseconds(build.began_at)
    if begin is None:
        return None
    facts = {"orchestrator.image": build.image}
    return TimeSpan(f"build {build.image}", begin, begin + round(build.wall_s * 1e9), build.reason, facts)
