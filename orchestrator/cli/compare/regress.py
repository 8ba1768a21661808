"""`regress`: is it safe to move from one release to another."""

from pathlib import Path
from typing import Annotated

import typer

from orchestrator.analysis.verdicts import Verdict
from orchestrator.catalog import load_faults
from orchestrator.cli.measure.options import ExtraRepeats, IdleWait, Repeats, Resume, Retries, RetryFailed
from orchestrator.cli.options import (
    BaseImage,
    DataFolder,
    Exclude,
    Jobs,
    Json,
    Limit,
    MatrixFile,
    ModelsFolder,
    NoParity,
    Results,
    Select,
)
from orchestrator.cli.output import speech, verdicts
from orchestrator.cli.output.hosts import this_host
from orchestrator.cli.output.signals import INTERRUPTED
from orchestrator.cli.output.verdicts import Format, Output
from orchestrator.errors import HostError, InputError
from orchestrator.planning import DEFAULT_LIMIT, Selection
from orchestrator.regression.judge.single_steps import blocks_needed, too_few_blocks
from orchestrator.regression.metrics import parse_gates
from orchestrator.regression.model import Regression
from orchestrator.regression.rules import Rules, looks_up_to
from orchestrator.regression.trials.carry_out import carry_out
from orchestrator.regression.trials.files import Trial, store_trial, stored_trial
from orchestrator.resources import IMAGES
from orchestrator.running import Policy
from orchestrator.workflows.host.host import Host
from orchestrator.workflows.inputs.stored_runs import DEFAULT_RESULTS
from orchestrator.workflows.measure import jobs, pairs
from orchestrator.workflows.measure.begin import Setting, begun
from orchestrator.workflows.measure.jobs import Job
from orchestrator.workflows.measure.runtime import RuntimeName

MOST_BLOCKS = 24


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("regress")(regress)


Baseline = Annotated[
    str | None,
    typer.Option(
        "--baseline",
        metavar="PIN",
        help="What is in use: 'mxnet==1.5.1', or with packages 'mxnet==1.9.1,numpy==1.22.4'.",
    ),
]
Candidate = Annotated[str | None, typer.Option("--candidate", metavar="PIN", help="What is to take its place.")]
Metrics = Annotated[
    list[str],
    typer.Option(
        "--metric",
        metavar="NAME[@MODEL][=TOLERANCE]",
        help="What decides, such as throughput or latency_p50=3%, or a tolerance for one model, such as "
        "throughput@mlp=5%; may be repeated.",
    ),
]
UntilPrecise = Annotated[
    bool, typer.Option("--until-precise", help="Look after 6, 12 and 24 blocks; only undecided pairs go on.")
]
MaxBlocks = Annotated[
    int | None, typer.Option("--max-blocks", metavar="N", help="The last look of --until-precise, in place of 24.")
]
Strict = Annotated[
    bool, typer.Option("--strict", help="Exit 1 unless every pair is shown to be as good: inconclusive is not enough.")
]
Confirm = Annotated[bool, typer.Option("--confirm/--no-confirm", help="Measure what is slower again, on fresh blocks.")]


def regress(
    baseline: Baseline = None,
    candidate: Candidate = None,
    file: MatrixFile = None,
    metric: Metrics = [],
    select: Select = [],
    exclude: Exclude = [],
    until_precise: UntilPrecise = False,
    max_blocks: MaxBlocks = None,
    repeats: Repeats = None,
    confirm: Confirm = True,
    limit: Limit = DEFAULT_LIMIT,
    no_parity: NoParity = False,
    base_image: BaseImage = None,
    models: ModelsFolder = None,
    data: DataFolder = None,
    jobs: Jobs = 2,
    runtime: Annotated[RuntimeName, typer.Option("--runtime", help="Where cells run.")] = RuntimeName.AUTO,
    results: Results = DEFAULT_RESULTS,
    resume: Resume = None,
    retries: Retries = 0,
    retry_failed: RetryFailed = False,
    extra_repeats: ExtraRepeats = 1,
    idle_wait: IdleWait = 10.0,
    json: Json = False,
    format_: Format = None,
    output: Output = None,
    strict: Strict = False,
) -> None:
    """Measure two releases side by side and judge: exit 1 where the candidate is worse or broke, 3 if none can tell."""
    shown_as = verdicts.check_output(format_, output, json=json)
    host = this_host(json=json)
    if resume is not None:
        given = [baseline, candidate, file, metric, select, exclude, until_precise, max_blocks, repeats, models, data]
        changed = any(given) or no_parity or not confirm or limit != DEFAULT_LIMIT
        job, trial = _resumed(results, resume, runtime, base_image, host, changed=changed)
    else:
        if baseline is None or candidate is None:
            raise InputError(
                f"--{'baseline' if baseline is None else 'candidate'} is missing: say what is to be compared, such as "
                "--baseline mxnet==1.5.1 --candidate mxnet==1.9.1"
            )
        if retry_failed:
            raise InputError("--retry-failed tries again what a run has recorded: say which with --resume RUN")
        sides = pairs.side(baseline, "--baseline"), pairs.side(candidate, "--candidate")
        site = pairs.Site(host, base_image, models, data, no_parity, limit)
        found, known = pairs.loaded(file, site)
        gates = parse_gates(metric, "--metric", [model.name for model in found.models])
        looks = _looks(repeats, max_blocks, until_precise=until_precise, of_matrix=found.repeats)
        _check_single_steps(metric, looks[-1], "--max-blocks" if until_precise else "--repeats")
        rules = Rules(gates=gates, looks=looks, confirm=confirm)
        paired = pairs.paired(found, known, sides, Selection(tuple(select), tuple(exclude)), site)
        job, trial = pairs.new_job(found, known, paired, rules, (results, runtime, site))
    policy = Policy(job.plan.seed, jobs, retries, retry_failed=retry_failed, extra_repeats=extra_repeats)
    judged = _carried_out(job, trial, policy, idle_wait, host)
    verdicts.show(job.run, judged, shown_as, output, json=json)
    if not judged.complete:
        speech.say(f"stopped; go on with: {_go_on(job)}")
        raise typer.Exit(INTERRUPTED)
    _end(judged, job, strict=strict)


