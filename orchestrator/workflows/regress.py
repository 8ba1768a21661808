"""The measured comparison of two releases."""

from dataclasses import dataclass
from pathlib import Path

from orchestrator.domain import Plan
from orchestrator.errors import HostError, InputError
from orchestrator.planning import Selection
from orchestrator.regression.model import Regression
from orchestrator.regression.rules import Rules, blocks_needed, looks_up_to, parse_gates, too_few_blocks
from orchestrator.reporting.reports.regression.report import REGRESSION
from orchestrator.results.store import Run
from orchestrator.workflows import option_values
from orchestrator.workflows.host.host import Host
from orchestrator.workflows.measure.pair import (
    MeasureOptions,
    PairRun,
    SourceOptions,
    measure,
    new_pair_run,
    regression_setup,
    resumed_pair_run,
)
from orchestrator.workflows.option_values import RuntimeName
from orchestrator.workflows.outputs import WrittenPage, chosen_format, regression_page, write_to

MOST_BLOCKS = 24


@dataclass(frozen=True, kw_only=True)
class RegressOptions(SourceOptions, MeasureOptions):
    """The options of `regress`.

    With `resume` a run goes on with its own question. Then only `results`, `runtime`, `base_image` and the options of
    measuring and of showing may differ from their defaults.
    """

    baseline: str | None = None
    """The release in use, as in `mxnet==1.5.1`, with packages as in `mxnet==1.9.1,numpy==1.22.4`, or of a package."""
    candidate: str | None = None
    """The release that is to take its place."""
    file: Path | None = None
    """The matrix. By default `matrix.yaml` in the working folder, or else the one that ships with the program."""
    metrics: tuple[str, ...] = ()
    """The metrics that decide, as in `throughput` or `latency_p50=3%`. Empty for the default ones."""
    select: tuple[str, ...] = ()
    """Globs of the cells that are measured. Empty for all."""
    exclude: tuple[str, ...] = ()
    """Globs of the cells that are left out."""
    until_precise: bool = False
    """True to look after 6, 12 and 24 blocks, each time at the pairs that are still undecided."""
    max_blocks: int | None = None
    """The last look of `until_precise`, in place of 24."""
    repeats: int | None = None
    """The blocks of the only look, in place of the matrix's repeats."""
    confirm: bool = True
    """True to measure what is slower again, on fresh blocks."""
    runtime: RuntimeName = RuntimeName.AUTO
    """The place that cells run in."""
    results: Path = option_values.RESULTS
    """The results folder."""
    resume: str | None = None
    """The name of the run that goes on, or `latest`."""
    format: str | None = None
    """The name of a row of `orchestrator.reporting.formats.FORMATS`. By default the ending of `output` names it."""
    output: Path | None = None
    """File to write, or the folder of a page, next to the page in the run's folder."""


@dataclass(frozen=True, slots=True)
class RegressResult:
    """A regression test with its run."""

    run: Run
    """The stored run. It gives its plan, its outcomes and its files."""
    regression: Regression
    """The verdict of every pair of cells. It is incomplete if the run was stopped."""
    page: WrittenPage
    """The page of the test, in the run's folder or where it was asked for."""

    @property
    def resume_command(self) -> str:
        """Return the command that goes on with the run."""
        return _resume_command(self.run)


def regress(options: RegressOptions, host: Host) -> RegressResult:
    """Measure two releases in turn, judge the second, and write the page of the test.

    Raises `InputError` with every mistake, before anything is measured, and `HostError` where this host cannot measure.

    Example: `regress(RegressOptions(baseline="mxnet==1.5.1", candidate="mxnet==1.9.1"), this_host()).regression.pairs`
    """
    format_ = chosen_format(REGRESSION, options.format, options.output)
    pair_run = _new(options, host) if options.resume is None else _resumed(options, options.resume, host)
    job = pair_run.job
    with host.working():
        _announce(job.plan, host)
        try:
            measured = measure(pair_run, options, host, selects=True)
        except HostError as error:
            if not job.run.has_begun:
                raise
            raise HostError(f"{error}\nwhat is measured is kept; go on with: {_resume_command(job.run)}") from error
    own = regression_page(job.run, measured.regression)
    return RegressResult(job.run, measured.regression, write_to(options.output, measured.regression, format_, own))


