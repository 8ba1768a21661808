"""A run as raw numbers in SI units for programs.

They are records, one for every planned repeat and every skip, or plain values with stable names.
"""

from collections.abc import Iterator, Mapping, Sequence

from orchestrator.analysis.measurements import PHASES, RepeatEpochs, RepeatMeasurement
from orchestrator.analysis.resources import GpuUse
from orchestrator.domain import Cell, Skip, Status
from orchestrator.reporting.document import Records
from orchestrator.reporting.findings import shared_texts
from orchestrator.reporting.findings.model import CellReport, Placed, Repeat, Report
from orchestrator.reporting.inline import options
from orchestrator.reporting.reports.run.claims import RECORD_COLUMNS, claim_rows

Value = str | int | float | None
_CELL = (
    *("cell", "framework", "version", "backend", "python", "packages", "options", "image"),
    *("system", "cpus", "gpus", "model", "mode", "batch_size", "dataset", "definition"),
)
_PACE = ("samples_per_s", "block_variation", "cpu_cores")
_REPEAT = (
    *("repeat", "status", "reason", *_PACE),
    *(f"{phase}_s" for phase in PHASES),
    *("latency_p50_s", "latency_p90_s", "latency_p99_s", "peak_rss_bytes", "peak_device_bytes"),
    *("cpu_user_s", "cpu_system_s", "read_bytes", "written_bytes", "gpu_energy_j", "gpu_hottest_c"),
    *("first_loss", "last_loss", "parameters", "multiply_adds"),
    *("parity", "parity_reason", "harness_share"),
    *("epoch_s", "epochs_total_s", "epochs_after_first_s", "train_loss", "test_loss", "test_accuracy"),
    *("wall_s", "exit_code", "attempts", "remeasured", "not_remeasured", "disturbance", "started_at", "log"),
    *("cell_latency_p99_s", "cell_latency_p99_low_s", "cell_latency_p99_high_s"),
)
COLUMNS = ("run", *_CELL, *_REPEAT)
_SAMPLED = ("gpu_busy", "gpu_peak_bytes", "gpu_timed_peak_bytes", "gpu_energy_from", "gpu_samples_in_time")
"""Columns of what the host has sampled of GPUs, in runs that have any of it."""

_EFFICIENCY = ("cell_speed_up", "cell_efficiency", "cell_efficiency_low", "cell_efficiency_high", "cell_one_gpu")
"""Columns of cells on several GPUs beside one, in runs that have such a pair."""


def records(report: Report) -> Records:
    """Return a row for every repeat and skip, with figures of the repeat alone but for `cell_…`.

    What scripts printed has a column for each figure and unit, after all others; so have the axes and metrics of modes.
    The feed has columns where a cell has one, and what was sampled of GPUs where a repeat has it; so has the efficiency
    of several GPUs.
    """
    return records_of([(each, {}) for each in (report, *report.replicates)])


def records_of(reports: Sequence[tuple[Report, Mapping[str, str]]]) -> Records:
    """Return the rows of several reports, each with the facts of its host behind all other columns."""
    printed = dict.fromkeys(
        shared_texts.printed_column(figure)
        for report, _ in reports
        for cell in report.scripts
        for figure in cell.printed
    )
    axes = dict.fromkeys(name for report, _ in reports for cell in report.cells for name, _ in cell.cell.workload.axes)
    of_modes = dict.fromkeys(name for report, _ in reports for name in shared_texts.metric_names(report.cells))
    fed = dict.fromkeys(name for report, _ in reports for name in shared_texts.fed_names(report.cells))
    sampled = _SAMPLED if any(map(_has_series, (report for report, _ in reports))) else ()
    several = _EFFICIENCY if any(group.efficiencies for report, _ in reports for group in report.groups) else ()
    hosts = dict.fromkeys(f"host_{name}" for _, host in reports for name in host)
    of_claims = RECORD_COLUMNS if any(report.study and report.study.claims for report, _ in reports) else ()
    profile = ("profile",) if any(report.profile for report, _ in reports) else ()
    nodes = ("node",) if any(report.cluster for report, _ in reports) else ()
    return Records(
        (*COLUMNS, *printed, *axes, *of_modes, *fed, *sampled, *several, *of_claims, *hosts, *profile, *nodes),
        (row for report, host in reports for row in _rows_of(report, host)),
    )


