"""A new search, from its options."""

import platform
import secrets
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from orchestrator.errors import HostError, InputError
from orchestrator.regression.releases.package_index import offered_releases
from orchestrator.regression.rules import looks_up_to
from orchestrator.regression.search.algorithm import PROBED
from orchestrator.regression.search.candidates import ReleaseFilter, SearchSubject, between, reasons
from orchestrator.regression.search.record import RECORD_FILE, Asked, Bisection, LeftOut
from orchestrator.regression.sides import Side
from orchestrator.running import new_run_name
from orchestrator.workflows.host.host import Host
from orchestrator.workflows.inputs.package_index import with_own_index
from orchestrator.workflows.inputs.planned_matrix import matrix_file
from orchestrator.workflows.measure.regression_setup import RegressionSetup, regression_setup
from orchestrator.workflows.search.options import DEFAULT_METRIC, SearchOptions
from orchestrator.workflows.search.prepared import PREFIX, PreparedSearch, matrix_sha256
from orchestrator.workflows.search.setup import SearchSetup
from orchestrator.workflows.search.subject import metric_gate, own_images, subject_of


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
    looks = looks_up_to(PROBED[-1] if options.max_blocks is None else options.max_blocks)
    setup = regression_setup(options.file, options, host)
    good, bad = setup.side(question.good, "--good"), setup.side(question.bad, "--bad")
    gate = metric_gate(options.metric or DEFAULT_METRIC, setup.model_names, looks[-1])
    subject = subject_of(good, bad, setup.planner.catalog)
    own = own_images(setup, subject)
    cell = SearchSetup(setup, question.cell)
    cells = cell.pair(good, bad).plan.cells
    python = _common_python(cells[0].framework.python, cells[-1].framework.python)
    (pair,) = cell.planned(replace(good, python=python), replace(bad, python=python)).pairs

    def unsupported_reason(side: Side) -> str | None:
        return cell.unsupported_reason(replace(good, python=python), replace(side, python=python))

    releases, left_out = (own, ()) if own is not None else _published(options, setup, subject, unsupported_reason)
    began = datetime.now(UTC)
    others = [path.parent.name.removeprefix(PREFIX) for path in options.results.glob(f"{PREFIX}*/{RECORD_FILE}")]
    record = Bisection(
        name=PREFIX + new_run_name(began, secrets.token_hex(2), others),
        created_at=began.isoformat(timespec="seconds"),
        host=platform.node(),
        asked=Asked(
            good=good.text,
            bad=bad.text,
            python=python,
            cell=question.cell,
            pair=pair.id,
            metric=gate,
            every=options.every,
            looks=looks,
            prereleases=options.prereleases,
            yanked=options.yanked,
            matrix=str(matrix_file(options.file, host).absolute()),
            matrix_sha256=matrix_sha256(setup.matrix),
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


def _common_python(one: str, other: str) -> str:
    if one != other:
        raise InputError(f"no Python runs both ends: Python {one} against {other}; what differs may come of that")
    return one


def _published(
    options: SearchOptions,
    setup: RegressionSetup,
    subject: SearchSubject,
    unsupported_reason: Callable[[Side], str | None],
) -> tuple[tuple[str, ...], tuple[LeftOut, ...]]:
    """Return the releases on the package index from good to bad, and those between that are left out."""
    settings = setup.build_settings()
    if not subject.is_package:
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
