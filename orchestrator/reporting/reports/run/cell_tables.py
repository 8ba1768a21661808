"""The tables of a run's page with a row for each cell or repeat, closed until a reader opens them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from orchestrator.analysis.estimates import CONFIDENCE, PREDICTION
from orchestrator.analysis.measurements import PHASES, Measurement
from orchestrator.domain import Status
from orchestrator.reporting.blocks import Details, Row, TableCell
from orchestrator.reporting.findings.model import CellReport, Repeat
from orchestrator.reporting.inline import (
    Chip,
    Link,
    gpu_figures,
    interval_name,
    next_interval,
    rate_interval,
    spaced,
    whole_percent,
)
from orchestrator.reporting.reports.run.view import (
    PageView,
    cell_table,
    columns,
    figure,
    row_of,
    sortable,
    status_chip,
)
from orchestrator.wording import count, memory, percent, rate, seconds, share

Measured = Sequence[tuple[CellReport, Measurement]]
Names = Mapping[str, str]
"""Short names of cells by id, unique on a page."""


def learned(measured: Measured, names: Names, group: str) -> Details:
    """Return accuracy and losses after every epoch."""
    heads = ("Framework", "Epoch", "Seconds of training", "Training loss", "Test loss", "Test accuracy")
    rows = (
        row_of(
            names[cell.cell.id],
            cell,
            (
                str(point.epoch),
                figure(seconds(point.trained_s), point.trained_s),
                f"{point.train_loss:.4f}",
                f"{point.test_loss:.4f}",
                figure(percent(point.test_accuracy), point.test_accuracy),
            ),
        )
        for cell, _ in measured
        if cell.epochs
        for point in cell.epochs.curve
    )
    caption = (
        "After each epoch of training, in evaluation mode; seconds of training without the evaluations; medians over "
        "the repeats"
    )
    table = cell_table(columns(heads, range(1, 6)), rows, caption, f"What was learned in {group}")
    return Details("Accuracy and loss, epoch by epoch", (table,))


def intervals(measured: Measured, names: Names, group: str, shares: Mapping[str, float | None] | None) -> Details:
    """Return how sure each throughput is, with the shares of a step that the harness takes."""
    level = interval_name((each.throughput for _, each in measured), f"{whole_percent(CONFIDENCE)} interval")
    per_s = measured[0][0].cell.workload.rules.per_s
    heads = (
        *("Framework", "Repeats", per_s.capitalize(), level),
        f"One more repeat, {whole_percent(PREDICTION)}",
        *("Scatter of repeats", "Scatter of blocks", "Cores busy"),
        *(("Harness",) if shares is not None else ()),
    )
    rows = (
        row_of(names[cell.cell.id], cell, tuple(_interval(cell, measurement, shares))) for cell, measurement in measured
    )
    caption = f"How sure the throughput is, in {per_s}, and how far repeats and blocks scatter"
    table = cell_table(columns(heads, range(1, len(heads)), (3, 4)), rows, caption, f"Intervals of {group}")
    return Details("Intervals and scatter", (table,))


def _interval(
    cell: CellReport, measured: Measurement, shares: Mapping[str, float | None] | None
) -> Iterator[str | TableCell]:
    throughput, cores = measured.throughput, measured.cpu_cores
    yield str(throughput.n)
    yield figure(rate(throughput.value), throughput.value)
    yield rate_interval(throughput)
    yield next_interval(throughput)
    yield figure(percent(measured.repeat_variation), measured.repeat_variation)
    yield figure(percent(measured.block_variation), measured.block_variation)
    yield figure("–" if cores is None else f"{cores:.2f}", cores)
    if shares is not None:
        part = shares.get(cell.cell.id)
        yield figure("–" if part is None else share(part), part)


def phases(measured: Measured, names: Names, group: str) -> Details:
    """Return the duration of each phase of the containers of a cell."""
    rows = (row_of(names[cell.cell.id], cell, _phases(dict(measurement.phases_s))) for cell, measurement in measured)
    heads = columns(("Framework", *(phase.replace("_", " ") for phase in PHASES)), range(1, 1 + len(PHASES)))
    caption = "Mean duration of each phase of a container's life; create is the host's, the others are inside"
    return Details("Phases", (cell_table(heads, rows, caption, f"Phases of {group}", is_narrow=False),))


def _phases(spent: Mapping[str, float]) -> tuple[TableCell, ...]:
    return tuple(figure(seconds(spent[phase]) if phase in spent else "–", spent.get(phase)) for phase in PHASES)


def resources(measured: Measured, names: Names, group: str) -> Iterator[Details]:
    """Yield memory, CPU time and disk of every repeat, if any repeat reports them."""
    using = [
        (cell, repeat)
        for cell, _ in measured
        for repeat in cell.repeats
        if repeat.measurement and (repeat.measurement.used or repeat.measurement.gpus)
    ]
    if not using:
        return
    has_gpus = any(repeat.measurement.gpus for _, repeat in using if repeat.measurement)
    heads = (
        *("Framework", "Repeat", "Peak memory", "CPU time, own code", "CPU time, kernel", "Read from disk", "Written"),
        *(("GPU energy", "Hottest", "Lowest clock", "Slowed by") if has_gpus else ()),
    )
    rows = (row_of(names[cell.cell.id], cell, tuple(_used(repeat, has_gpus=has_gpus))) for cell, repeat in using)
    of_gpus = "; GPUs over the timed blocks" if has_gpus else ""
    caption = (
        "What each repeat took from its first to its last moment, imports and all; CPU time is no wall time" + of_gpus
    )
    table = cell_table(columns(heads, range(1, 10), (10,)), rows, caption, f"Memory, CPU time and disk of {group}")
    yield Details("Memory, CPU time and disk", (table,))


def _used(repeat: Repeat, *, has_gpus: bool) -> Iterator[str | TableCell]:
    measurement = repeat.measurement
    if measurement is None:
        return
    used, gpus = measurement.used, measurement.gpus
    yield str(repeat.outcome.repeat)
    yield memory_cell(measurement.peak_rss_bytes, measurement.peak_device_bytes)
    for spent in (used.user_s, used.system_s) if used else (None, None):
        yield figure("–" if spent is None else seconds(spent), spent)
    for moved in (used.read_bytes, used.written_bytes) if used else (None, None):
        yield figure("–" if moved is None else memory(moved), "" if moved is None else str(moved))
    if has_gpus:
        yield from (figure(each.text, each.value) for each in gpu_figures(gpus))
        yield ", ".join(gpus.slowed_by).replace("_", " ") if gpus and gpus.slowed_by else "–"


def memory_cell(size_bytes: int, device_bytes: int | None) -> TableCell:
    """Return the memory of a process, and below it that of its device."""
    below = "" if device_bytes is None else f"{memory(device_bytes)} on the device"
    return figure(memory(size_bytes), str(size_bytes), below)


def models(measured: Measured, names: Names, group: str) -> Details:
    """Return the size of the models and their losses."""
    heads = ("Framework", "Parameters", "Multiply-adds", "First loss", "Last loss")
    rows = (row_of(names[cell.cell.id], cell, _model(measurement)) for cell, measurement in measured)
    caption = (
        "What was run, counted from the model's definition; multiply-adds per sample, forward. Losses are medians "
        "over the repeats"
    )
    table = cell_table(columns(heads, range(1, 5)), rows, caption, f"Model and loss of {group}")
    return Details("Model and loss", (table,))


def _model(measured: Measurement) -> tuple[str | TableCell, ...]:
    sizes = (measured.parameters, measured.multiply_adds)
    losses = (measured.first_loss, measured.last_loss)
    return (
        *("–" if size is None else figure(count(size), str(size)) for size in sizes),
        *("–" if loss is None else f"{loss:.4f}" for loss in losses),
    )


def every_repeat(view: PageView, cells: Sequence[CellReport], name: str, names: Names | None = None) -> Details:
    """Return every repeat of cells, without throughput if they are scripts, which have no short `names`."""
    planned = [(cell, repeat) for cell in cells for repeat in cell.repeats]
    rates = (cells[0].cell.workload.rules.per_s.capitalize(), "Scatter of blocks") if names else ()
    heads = (
        *("Cell", "Repeat", "Status", *rates),
        *("Wall time", "Reason", *(("Files",) if view.raw else ())),
    )
    numbers = [number for number, head in enumerate(heads) if head not in {"Cell", "Status", "Reason", "Files"}]
    rows = (_repeat(view, cell, repeat, names) for cell, repeat in planned)
    fixed = (len(heads) - 1,) if view.raw else ()
    caption = "Every planned repeat, each in a fresh container or process"
    shown = cell_table(columns(heads, numbers, fixed), rows, caption, f"Every repeat of {name}", is_narrow=False)
    return Details(f"Every repeat: {len(planned)}", (replace(shown, name_column=None),))


def _repeat(view: PageView, cell: CellReport, repeat: Repeat, names: Names | None) -> Row:
    outcome, measurement = repeat.outcome, repeat.measurement
    cells: list[str | TableCell] = [
        cell.label if names else cell.cell.id,
        str(outcome.repeat),
        TableCell(
            spaced((status_chip(outcome.status), *((Chip("disturbed", "open"),) if outcome.disturbance else ())))
        ),
    ]
    if names and measurement:
        cells.append(figure(rate(measurement.samples_per_s), measurement.samples_per_s))
        cells.append(figure(percent(measurement.block_variation), measurement.block_variation))
    elif names:
        cells += ["–", "–"]
    cells.append(figure(seconds(outcome.wall_s) if outcome.wall_s else "–", sortable(outcome.wall_s)))
    cells.append(outcome.reason or outcome.disturbance)
    if view.raw:
        cells.append(TableCell(spaced(_files(view.raw, view.folder_of(cell.cell.id), repeat)), mark="links"))
    return Row(tuple(cells), of=names[cell.cell.id] if names else "")


def _files(raw: str, folder: str, repeat: Repeat) -> Iterator[Link]:
    outcome = repeat.outcome
    if outcome.status is Status.OK:
        yield Link("result", f"{raw}/{folder}{outcome.cell_id}/{outcome.repeat}/result.json")
    if outcome.log:
        yield Link("log", f"{raw}/{outcome.log}")