def _end(judged: Regression, job: Job, *, strict: bool) -> None:
    """Exit as the verdicts have it: 1 where one is bad (or, if `strict`, not good), 3 where there is none."""
    if judged.tells_nothing:
        first = next(pair for pair in judged.pairs if pair.verdict is Verdict.NOT_MEASURED)
        raise HostError(
            f"nothing could be measured of {judged.candidate.label} beside {judged.baseline.label}: {first.id}: "
            f"{first.reason}\nonce that is mended, begin anew, or go on with: {_go_on(job)} --retry-failed"
        )
    if judged.regressions or (strict and judged.doubtful):
        raise typer.Exit(1)


def _looks(repeats: int | None, max_blocks: int | None, *, until_precise: bool, of_matrix: int) -> tuple[int, ...]:
    """Blocks after which is looked: once after the repeats of the matrix, or again and again."""
    if until_precise:
        if repeats is not None:
            raise InputError(
                "--until-precise looks again and again, and --repeats N once: give one of them; --max-blocks N bounds "
                "--until-precise"
            )
        return looks_up_to(MOST_BLOCKS if max_blocks is None else max_blocks)
    if max_blocks is not None:
        raise InputError("--max-blocks bounds --until-precise: give both, or --repeats N for one look after N blocks")
    return looks_up_to(repeats or of_matrix, "repeats")[-1:]


def _check_single_steps(metrics: list[str], blocks: int, option: str) -> None:
    """Raise `InputError` for metrics that could never be bounded by the single steps of so many blocks."""
    names = {text: text.partition("=")[0].partition("@")[0].strip() for text in metrics}
    mistakes = [
        f"--metric {text!r}: {reason}: give {option} {blocks_needed(name)} or more"
        for text, name in names.items()
        if (reason := too_few_blocks(name, blocks))
    ]
    if mistakes:
        raise InputError(*mistakes)


def _resumed(
    results: Path, name: str, runtime: RuntimeName, base_image: str | None, host: Host, *, changed: bool
) -> tuple[Job, Trial]:
    if changed:
        raise InputError(
            "--resume goes on with what the run was to find out: leave out everything but --results, --runtime, "
            "--base-image, --jobs, --retries, --retry-failed, --extra-repeats, --idle-wait, --strict and how it is "
            "shown"
        )
    job = jobs.resumed(results, name, runtime, base_image, host)
    return job, stored_trial(job.run)


def _carried_out(job: Job, trial: Trial, policy: Policy, idle_wait_s: float, host: Host) -> Regression:
    with host.working():
        for warning in job.plan.warnings:
            host.say(f"warning: {warning}")
        pythons = {cell.framework.python for cell in job.plan.cells if cell.framework.python}
        if len(pythons) == 1:
            host.say(f"both sides run on Python {pythons.pop()}")
        setting = Setting(idle_wait_s, lambda run: store_trial(run, trial), policy.retry_failed, selects=True)
        try:
            with begun(job, setting, host) as surroundings:
                faults = load_faults(IMAGES / "known_faults.yaml")
                return carry_out(trial, surroundings, policy, faults)
        except HostError as error:
            if not job.run.has_begun:
                raise
            raise HostError(f"{error}\nwhat is measured is kept; go on with: {_go_on(job)}") from error


def _go_on(job: Job) -> str:
    return f"orchestrator regress --resume {job.run.name} --results {job.run.folder.parent}"
