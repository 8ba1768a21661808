"""The documents of searches and nights, whose data is what their folders store."""

from typing_extensions import TypedDict

from orchestrator.documents import DocumentKind, Envelope
from orchestrator.regression.nightly.records import Score
from orchestrator.regression.nightly.state import Night
from orchestrator.regression.search.earlier_record import EarlierBisection
from orchestrator.regression.search.record import AnyBisection, Bisection
from orchestrator.workflows.nightly.accept import AcceptResult
from orchestrator.workflows.nightly.ack import AckResult


class AcceptedReleaseData(TypedDict):
    """The change of the baseline of later nights."""

    watched: str
    accepted: str
    before: str | None


class AnsweredAlarmsData(TypedDict):
    """The alarms that were answered, and the series that need more blocks to alarm again."""

    answered: list[Score]
    doubted: list[list[str]]
    """Cell and metric of each."""


SEARCH_RECORD = DocumentKind("search-record", 2, AnyBisection)
NIGHT_RECORD = DocumentKind("night-record", 1, Night)
ACCEPTED_RELEASE = DocumentKind("accepted-release", 1, AcceptedReleaseData)
ANSWERED_ALARMS = DocumentKind("answered-alarms", 1, AnsweredAlarmsData)


def search_document(record: Bisection | EarlierBisection) -> Envelope:
    """Return the record of a search."""
    return SEARCH_RECORD.envelope(record.model_dump(mode="json", by_alias=True))


def night_document(night: Night) -> Envelope:
    """Return the record of a night."""
    return NIGHT_RECORD.envelope(night.model_dump(mode="json", by_alias=True))


def accept_document(result: AcceptResult) -> Envelope:
    """Return the change of a baseline."""
    data: AcceptedReleaseData = {
        "watched": result.watched,
        "accepted": result.accepted,
        "before": result.before or None,
    }
    return ACCEPTED_RELEASE.envelope(data)


def ack_document(result: AckResult) -> Envelope:
    """Return the alarms that were answered."""
    return ANSWERED_ALARMS.envelope(
        {
            "answered": [score.model_dump(mode="json") for score in result.scores],
            "doubted": [list(series) for series in result.doubted],
        }
    )
