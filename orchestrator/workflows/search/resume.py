"""A search that goes on, from its record."""

from pathlib import Path

from orchestrator.errors import InputError
from orchestrator.regression.search import record as search_record
from orchestrator.regression.search.record import RECORD_FILE
from orchestrator.results.store import runs
from orchestrator.workflows.host.host import Host
from orchestrator.workflows.measure import jobs
from orchestrator.workflows.measure.regression_setup import SourceOptions, regression_setup
from orchestrator.workflows.option_values import RuntimeName
from orchestrator.workflows.search.options import SearchOptions
from orchestrator.workflows.search.prepared import PREFIX, PreparedSearch, matrix_sha256
from orchestrator.workflows.search.setup import SearchSetup
from orchestrator.workflows.search.subject import subject_of


def resumed_search(options: SearchOptions, name: str, host: Host) -> PreparedSearch:
    """Return a search that goes on. Raises `InputError` if it is none, or its matrix or host is another one now.

    What could not be tested because of the host or its index is tried again, even if the search has ended. With
    `retry_failed` everything that could not be tested is.
    """
    _refuse_changes(options, name)
    folder = options.results / (_latest(options.results) if name == "latest" else name)
    stored = search_record.read(folder)
    record = search_record.forgetful(stored, failed=options.retry_failed)
    retried = frozenset((probe.baseline, probe.candidate) for probe in stored.probes if probe not in record.probes)
    asked = record.asked
    models, data = (Path(text) if text else None for text in (asked.models, asked.data))
    sources = SourceOptions(
        base_image=asked.base_image, models=models, data=data, no_parity=asked.no_parity, limit=asked.limit
    )
    setup = regression_setup(Path(asked.matrix), sources, host)
    if matrix_sha256(setup.matrix) != asked.matrix_sha256:
        raise InputError(
            f"{asked.matrix}: has changed since {record.name} began, and a search is of one matrix: bring back what it "
            "was, or begin anew"
        )
    for run in runs(folder)[:1]:  # refuses another host, on which there is nothing to go on with
        jobs.resumed(folder, run.name, RuntimeName.AUTO, asked.base_image, host)
    subject = subject_of(setup.side(asked.good, "--good"), setup.side(asked.bad, "--bad"), setup.planner.catalog)
    return PreparedSearch(record, folder, subject, SearchSetup(setup, asked.cell), retried)


def _refuse_changes(options: SearchOptions, name: str) -> None:
    allowed = SearchOptions(
        results=options.results,
        resume=name,
        retry_failed=options.retry_failed,
        jobs=options.jobs,
        idle_wait_s=options.idle_wait_s,
    )
    if options != allowed:
        raise InputError(
            "--resume goes on with what the search was to find out: leave out everything but --results, --jobs, "
            "--retry-failed, --idle-wait and --json"
        )


def _latest(results: Path) -> str:
    names = sorted(path.parent.name for path in results.glob(f"{PREFIX}*/{RECORD_FILE}"))
    if not names:
        raise InputError(f"{results}: no search here; --results DIR looks elsewhere")
    return names[-1]
