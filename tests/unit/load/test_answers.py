"""Results under load: what is refused, and which figures come of one."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from orchestrator.analysis.frontier.series import point_of
from orchestrator.analysis.load.answers import answers
from orchestrator.analysis.measurements import measurement, repeat_measurement
from orchestrator.analysis.percentiles import Percentiles, percentiles
from orchestrator.domain import Cell, Mode, Outcome, Status, Workload
from orchestrator.modes import RULES
from orchestrator.modes.parts.load import Load, Scenario
from orchestrator.modes.requests import GOODPUT
from orchestrator.reporting import inline
from orchestrator.reporting.findings.model import CellReport, Repeat
from orchestrator.reporting.findings.tables import under_load
from orchestrator.reporting.reports.run.records import latency_columns
from orchestrator.results.contract import Request, Result
from orchestrator.running.classify import discrepancy
from tests.unit.running.running_fakes import a_cell, result_for

SERVER = Load(Scenario.SERVER, 1000, rate=50.0, latency_limit_s=0.030)
SERVICE_S = 0.010


def cell(load: Load, batch_size: int = 1) -> Cell:
    work = Workload("lenet", Mode("requests"), batch_size, load=load)
    return replace(a_cell(), workload=work)


def request(load: Load, batch_size: int = 1) -> Request:
    return Request(
        cell="fake-1-cpu/c", repeat=0, framework="fake", builder="fakebuilder", model="lenet", mode="requests",
        load=load, batch_size=batch_size, steps=load.requests, min_blocks=1, latency_steps=load.requests,
    )  # fmt: skip


def result(load: Load, waits: Callable[[int], float], **changes: Any) -> Result:
    """A result of requests that arrive every 20 ms and wait as a test says."""
    count = load.requests
    waited = [waits(number) for number in range(count)]
    arrivals = [0.0 if load.scenario is Scenario.OFFLINE else 0.02 * number for number in range(count)]
    latencies = [each + SERVICE_S for each in waited]
    block = {"steps": count, "samples": count, "wall_s": 0.02 * count, "cpu_s": 1.0}
    parts = {
        "blocks": [block], "latency_s": latencies, "loss": None,
        "requests": {"arrival_s": arrivals, "waited_s": waited},
    }  # fmt: skip
    return Result.model_validate(result_for(request(load).model_dump(by_alias=True), **parts | changes))


def few(number: int) -> float:
    """Of a hundred requests one waits for 100 ms."""
    return 0.100 if number % 100 == 0 else 0.0


def test_figures_are_those_of_the_known_times() -> None:
    figures = repeat_measurement(result(SERVER, few), 0.1, load=SERVER)

    assert figures.requests is not None
    assert figures.samples_per_s == pytest.approx(50.0)
    assert figures.requests.in_time == pytest.approx(0.99)
    assert figures.requests.waiting == pytest.approx(0.001 / (0.001 + SERVICE_S))
    assert (GOODPUT.take or float)(figures) == pytest.approx(0.99 * 50.0)
    assert figures.latency is not None
    assert figures.latency.p50_s == pytest.approx(SERVICE_S)
    assert figures.requests.p90_bound_s == pytest.approx(SERVICE_S)
    assert figures.requests.p99_bound_s == pytest.approx(0.110)


def test_share_in_time_needs_enough_requests_to_be_shown() -> None:
    """With no late request 459 show 99 %, with ten late ones of a thousand it takes more, with more it is not so."""
    fine, close = (answers(result(SERVER, waits), SERVER) for waits in (lambda _number: 0.0, few))
    late = answers(result(SERVER, lambda number: 0.1 * (number % 50 == 0)), SERVER)

    assert fine.more_requests == 0
    assert close.more_requests is not None
    assert close.more_requests > 0
    assert late.more_requests is None


def test_too_few_requests_have_no_bound() -> None:
    short = replace(SERVER, requests=100)
    figures = answers(result(short, few), short)

    assert figures.p90_bound_s is not None
    assert figures.p99_bound_s is None


def test_without_a_limit_there_is_no_goodput() -> None:
    free = replace(SERVER, latency_limit_s=None)
    figures = repeat_measurement(result(free, few), 0.1, load=free)

    assert figures.requests is not None
    assert figures.requests.in_time is None
    assert (GOODPUT.take or float)(figures) is None
    assert RULES["requests"].metrics[0].name == "throughput"


def test_answering_result_is_accepted() -> None:
    assert discrepancy(request(SERVER), result(SERVER, few)) is None


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"requests": None}, "result.json has no requests; the mode is requests"),
        ({"latency_s": [0.01] * 3}, "result.json has 1000 arrivals, 1000 waits and 3 latencies"),
        ({"latency_s": [0.001] * 1000}, "result.json has a request that ended before its step began"),
        (
            {"blocks": [{"steps": 9, "samples": 1000, "wall_s": 1.0, "cpu_s": 1.0}]},
            "result.json counts 1000 requests in 9 batches of at most 1",
        ),
        (
            {"requests": {"arrival_s": [1.0, *[0.5] * 999], "waited_s": [0.0] * 1000}},
            "result.json has requests that are not in the order of their arrival",
        ),
    ],
)
def test_result_of_other_requests_is_invalid(changes: dict[str, Any], said: str) -> None:
    assert discrepancy(request(SERVER), result(SERVER, few, **changes)) == said


def test_other_numbers_of_requests_are_invalid() -> None:
    asked = replace(SERVER, requests=2000)

    assert discrepancy(request(asked), result(SERVER, few)) == "result.json has 1000 requests; 2000 were asked for"
    assert discrepancy(request(replace(SERVER, requests=999)), result(SERVER, few)) is not None


def test_late_arrival_offline_is_invalid() -> None:
    offline = Load(Scenario.OFFLINE, 1000)
    late = result(offline, few)
    moments = {"arrival_s": [*[0.0] * 999, 1.0], "waited_s": [few(number) for number in range(1000)]}

    assert discrepancy(request(offline), late) is None
    assert "offline all arrive at once" in str(discrepancy(request(offline), result(offline, few, requests=moments)))


def test_metrics_of_requests_widen_no_other_intervals() -> None:
    """Levels are shared by as many metrics as the mode with the most of them has, whichever decide."""
    training = {metric.name for metric in RULES["train"].metrics}

    assert len(RULES["requests"].metrics) <= len(training - {"total_time", "accuracy"})


def report(load: Load, repeats: int, waits: Callable[[int], float] = few) -> CellReport:
    """A report on so many alike repeats."""
    results = [result(load, waits)] * repeats
    measured, of_cell = [repeat_measurement(each, 0.1, load=load) for each in results], cell(load)
    return CellReport(
        cell=of_cell,
        label="fake 1",
        repeats=tuple(Repeat(Outcome(of_cell.id, number, Status.OK), each) for number, each in enumerate(measured)),
        statuses=((Status.OK, repeats),),
        measurement=measurement(measured, [each.latency_s for each in results]),
        facts=(),
    )


def pooled(cells: CellReport) -> Percentiles | None:
    return cells.measurement.latency if cells.measurement else None


@pytest.mark.parametrize(
    ("requests", "repeats", "shown"), [(100, 3, False), (183, 2, False), (1000, 1, False), (184, 2, True)]
)
def test_ranking_shows_no_tail_without_its_interval(requests: int, repeats: int, shown: bool) -> None:
    """That takes 368 requests in all, and two repeats. Of single steps 50 are enough for a p99 without one."""
    cells = report(replace(SERVER, requests=requests), repeats)

    _, p99, bounds = inline.latency(pooled(cells))
    assert (p99 != "–", bounds != "–") == (shown, shown)
    assert ("cell_latency_p99_s" in latency_columns(cells)) is shown
    assert inline.latency(percentiles([[0.01] * 50]))[1] == "10.0 ms"


def test_offline_has_no_percentiles() -> None:
    """The last request waits for all others, whatever the server does."""
    offline = Load(Scenario.OFFLINE, 1000, latency_limit_s=5.0)
    cells = report(offline, 3, lambda number: SERVICE_S * number)
    (repeat, *_) = (each.measurement for each in cells.repeats)
    assert repeat is not None
    assert repeat.requests is not None

    values = {metric.name: metric.take(repeat) for metric in RULES["requests"].metrics if metric.take}
    assert {name for name in values if name.startswith("latency_p")} == {"latency_p50", "latency_p90", "latency_p99"}
    assert [value for name, value in values.items() if name.startswith("latency_p")] == [None] * 3
    assert values["goodput"] == pytest.approx(50.0 * 0.5)
    assert inline.latency(pooled(cells)) == ("–", "–", "–")
    assert (repeat.requests.p90_bound_s, repeat.requests.p99_bound_s) == (None, None)
    ((_, rate, *tails, waiting, _, _, _),) = under_load.rows([cells])
    assert (rate, tails, waiting) == ("50.0", ["–"] * 3, "100 %")


def test_offline_still_has_a_frontier() -> None:
    """It goes by the median latency, which nothing else shows."""
    offline = Load(Scenario.OFFLINE, 1000)
    cells = report(offline, 3, lambda number: SERVICE_S * number)

    point = point_of(cells.cell, [each.measurement for each in cells.repeats if each.measurement])
    assert point is not None
    assert point.latency_s.value == pytest.approx(SERVICE_S * 500.5)
