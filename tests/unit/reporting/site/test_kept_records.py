"""The records of searches as a site shows them."""

from pathlib import Path

from orchestrator.reporting.site.kept_records import searches_document
from tests.unit.regression.search.search_records import RELEASES, Host, a_search, chained, rates


def test_values_stand_at_their_releases(tmp_path: Path) -> None:
    """A release has the name that changes have, and its values of all rounds."""
    record = a_search(tmp_path)
    (search,) = searches_document([("search", record)])["searches"]

    values = dict(search["values"])
    assert tuple(values) == RELEASES
    assert [release for release, of_release in values.items() if not any(of_release)] == ["1.7.0"]
    measured = [each for each in record.rounds if not each.change]
    assert len(values["1.2.0"]) == sum(each.blocks for each in measured if "mxnet==1.2.0" in each.releases)
    assert {after for kind, _, after, *_ in search["spans"] if kind == "change"} == {"1.5.1", "1.8.0"}


def test_values_of_a_chain_stand_at_their_releases(tmp_path: Path) -> None:
    """The bridge has values on both Pythons."""
    record = chained(Host(rates(v1_6_0=0.9)), tmp_path, every=True)
    (search,) = searches_document([("search", record)])["searches"]

    values = dict(search["values"])
    assert tuple(values) == RELEASES
    assert all(values.values())
    of_bridge = [each.blocks for each in record.rounds if any("1.5.1" in text for text in each.releases)]
    assert len(values["1.5.1"]) == sum(of_bridge)
