"""The headline of a page reads well whichever of its sentences comes first."""

from types import SimpleNamespace
from typing import cast

import pytest

from orchestrator.reporting.model import Conclusion, Group
from orchestrator.reporting.summary import headline


@pytest.mark.parametrize(
    ("conclusions", "said"),
    [
        ((Conclusion.ALONE,) * 2, "2 groups had one cell only, so nothing to compare it with."),
        ((Conclusion.FLOOR,), "1 group had nothing but the floor of the harness."),
        ((Conclusion.NOTHING,), "Nothing was measured in 1 group."),
        ((Conclusion.NOT_COMPARABLE,) * 2, "In 2 groups no two cells do the same work."),
        (
            (
                Conclusion.SAME,
                *(Conclusion.NOT_COMPARABLE,) * 2,
                Conclusion.ALONE,
                Conclusion.FLOOR,
                Conclusion.NOTHING,
            ),
            (
                "Of 1 comparison, 1 ended in a tie (each pair at 95 % confidence). In 2 no two cells do the same work. "
                "1 more had one cell only, so nothing to compare it with. "
                "1 more had nothing but the floor of the harness. "
                "Nothing was measured in 1 more."
            ),
        ),
    ],
)
def test_more_stands_after_a_sentence_alone(conclusions: tuple[Conclusion, ...], said: str) -> None:
    groups = [cast("Group", SimpleNamespace(conclusion=conclusion)) for conclusion in conclusions]

    assert headline(groups, {}) == said