def _rows_of(report: Report, host: Mapping[str, str]) -> Iterator[dict[str, Value]]:
    facts = {f"host_{name}": value for name, value in host.items()}
    profile = {"profile": report.profile.title} if report.profile else {}
    yield from ({"run": report.run, **row, **facts, **profile} for row in _rows(report))


def _rows(report: Report) -> Iterator[dict[str, Value]]:
    places = {place.cell_id: place for group in report.groups for place in group.places}
    floors, several = _floors(report), _efficiency_columns(report)
    nodes = report.cluster.node_of if report.cluster else {}
    for cell in report.cells:
        columns = _cell_columns(cell.cell) | _parity_columns(places.get(cell.cell.id)) | latency_columns(cell)
        columns |= several.get(cell.cell.id, {})
        printed = _printed_columns(cell) if cell.printed else {}
        node: dict[str, Value] = {"node": nodes[cell.cell.id]} if nodes else {}
        for repeat in cell.repeats:
            of_script = printed.get(repeat.outcome.repeat, {})
            share = _share_columns(cell, repeat, floors.get(cell.cell.id))
            own = share | of_script | shared_texts.metric_values(cell, repeat) | shared_texts.fed_values(cell, repeat)
            yield columns | _outcome_columns(repeat) | _measured_columns(repeat) | own | node
    for skip in report.skips:
        yield _skip_columns(skip)
    if report.study:
        yield from claim_rows(report.study)


def _floors(report: Report) -> dict[str, float]:
    """Return the seconds of a step that computes nothing, by the ids of the cells of a group."""
    floors: dict[str, float] = {}
    for group in report.groups:
        known = [floor.step_s for floor in group.floors if floor.step_s is not None]
        if known:
            floors |= dict.fromkeys((place.cell_id for place in group.places), max(known))
    return floors


def _efficiency_columns(report: Report) -> dict[str, dict[str, Value]]:
    """Return the efficiency of each cell on several GPUs, beside the first of the plan that it is compared with."""
    found: dict[str, dict[str, Value]] = {}
    for each in (each for group in report.groups for each in group.efficiencies):
        values = each.speed_up, each.value, each.low, each.high, each.one_gpu_cell_id
        found.setdefault(each.cell_id, dict(zip(_EFFICIENCY, values, strict=True)))
    return found


def _share_columns(cell: CellReport, repeat: Repeat, floor_s: float | None) -> dict[str, Value]:
    """Return the part of this repeat's step that the harness takes, all of it if the cell computes nothing."""
    if repeat.measurement is None:
        return {}
    if not cell.computes:
        return {"harness_share": 1}
    if floor_s is None:
        return {}
    return {"harness_share": floor_s * repeat.measurement.samples_per_s / cell.cell.samples_of_a_step}


def _printed_columns(cell: CellReport) -> dict[int, dict[str, Value]]:
    """Return the figures that each `ok` repeat of a script printed, by its number."""
    numbers = [repeat.outcome.repeat for repeat in cell.repeats if repeat.outcome.status is Status.OK]
    values = zip(*(figure.repeats for figure in cell.printed), strict=True)
    columns = [shared_texts.printed_column(figure) for figure in cell.printed]
    return {number: dict(zip(columns, each, strict=True)) for number, each in zip(numbers, values, strict=True)}


def _cell_columns(cell: Cell) -> dict[str, Value]:
    framework, system, workload = cell.framework, cell.system, cell.workload
    packages = ", ".join(f"{name}={version}" for name, version in framework.packages)
    backend = framework.backend.label if framework.backend else ""
    values = (
        *(cell.id, framework.name, framework.version, backend, framework.python, packages, options(cell.options)),
        *(cell.image, system.name, system.cpus, system.gpus),
        *(workload.model, workload.mode.value, workload.batch, workload.dataset, cell.definition),
    )
    return {**dict(zip(_CELL, values, strict=True)), **dict(workload.axes)}


def _parity_columns(place: Placed | None) -> dict[str, Value]:
    """Return the parity of a cell with the first of its group, the `reference`."""
    if place is None:
        return {}
    if place.parity is None:
        return {"parity": "reference" if place.rank else None}
    reasons = (place.parity.reason, place.parity.known_fault, place.parity.note)
    return {"parity": place.parity.work.value, "parity_reason": "; ".join(filter(None, reasons))}


