"""The table of the answers to requests, a row for each cell of a group, with what its scenario reports."""

from collections.abc import Iterator, Sequence
from statistics import median

from orchestrator.analysis.load.answers import AnsweredRequests
from orchestrator.analysis.percentiles import Percentiles
from orchestrator.domain import Workload
from orchestrator.modes.parts.early_stopping import requests_for_bound
from orchestrator.modes.parts.load import Load, Scenario
from orchestrator.reporting.findings.model import CellReport
from orchestrator.wording import clean_line, counted, rate, seconds, share

NOTE = (
    "A latency counts from the arrival of a request, by the schedule where there is one, until its answer is there; as "
    "Step it stands in the ranking. At most: what the percentile is shown not to exceed with 99 % confidence, by the "
    "early stopping of MLPerf; the largest of the repeats. It takes requests as independent; in a queue they are not. "
    "Requests that are all there at once have no percentiles."
)
_HEADS = ("Framework", "Requests/s", "Median", "p90, at most", "p99, at most", "In the queue", "In a batch")
_TOKEN_HEADS = ("First token p99, at most", "Per token p99, at most")
_TAILS = (("p90", 0.90), ("p99", 0.99))


def heads(cells: Sequence[CellReport]) -> tuple[str, ...]:
    """Return the heads of the table for the cells of one group, or none if they were under no load."""
    load = cells[0].cell.workload.load if cells else None
    if load is None or not any(cell.measurement for cell in cells):
        return ()
    of_tokens = [head for head, has in zip(_TOKEN_HEADS, _of_tokens(cells[0].cell.workload), strict=True) if has]
    return (*_HEADS, *of_tokens, *((f"Within {_limits(load)}", "99 % of them") if load.limits_s else ()))


def _limits(load: Load) -> str:
    """Return the limits of a good answer, such as `2 s, first token 200 ms`."""
    limits = (
        ("", load.latency_limit_s), ("first token ", load.first_token_limit_s), ("per token ", load.per_token_limit_s),
    )  # fmt: skip
    return ", ".join(f"{name}{seconds(limit_s)}" for name, limit_s in limits if limit_s is not None)


def _of_tokens(work: Workload) -> tuple[bool, bool]:
    """Return whether requests have a first token, and further ones."""
    return work.generation is not None, work.generation is not None and work.generation.output > 1


def rows(cells: Sequence[CellReport]) -> list[tuple[str, ...]]:
    """Return a row for every cell that was measured."""
    return [row for cell in cells if cell.cell.workload.load and (row := _row(cell, cell.cell.workload.load))]


def _row(cell: CellReport, load: Load) -> tuple[str, ...]:
    measured = cell.measurement
    known = [answers for each in cell.repeats if each.measurement and (answers := each.measurement.requests)]
    if measured is None or not known:
        return ()
    # Offline all requests are there at once, and the last of them waits for all others whatever the server does.
    has_tails, latency = load.scenario is not Scenario.OFFLINE, measured.latency
    return (
        clean_line(cell.label),
        rate(measured.throughput.value),
        seconds(latency.p50_s) if latency else "–",
        *(_tails(latency, known) if latency else ("–", "–")),
        share(sum(each.waiting for each in known) / len(known)),
        f"{sum(each.requests_per_batch for each in known) / len(known):.3g} of {cell.cell.global_batch}",
        *_token_tails(cell.cell.workload, known, has_tails=has_tails),
        *(_in_time(known) if load.limits_s else ()),
    )


def _tails(latency: Percentiles, known: Sequence[AnsweredRequests]) -> Iterator[str]:
    """Yield the tails of requests, each with its bound."""
    for (name, part), percentile_s in zip(_TAILS, (latency.p90_s, latency.p99_s), strict=True):
        yield _tail(name, percentile_s, part, [_bound(each, part) for each in known])


def _token_tails(work: Workload, known: Sequence[AnsweredRequests], *, has_tails: bool) -> Iterator[str]:
    """Yield the tails of tokens, whose percentiles are medians over the repeats."""
    for has, tails in zip(
        _of_tokens(work), zip(*((each.first_token, each.per_token) for each in known), strict=True), strict=True
    ):
        measured = [each for each in tails if each]
        if has and has_tails:
            yield _tail("p99", median(each.p99_s for each in measured), 0.99, [each.p99_bound_s for each in measured])
        elif has:
            yield "–"


def _bound(answers: AnsweredRequests, part: float) -> float | None:
    """Return the bound of a percentile, or None for too few requests."""
    return answers.p90_bound_s if part == _TAILS[0][1] else answers.p99_bound_s


def _tail(name: str, percentile_s: float, part: float, bounds: Sequence[float | None]) -> str:
    known = [each for each in bounds if each is not None]
    if len(known) < len(bounds):
        return f"not enough requests for {name}: {requests_for_bound(part)} needed"
    return f"{seconds(percentile_s)}, {seconds(max(known))}"


def _in_time(known: Sequence[AnsweredRequests]) -> tuple[str, str]:
    parts = [each.in_time or 0.0 for each in known]
    missing = [each.more_requests for each in known]
    mean = sum(parts) / len(parts)
    shown_share = f"{100 * mean:.4g} %"
    if any(each is None for each in missing):
        return shown_share, "late"
    most = max(each for each in missing if each is not None)
    return shown_share, f"not shown: about {counted(most, 'more request')}" if most else "in time"
