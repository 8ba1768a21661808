"""From values to a verdict, where values are hard: far apart, tiny, or 0."""

import pytest

from orchestrator.analysis.looks import Look
from orchestrator.regression.judging import Held, confirmation
from orchestrator.regression.metrics import BY_NAME
from orchestrator.regression.model import Judged, Verdict
from orchestrator.results.contract import LARGEST

SURE = Look(2, 0.99975, 0.05)


def held(metric: str) -> Held:
    return Held(BY_NAME[metric], True, BY_NAME[metric].tolerance)


def test_two_blocks_that_lie_far_apart_bound_nothing_and_can_be_written() -> None:
    found = held("cold_start").judge([(2.3, 1.2), (1.2, 1.21)], SURE)
    again = confirmation(found.model_copy(update={"verdict": Verdict.SLOWER}), found)

    assert (found.verdict, found.low, found.high) == (Verdict.INCONCLUSIVE, 1 / LARGEST, LARGEST)
    assert (again.confirmed, again.low, again.high) == (False, 1 / LARGEST, LARGEST)
    assert Judged.model_validate_json(found.model_dump_json()) == found


@pytest.mark.parametrize(("baseline", "candidate"), [(5e-324, 1.0), (1.0, 5e-324), (LARGEST, LARGEST)])
def test_what_is_known_exactly_has_a_ratio_that_can_be_written(baseline: float, candidate: float) -> None:
    found = held("loss").exact(baseline, candidate)

    assert found.ratio == max(1 / LARGEST, min(candidate / baseline, LARGEST))
    assert held("throughput").judge([(LARGEST, LARGEST)] * 3, SURE).verdict is Verdict.SAME