def _announce(plan: Plan, host: Host) -> None:
    for warning in plan.warnings:
        host.say(f"warning: {warning}")
    pythons = {cell.framework.python for cell in plan.cells if cell.framework.python}
    if len(pythons) == 1:
        host.say(f"both sides run on Python {pythons.pop()}")


def _resume_command(run: Run) -> str:
    return f"orchestrator regress --resume {run.name} --results {run.folder.parent}"


def _new(options: RegressOptions, host: Host) -> PairRun:
    if options.baseline is None or options.candidate is None:
        raise InputError(
            f"--{'baseline' if options.baseline is None else 'candidate'} is missing: say what is to be compared, "
            "such as --baseline mxnet==1.5.1 --candidate mxnet==1.9.1"
        )
    if options.retry_failed:
        raise InputError("--retry-failed tries again what a run has recorded: say which with --resume RUN")
    setup = regression_setup(options.file, options, host)
    sides = setup.side(options.baseline, "--baseline"), setup.side(options.candidate, "--candidate")
    gates = parse_gates(options.metrics, "--metric", setup.model_names, setup.printed(of_package=sides[0].is_package))
    looks = _looks(options, setup.matrix.repeats)
    _check_single_steps(options.metrics, looks[-1], "--max-blocks" if options.until_precise else "--repeats")
    rules = Rules(gates=gates, looks=looks, confirm=options.confirm)
    pairing = setup.pair(*sides, Selection(options.select, options.exclude))
    return new_pair_run(setup, pairing, rules, options.results, options.runtime)


def _resumed(options: RegressOptions, name: str, host: Host) -> PairRun:
    allowed = RegressOptions(
        base_image=options.base_image,
        runtime=options.runtime,
        results=options.results,
        resume=name,
        jobs=options.jobs,
        retries=options.retries,
        retry_failed=options.retry_failed,
        extra_repeats=options.extra_repeats,
        idle_wait_s=options.idle_wait_s,
        exclusive=options.exclusive,
        images=options.images,
        format=options.format,
        output=options.output,
    )
    if options != allowed:
        raise InputError(
            "--resume goes on with what the run was to find out: leave out everything but --results, --runtime, "
            "--base-image, --jobs, --retries, --retry-failed, --extra-repeats, --idle-wait, --exclusive, "
            "--images, --strict and how it is shown"
        )
    return resumed_pair_run(options.results, name, options.base_image, host, options.runtime)


def _looks(options: RegressOptions, repeats_of_matrix: int) -> tuple[int, ...]:
    """Return the numbers of blocks after which verdicts are made."""
    if options.until_precise:
        if options.repeats is not None:
            raise InputError(
                "--until-precise looks again and again, and --repeats N once: give one of them; --max-blocks N bounds "
                "--until-precise"
            )
        return looks_up_to(MOST_BLOCKS if options.max_blocks is None else options.max_blocks)
    if options.max_blocks is not None:
        raise InputError("--max-blocks bounds --until-precise: give both, or --repeats N for one look after N blocks")
    return looks_up_to(options.repeats or repeats_of_matrix, "repeats")[-1:]


def _check_single_steps(metrics: tuple[str, ...], blocks: int, option: str) -> None:
    """Raise `InputError` for metrics that need more single steps than so many blocks have."""
    names = {text: text.partition("=")[0].partition("@")[0].strip() for text in metrics}
    mistakes = [
        f"--metric {text!r}: {reason}: give {option} {blocks_needed(name)} or more"
        for text, name in names.items()
        if (reason := too_few_blocks(name, blocks))
    ]
    if mistakes:
        raise InputError(*mistakes)