def latency_columns(cell: CellReport) -> dict[str, Value]:
    """Return the p99 of all repeats together, with its interval, which one repeat alone does not have.

    Without its interval there is none of requests.
    """
    latency = cell.measurement.latency if cell.measurement else None
    if latency is None or (latency.are_requests and not latency.gives(0.99)):
        return {}
    low, high = latency.p99_bounds_s or (None, None)
    return {
        "cell_latency_p99_s": latency.p99_s,
        "cell_latency_p99_low_s": low,
        "cell_latency_p99_high_s": high,
    }


def _outcome_columns(repeat: Repeat) -> dict[str, Value]:
    outcome = repeat.outcome
    return {
        "repeat": outcome.repeat,
        "status": outcome.status.value,
        "reason": outcome.reason,
        "create_s": outcome.create_s,
        "wall_s": outcome.wall_s,
        "exit_code": outcome.exit_code,
        "attempts": outcome.attempts,
        "remeasured": outcome.remeasured,
        "not_remeasured": outcome.not_remeasured,
        "disturbance": outcome.disturbance,
        "started_at": outcome.started_at,
        "log": outcome.log,
    }


def _measured_columns(repeat: Repeat) -> dict[str, Value]:
    measurement = repeat.measurement
    if measurement is None:
        return {}
    latency = measurement.latency
    paced = (measurement.samples_per_s, measurement.block_variation, measurement.cpu_cores)
    return {
        **({} if measurement.search else dict(zip(_PACE, paced, strict=True))),
        "peak_rss_bytes": measurement.peak_rss_bytes,
        "peak_device_bytes": measurement.peak_device_bytes,
        "first_loss": measurement.first_loss,
        "last_loss": measurement.last_loss,
        "parameters": measurement.parameters,
        "multiply_adds": measurement.multiply_adds,
        "latency_p50_s": latency.p50_s if latency else None,
        "latency_p90_s": latency.p90_s if latency else None,
        "latency_p99_s": latency.p99_s if latency else None,
        **_used_columns(measurement),
        **_sampled_columns(measurement.gpus),
        **_epoch_columns(measurement.epochs),
        **{f"{phase}_s": seconds for phase, seconds in measurement.phases_s},
    }


def _used_columns(measured: RepeatMeasurement) -> dict[str, Value]:
    used, gpus = measured.used, measured.gpus
    return {
        "cpu_user_s": used.user_s if used else None,
        "cpu_system_s": used.system_s if used else None,
        "read_bytes": used.read_bytes if used else None,
        "written_bytes": used.written_bytes if used else None,
        "gpu_energy_j": gpus.energy_j if gpus else None,
        "gpu_hottest_c": gpus.hottest_c if gpus else None,
    }


def _has_series(report: Report) -> bool:
    measured = (repeat.measurement for cell in report.cells for repeat in cell.repeats)
    return any(each and each.gpus and each.gpus.series for each in measured)


def _sampled_columns(gpus: GpuUse | None) -> dict[str, Value]:
    if gpus is None or gpus.series is None:
        return {}
    source = None if gpus.energy_j is None else "power" if gpus.is_energy_integrated else "counter"
    series = gpus.series
    values = (series.busy, series.peak_bytes, series.timed_peak_bytes, source, series.in_time)
    return dict(zip(_SAMPLED, values, strict=True))


def _epoch_columns(epochs: RepeatEpochs | None) -> dict[str, Value]:
    if epochs is None:
        return {}
    learned = epochs.curve[-1] if epochs.curve else None
    return {
        "epoch_s": " ".join(str(seconds) for seconds in epochs.epoch_s),
        "epochs_total_s": epochs.total_s,
        "epochs_after_first_s": epochs.after_first_s,
        "train_loss": learned.train_loss if learned else None,
        "test_loss": learned.test_loss if learned else None,
        "test_accuracy": learned.test_accuracy if learned else None,
    }


def _skip_columns(skip: Skip) -> dict[str, Value]:
    return {"cell": skip.cell_id, "status": "skipped", "reason": skip.reason}
