"""A chain on simulated hosts: how often it errs, beside what one search promises."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from orchestrator.analysis.comparison import Verdict
from orchestrator.regression.rules import Gate
from orchestrator.regression.search.carry_out import SearchInProgress
from orchestrator.regression.search.record import Found
from tests.unit.regression.search.search_records import CHAIN, MXNET, RELEASES, Host, chained_record, rates

FACTORS = {"3.6": 1.0, "3.9": 0.7}
SEARCHES = 100
ALPHA = 0.05


def searches(folder: Path, steps: dict[str, float], tolerance: float, *, every: bool) -> Iterator[Found]:
    """Search releases on hosts whose repeats scatter by 2 %, and whose Pythons differ by 30 %."""
    asked = chained_record(every=every).asked.model_copy(update={"metric": Gate("throughput", tolerance)})
    record = chained_record().model_copy(update={"asked": asked})
    for seed in range(1, SEARCHES + 1):
        host = Host(rates(**steps), pythons=FACTORS, deviation=0.02, seed=seed)
        found = SearchInProgress(record, folder, MXNET, host.means()).carry_out().found
        assert found is not None
        yield found


@pytest.mark.parametrize("tolerance", [0.0001, 0.02])
def test_equal_releases_are_rarely_called_changed(tmp_path: Path, tolerance: float) -> None:
    """Whatever the spans, no more than α of the searches name a release or tell the ends apart.

    With next to no tolerance every interval that leaves 1 out is an error.
    """
    every = list(searches(tmp_path, {}, tolerance, every=True))

    wrong = sum(bool(found.changes) or found.is_worse for found in every)
    ends = [found.releases.ends for found in every]
    assert wrong <= ALPHA * SEARCHES
    assert sum(each is not None and each.differs for each in ends) <= ALPHA * SEARCHES
    assert all(found.chain is not None and len(found.chain.spans) == 2 for found in every)


def test_releases_at_the_tolerance_are_rarely_named(tmp_path: Path) -> None:
    """Every step 0.9 tolerances slower, across the bridge too."""
    steps = {"v" + release.replace(".", "_"): 1.02**-0.9 for release in RELEASES[1:]}
    every = list(searches(tmp_path, steps, 0.02, every=True))

    assert sum(bool(found.releases.changes) for found in every) <= ALPHA * SEARCHES


@pytest.mark.parametrize("changed", [CHAIN.spans[0].last, "1.6.0"])
def test_planted_change_beside_the_bridge_is_found(tmp_path: Path, changed: str) -> None:
    """The step into the bridge and the step out of it are found, and nothing else is."""
    steps = {"v" + changed.replace(".", "_"): 0.93}
    every = list(searches(tmp_path, steps, 0.02, every=False))

    named = [[span.after for span in found.releases.changes] for found in every]
    assert sum(each == [changed] for each in named) >= 0.9 * SEARCHES
    assert sum(bool(set(each) - {changed}) for each in named) <= ALPHA * SEARCHES


def test_intervals_of_a_chain_hold_the_truth(tmp_path: Path) -> None:
    """The product of all steps lies in the interval of the ends, which is wider than that of each span."""
    every = list(searches(tmp_path, {"v1_4_1": 0.9, "v1_8_0": 1.2}, 0.02, every=False))

    held = [found.releases.ends for found in every if found.releases.ends is not None]
    assert len(held) == SEARCHES
    outside = sum(not (each.low or 0) <= 0.9 * 1.2 <= (each.high or 0) for each in held)
    assert outside <= ALPHA * SEARCHES
    assert {each.verdict for each in held} <= {Verdict.FASTER, Verdict.INCONCLUSIVE}
    for found in every:
        assert found.chain is not None
        assert (found.chain.half_width or 0) > (found.chain.widest_half_width or 0)
