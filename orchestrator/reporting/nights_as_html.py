"""A night as a page, and the list of all nights; both work from disk without a network."""

from collections.abc import Mapping, Sequence

from orchestrator import __version__
from orchestrator.regression.nightly.state import Judgement, Night
from orchestrator.reporting import nights, regressions
from orchestrator.reporting.as_html import page_environment, page_parts
from orchestrator.reporting.pages import INDEX

MARKS: Mapping[Judgement, str] = {
    Judgement.CLEAN: "good",
    Judgement.REGRESSED: "bad",
    Judgement.INCONCLUSIVE: "open",
}
"""How a judgement is marked; what was not measured is neither good nor bad."""


def night_html(night: Night) -> str:
    """Render the page of a night; its links lead from the folder of the night."""
    return (
        page_environment()
        .get_template("night.html.jinja")
        .render(
            night=night,
            title=nights.title(night),
            headline=nights.headline(night),
            alarms=[nights.alarm_row(alarm) for alarm in night.alarms],
            known=[nights.known_row(alarm) for alarm in nights.known(night)],
            alarm_heads=nights.ALARM_HEADS,
            release_heads=nights.RELEASE_HEADS,
            given_up=[nights.release_row(record) for record in night.given_up],
            changes=[nights.change_row(change) for change in night.changes],
            change_heads=nights.CHANGE_HEADS,
            tried=[(trying, nights.release_row(trying.record), trying.page) for trying in night.tried],
            verdicts=[
                (
                    regressions.title(trying.regression),
                    regressions.rows(trying.regression, gates=True),
                    regressions.notes(trying.regression),
                )
                for trying in nights.measured(night)
                if trying.regression is not None
            ],
            verdict_heads=regressions.HEADS,
            facts=nights.facts(night),
            marks=MARKS,
            version=__version__,
            **page_parts(),
        )
    )


def nights_html(every: Sequence[Night], links: Sequence[tuple[str, str]] = ()) -> str:
    """Render the list of nights, newest first; `links` (text, address) lead to what lies beside it."""
    return (
        page_environment()
        .get_template("nights.html.jinja")
        .render(
            nights=[(night, nights.headline(night)) for night in reversed(every)],
            watched=every[-1].watched if every else "",
            links=links,
            index=INDEX,
            version=__version__,
            **page_parts(),
        )
    )
