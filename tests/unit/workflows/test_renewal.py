"""The moments at which a served site is brought up to date."""

from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from orchestrator.errors import InputError
from orchestrator.running.host_lock.queue import Holder, Ticket
from orchestrator.workflows.host.host import Host
from orchestrator.workflows.site.publish import PublishOptions
from orchestrator.workflows.site.renewal import SHORT_S, SiteRenewal, may_renew
from tests.unit.cli.stored_runs import stored_run
from tests.until import until


@pytest.mark.parametrize(
    ("holders", "early", "cost_s", "may"),
    [
        (set(), set(), 60.0, True), ({"a"}, {"a"}, SHORT_S, True), ({"a"}, {"a"}, 1.0, False),
        ({"a"}, set(), 0.0, False), ({"a", "b"}, {"a"}, 0.0, False),
    ],
)  # fmt: skip
def test_nothing_that_is_timed_is_disturbed(holders: set[str], early: set[str], cost_s: float, may: bool) -> None:
    assert may_renew(frozenset(holders), frozenset(early), cost_s) is may


@pytest.fixture
def renewal(tmp_path: Path) -> Iterator[SiteRenewal]:
    (tmp_path / "results").mkdir()
    options = PublishOptions(output=tmp_path / "site", results=tmp_path / "results")
    with closing(SiteRenewal(options, (tmp_path / "lock",), Host({"HOME": str(tmp_path)}))) as made:
        yield made


def ticks(renewal: SiteRenewal, changes: int, early: frozenset[str] = frozenset()) -> None:
    """Let it do what there is to do."""
    renewal.tick(changes, early)

    def is_done() -> bool:
        if renewal._asked:
            renewal.tick(changes, early)
        return not renewal._asked

    until(is_done)


def test_a_change_renews_the_site(renewal: SiteRenewal, tmp_path: Path) -> None:
    renewal.first(wait=True)
    index = tmp_path / "site" / "index.html"
    first = index.read_text()
    stored_run(tmp_path / "results")
    ticks(renewal, 0)
    second = index.read_text()
    assert second != first

    index.unlink()
    ticks(renewal, 0)
    assert index.read_text() == second


def test_a_run_that_measures_is_waited_for(renewal: SiteRenewal, tmp_path: Path) -> None:
    renewal.first(wait=True)
    before = (tmp_path / "site" / "index.html").read_text()
    stored_run(tmp_path / "results")
    with closing(Ticket.draw(tmp_path / "lock")) as ticket:
        ticket.measure(Holder("another", "cell", datetime.now(UTC)))
        ticks(renewal, 5)
        renewal.first(wait=False)
        assert (tmp_path / "site" / "index.html").read_text() == before
    ticks(renewal, 5)

    assert (tmp_path / "site" / "index.html").read_text() != before


def test_the_first_failure_is_raised(tmp_path: Path) -> None:
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "other").touch()
    (tmp_path / "results").mkdir()
    options = PublishOptions(output=tmp_path / "site", results=tmp_path / "results")
    with closing(SiteRenewal(options, (), Host({"HOME": str(tmp_path)}))) as renewal, pytest.raises(InputError):
        renewal.first(wait=True)


def test_a_later_failure_is_said_once(tmp_path: Path) -> None:
    from orchestrator.events import Event, Notice

    said: list[str] = []

    def hear(event: Event) -> None:
        if isinstance(event, Notice):
            said.append(event.message)

    results = tmp_path / "results"
    results.mkdir()
    options = PublishOptions(output=tmp_path / "site", results=results)
    with closing(SiteRenewal(options, (), Host({"HOME": str(tmp_path)}, hear))) as renewal:
        renewal.first(wait=True)
        results.rmdir()
        for changes in (1, 2):
            renewal._next_s = 0.0
            ticks(renewal, changes)

    (line,) = [line for line in said if "not renewed" in line]
    assert line.startswith(f"the site is not renewed: {results}: no such folder; ")
