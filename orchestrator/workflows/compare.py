"""The comparison of stored runs, and the stored verdict of a regression test."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from orchestrator.catalog import idle_builders, load_faults, shipped_catalog
from orchestrator.errors import InputError
from orchestrator.planning import Selection
from orchestrator.regression.model import JudgedPair, Regression
from orchestrator.regression.rules import parse_gates, printed_gates
from orchestrator.regression.sides import parse_side
from orchestrator.regression.stored_runs.comparison import compare_runs
from orchestrator.regression.stored_runs.operands import Operand
from orchestrator.regression.trials.files import stored_regression, stored_trial
from orchestrator.reporting.formats import HTML, TABLE
from orchestrator.reporting.reports.regression.report import REGRESSION
from orchestrator.results.store import PartRun, Run
from orchestrator.workflows import option_values
from orchestrator.workflows.host.host import Host
from orchestrator.workflows.inputs.cluster_runs import find_cluster_run, find_measured
from orchestrator.workflows.inputs.foreign_files import compared_files, names_files
from orchestrator.workflows.inputs.stored_runs import check_shown, find_run, report_hidden_runs
from orchestrator.workflows.outputs import WrittenPage, chosen_format, regression_page, write_to

BOTH_SIDES = ("baseline", "candidate")


@dataclass(frozen=True, slots=True, kw_only=True)
class CompareOptions:
    """The options of `compare`."""

    baseline: str
    """A run, or several as in `RUN,RUN`. One release of them is `RUN:mxnet==1.5.1`, a side of a test `RUN:baseline`.

    Or a file of another tool, several as in `FILE,FILE`, or one benchmark of it as in `FILE:NAME`.
    """
    candidate: str | None = None
    """The same. Without it, `baseline` is a regression test."""
    metrics: tuple[str, ...] = ()
    """The metrics that decide, as for `regress`. With them, a regression test is judged again from the same blocks."""
    select: tuple[str, ...] = ()
    """Globs over the ids of cells: only pairs with such a cell are shown. Every pair is judged all the same."""
    exclude: tuple[str, ...] = ()
    """Globs over the ids of cells whose pairs are not shown."""
    results: Path = option_values.RESULTS
    """The results folder."""
    format: str | None = None
    """The name of a row of `orchestrator.reporting.formats.FORMATS`. By default the ending of `output` names it."""
    output: Path | None = None
    """File to write, or the folder of a page. By default the page of a stored test goes to its run's folder."""

    @property
    def is_stored_test(self) -> bool:
        """True if the stored verdict of a test is read as it is."""
        return self.candidate is None and not (self.metrics or self.select or self.exclude)


@dataclass(frozen=True, slots=True)
class CompareResult:
    """A comparison of stored runs."""

    run: Run | None
    """The run of a stored regression test, or None if runs were compared now or pairs are left out."""
    regression: Regression
    """The verdict of every pair of cells."""
    format: str
    """The format that was chosen."""
    page: WrittenPage
    """The page, if the format comes with one."""


def compare(options: CompareOptions, host: Host) -> CompareResult:
    """Compare stored runs, or read the stored verdict of a regression test, and write it if that is asked for.

    The page of a stored test is written for the formats `table` and `html`.
    Raises `InputError` if neither is there, a glob matches no cell, the runs cannot be compared, or the output cannot
    be what it is asked to be. Raises `HostError` if the output cannot be written.

    Example: `compare(CompareOptions(baseline="latest:baseline", candidate="latest:candidate"), this_host()).regression`
    """
    format_ = chosen_format(REGRESSION, options.format, options.output)
    if format_ == HTML and options.output is None and not options.is_stored_test:
        raise InputError(
            "--format html needs -o DIR: only the stored verdict of one test has its run's folder to go to"
        )
    report_hidden_runs(options.results, host)
    run, regression = _compared(options, host)
    has_own = options.output is None and format_ in {TABLE, HTML}
    own = regression_page(run, regression) if run is not None and has_own else WrittenPage()
    return CompareResult(run, regression, format_, write_to(options.output, regression, format_, own))


def _compared(options: CompareOptions, host: Host) -> tuple[Run | None, Regression]:
    """Return the verdicts to show, and the run of a stored test if they are all of it."""
    if any(map(names_files, filter(None, (options.baseline, options.candidate)))):
        files = compared_files(options.baseline, options.candidate, options.metrics)
        return None, _selected(files, options, host)
    operands = _operands(options)
    if len(operands) == 1:
        run = _stored_test(options.results, operands[0].names[0])
        return run if options.is_stored_test else None, _selected(stored_regression(run), options, host)
    baseline, candidate = (_found(options.results, operand) for operand in operands)
    cells = [cell for side in (baseline, candidate) for run in side.runs for cell in run.plan().cells]
    scripts = {cell.script.name: cell.script for cell in cells if cell.script and baseline.has(cell)}
    models = [cell.workload.model for cell in cells]
    gates = parse_gates(options.metrics, "--metric", models, printed_gates(scripts.values()))
    faults = load_faults()
    compared = compare_runs(baseline, candidate, gates, faults, idle_builders())
    return None, _selected(compared, options, host)


