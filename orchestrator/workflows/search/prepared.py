"""A search that can be carried out, which is new or goes on from its record."""

import hashlib
import json
import platform
import secrets
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from orchestrator import matrix
from orchestrator.errors import HostError, InputError
from orchestrator.regression.package_sides import kept_frameworks
from orchestrator.regression.releases.package_index import offered_releases
from orchestrator.regression.rules import Rules
from orchestrator.regression.search import record as search_record
from orchestrator.regression.search.candidates import ReleaseFilter, SearchSubject, between, reasons
from orchestrator.regression.search.earlier_record import EarlierBisection
from orchestrator.regression.search.record import RECORD_FILE, Bisection
from orchestrator.regression.search.record_parts import Asked, LeftOut
from orchestrator.regression.search.steps import MOST_BLOCKS, look_numbers
from orchestrator.regression.sides import Side
from orchestrator.reporting.reports.search.chain_words import chained_over
from orchestrator.results.results_folder import runs
from orchestrator.running import new_run_name
from orchestrator.user_files import Frozen, stand_in_warnings
from orchestrator.workflows.host.host import Host
from orchestrator.workflows.inputs.planned_matrix import matrix_file, with_own_index
from orchestrator.workflows.measure import jobs
from orchestrator.workflows.measure.pair import RegressionSetup, SourceOptions, check_single_steps, regression_setup
from orchestrator.workflows.option_values import RuntimeName
from orchestrator.workflows.search.options import SearchOptions
from orchestrator.workflows.search.pythons import pythons_of_search
from orchestrator.workflows.search.setup import SearchSetup, chosen_metric, metric_gate, own_images, subject_of

PREFIX = "bisect-"
"""The beginning of the name of every search."""


@dataclass(frozen=True, slots=True)
class PreparedSearch:
    """A search that can be carried out."""

    record: Bisection | EarlierBisection
    """One of an earlier schema has ended, and is shown."""
    folder: Path
    subject: SearchSubject
    setup: SearchSetup


