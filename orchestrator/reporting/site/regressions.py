"""The stored verdict of a regression test, as the page of its run shows it."""

from orchestrator.errors import InputError
from orchestrator.regression.model import Judged, Regression
from orchestrator.regression.trials.files import REGRESSION_FILE, stored_regression
from orchestrator.reporting.site.encoding import Document, significant
from orchestrator.results.store import Run
from orchestrator.wording import clean_line


def regression_document(run: Run) -> Document | None:
    """Return the verdicts of a run that is a regression test, or None for any other run."""
    if not (run.folder / REGRESSION_FILE).is_file():
        return None
    try:
        return verdicts(stored_regression(run))
    except InputError as error:
        return {"problem": clean_line(str(error))}


def verdicts(regression: Regression) -> Document:
    """Return a row for every pair, and for every metric of it that was judged."""
    rows: list[list[object]] = [
        [clean_line(pair.id), str(pair.verdict), clean_line(pair.reason), pair.is_regression, "", None, None, None]
        for pair in regression.pairs
        if not pair.metrics
    ]
    rows += [
        [
            *(clean_line(pair.id), str(metric.verdict), clean_line(metric.reason), metric.is_regression, metric.metric),
            *_interval(metric),
        ]
        for pair in regression.pairs
        for metric in pair.metrics
    ]
    return {
        "baseline": clean_line(regression.baseline.label),
        "candidate": clean_line(regression.candidate.label),
        "complete": regression.complete,
        "rows": rows,
    }


def _interval(metric: Judged) -> list[object]:
    return [significant(metric.ratio), significant(metric.low), significant(metric.high)]