def _selected(regression: Regression, options: CompareOptions, host: Host) -> Regression:
    """Return the selected pairs, with the verdicts that they have in the family of all pairs.

    Raises `InputError` if a glob matches no cell.
    """
    selection = Selection(options.select, options.exclude)
    if selection.takes_all:
        return regression
    check_shown(selection, [_names(pair) for pair in regression.pairs], host)
    pairs = tuple(pair for pair in regression.pairs if selection.takes(*_names(pair)))
    left, total = len(regression.pairs) - len(pairs), len(regression.pairs)
    said = f"{left:,} of {total:,} pairs left out by {selection.options}; the verdicts are those of the family of all"
    return regression.model_copy(update={"pairs": pairs, "warnings": (*regression.warnings, *([said] if left else []))})


def _names(pair: JudgedPair) -> tuple[str, ...]:
    return tuple(name for name in (pair.id, pair.baseline_cell, pair.candidate_cell) if name)


def _stored_test(results: Path, name: str) -> Run:
    """Return the run of a regression test. Raises `InputError` for a run on a cluster, which is none."""
    if cluster := find_cluster_run(results, name):
        raise InputError(
            f"{cluster.name} is a run on a cluster and no regression test: give two sides, as in "
            f"{cluster.name}:mxnet==1.5.1 {cluster.name}:mxnet==1.9.1"
        )
    return find_run(results, name)


@dataclass(frozen=True, slots=True)
class _WrittenOperand:
    """`RUN`, `RUN,RUN`, `RUN:mxnet==1.5.1` or `RUN:baseline`, taken apart."""

    text: str
    names: tuple[str, ...]
    pin: str = ""


def _written(text: str) -> _WrittenOperand:
    """Take an operand apart. Raises `InputError` if it is none, before any run is looked for."""
    before, colon, pin = (part.strip() for part in text.partition(":"))
    names = tuple(name.strip() for name in before.split(","))
    if not all(names) or (colon and not pin):
        raise InputError(f"{text!r}: name runs, as in RUN, RUN,RUN or RUN:mxnet==1.5.1")
    return _WrittenOperand(text, names, pin)


def _operands(options: CompareOptions) -> Sequence[_WrittenOperand]:
    """Return both operands, or one alone if the stored verdict of a test is to be read.

    A test that is judged again is compared by its two sides.
    """
    first = _written(options.baseline)
    if options.candidate is not None:
        return first, _written(options.candidate)
    if first.pin or (len(first.names) > 1 and not options.metrics):
        names = ",".join(first.names)
        raise InputError(f"{options.baseline!r}: give B too, as in {names}:{BOTH_SIDES[0]} {names}:{BOTH_SIDES[1]}")
    return tuple(replace(first, pin=side) for side in BOTH_SIDES) if options.metrics else (first,)


def _found(results: Path, written: _WrittenOperand) -> Operand:
    """Return an operand with its runs. Its text has their full names, in place of `latest` or of beginnings."""
    several = [find_measured(results, name) for name in written.names]
    runs = tuple(run for each in several for run in each)
    if len(several) > 1 and (whole := next((run for run in runs if isinstance(run, PartRun)), None)):
        raise InputError(f"{written.text!r}: {whole.whole} is a run on a cluster, which is compared by itself alone")
    twice = [run.name for number, run in enumerate(runs) if run in runs[:number]]
    if twice:
        raise InputError(f"{written.text!r}: {twice[0]} is given twice; a run counts once")
    pin, text = written.pin, ",".join(dict.fromkeys(run.whole for run in runs))
    if not pin:
        return Operand(text, runs)
    text = f"{text}:{pin}"
    if pin in BOTH_SIDES:
        trials = [stored_trial(run) for run in runs]
        ids = [getattr(pair, pin) for trial in trials for pair in trial.pairs]
        unpaired = [each for trial in trials for each in (trial.gone if pin == BOTH_SIDES[0] else trial.new)]
        return Operand(text, runs, cell_ids=frozenset(ids), unpaired=tuple(unpaired))
    return Operand(text, runs, parse_side(pin, text, shipped_catalog()))