def _matrix_sha256(setup: RegressionSetup) -> str:
    """Return the checksum of a matrix and of the files that it names, by which a search that goes on knows it again.

    Each run of a search copies scripts, networks and models of the user's own anew, so that a changed one would be
    measured beside what it was before.
    """
    loaded = setup.matrix
    frozen: tuple[Frozen, ...] = (
        *(axes.script for axes in loaded.scripts),
        *(network for network, _ in loaded.networks),
    )
    own = [info.own for info in (*setup.planner.models.values(), *loaded.own_models) if info.own]
    sums = [
        *([each.FOLDER, each.name, file.path, file.sha256] for each in frozen for file in each.files),
        *(["models", each.name, part.builder, part.sha256] for each in own for part in each.definitions),
        *(["models", each.name, "", each.sha256] for each in own),
    ]
    document = matrix.long_form(loaded) | ({"files": sums} if sums else {})
    return hashlib.sha256(json.dumps(document, sort_keys=True, default=str).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class _Question:
    """The three options that every new search has."""

    good: str
    bad: str
    cell: str


def new_search(options: SearchOptions, host: Host) -> PreparedSearch:
    """Find the releases between good and bad, and name the search. Nothing is written yet.

    Raises `InputError` with every mistake, and `HostError` where no package index answers.
    """
    question = _question(options)
    looks = look_numbers(MOST_BLOCKS if options.max_blocks is None else options.max_blocks)
    setup = regression_setup(options.file, options, host)
    good, bad = setup.side(question.good, "--good"), setup.side(question.bad, "--bad")
    subject = subject_of(good, bad, setup.planner.catalog)
    own = own_images(setup, subject)
    cell = SearchSetup(setup, question.cell)
    pairing = cell.pair(good, bad)
    measured = pairing.plan.cells[0]
    gate = metric_gate(chosen_metric(options.metric, measured), setup.model_names, looks[-1], measured)
    check_single_steps(pairing, Rules(gates=(gate,), looks=looks))
    plan = pairing.plan
    pythons = pythons_of_search(cell, subject, (plan.cells[0], plan.cells[-1]), own_images=own is not None)
    if (python := pythons.common) is not None:
        pairing = cell.planned(replace(good, python=python), replace(bad, python=python))
    (pair,) = pairing.pairs
    reason = pythons.unsupported_reason
    releases, left_out = (own, ()) if own is not None else _published(options, setup, subject, reason)
    chain = pythons.chain(releases)
    if chain is not None:
        host.say(chained_over(chain))
    began = datetime.now(UTC)
    others = [path.parent.name.removeprefix(PREFIX) for path in options.results.glob(f"{PREFIX}*/{RECORD_FILE}")]
    record = Bisection(
        name=PREFIX + new_run_name(began, secrets.token_hex(2), others),
        created_at=began.isoformat(timespec="seconds"),
        host=platform.node(),
        asked=Asked(
            good=good.text,
            bad=bad.text,
            python=python or "",
            chain=chain,
            cell=question.cell,
            pair=pair.id,
            within=kept_frameworks(good, plan.cells),
            metric=gate,
            every=options.every,
            looks=looks,
            prereleases=options.prereleases,
            yanked=options.yanked,
            matrix=str(matrix_file(options.file, host).absolute()),
            matrix_sha256=_matrix_sha256(setup),
            models=str(options.models.absolute()) if options.models else None,
            data=str(options.data.absolute()) if options.data else None,
            base_image=options.base_image,
            no_parity=options.no_parity,
            limit=options.limit,
            runtime=options.runtime.value,
        ),
        searched=subject.distribution,
        releases=releases,
        left_out=left_out,
        warnings=tuple(stand_in_warnings(plan.data)),
    )
    return PreparedSearch(record, options.results / record.name, subject, cell)


def _question(options: SearchOptions) -> _Question:
    if options.retry_failed:
        raise InputError("--retry-failed tries again what a search has recorded: say which with --resume NAME")
    if options.good is None or options.bad is None or options.cell is None:
        missing = "--good" if options.good is None else "--bad" if options.bad is None else "--cell"
        raise InputError(
            f"{missing} is missing: say what is to be searched, such as "
            "--good mxnet==1.2.0 --bad mxnet==1.9.1 --cell lenet-train-b200"
        )
    return _Question(options.good, options.bad, options.cell)


def _published(
    options: SearchOptions,
    setup: RegressionSetup,
    subject: SearchSubject,
    unsupported_reason: Callable[[Side], str | None],
) -> tuple[tuple[str, ...], tuple[LeftOut, ...]]:
    """Return the releases on the package index from good to bad, and those between that are left out."""
    settings = setup.build_settings()
    if subject.is_framework:
        settings = with_own_index(settings, setup.planner.catalog, subject.good.name)
    published = offered_releases(subject.distribution, settings)
    if not published.releases:
        raise HostError("\n".join(published.problems))
    for problem in published.problems:
        setup.host.say(f"warning: {problem}")
    wanted = ReleaseFilter(options.prereleases, options.yanked, unsupported_reason)
    releases, left_out = between(subject, published.releases, wanted)
    for line in reasons(left_out):
        setup.host.say(line)
    return releases, left_out


def resumed_search(options: SearchOptions, name: str, host: Host) -> PreparedSearch:
    """Return a search that goes on. Raises `InputError` if it is none, or its matrix or host is another one now.

    What could not be tested because of the host or its index is tried again, even if the search has ended. With
    `retry_failed` everything that could not be tested is.
    """
    _refuse_changes(options, name)
    folder = options.results / (_latest(options.results) if name == "latest" else name)
    stored = search_record.read(folder)
    record = (
        _ended(stored, folder, options)
        if isinstance(stored, EarlierBisection)
        else search_record.forgetful(stored, failed=options.retry_failed)
    )
    asked = record.asked
    models, data = (Path(text) if text else None for text in (asked.models, asked.data))
    sources = SourceOptions(
        base_image=asked.base_image, models=models, data=data, no_parity=asked.no_parity, limit=asked.limit
    )
    setup = regression_setup(Path(asked.matrix), sources, host)
    if _matrix_sha256(setup) != asked.matrix_sha256:
        raise InputError(
            f"{asked.matrix}: the matrix, or a file that it names, has changed since {record.name} began, and a search "
            "is of one matrix: bring back what it was, or start again"
        )
    for run in runs(folder)[:1]:  # refuses another host, on which there is nothing to go on with
        jobs.resumed(folder, run.name, RuntimeName.AUTO, asked.base_image, host)
    subject = subject_of(setup.side(asked.good, "--good"), setup.side(asked.bad, "--bad"), setup.planner.catalog)
    return PreparedSearch(record, folder, subject, SearchSetup(setup, asked.cell))


def _ended(record: EarlierBisection, folder: Path, options: SearchOptions) -> EarlierBisection:
    """Return a record of an earlier schema. Raises `InputError` if something is left to measure."""
    if record.found is None or options.retry_failed:
        raise InputError(
            f"{folder}: was begun by an earlier version, whose comparisons of two releases at a time do not go on: "
            f"search again with --good {record.asked.good} --bad {record.asked.bad} --cell {record.asked.cell!r}; the "
            "runs next to it stay as they are"
        )
    return record


def _refuse_changes(options: SearchOptions, name: str) -> None:
    allowed = SearchOptions(
        results=options.results,
        resume=name,
        retry_failed=options.retry_failed,
        jobs=options.jobs,
        idle_wait_s=options.idle_wait_s,
        images=options.images,
        exclusive=options.exclusive,
    )
    if options != allowed:
        raise InputError(
            "--resume goes on with what the search was to find out: leave out everything but --results, --jobs, "
            "--retry-failed, --idle-wait, --images, --exclusive and --json"
        )


def _latest(results: Path) -> str:
    names = sorted(path.parent.name for path in results.glob(f"{PREFIX}*/{RECORD_FILE}"))
    if not names:
        raise InputError(f"{results}: no search here; --results DIR looks elsewhere")
    return names[-1]
