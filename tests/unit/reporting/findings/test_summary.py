"""The headline of a page reads well whichever of its sentences comes first."""

from types import SimpleNamespace
from typing import cast

import pytest

from orchestrator.reporting.findings.model import Group, GroupFinding
from orchestrator.reporting.findings.summary import headline


@pytest.mark.parametrize(
    ("conclusions", "said"),
    [
        ((GroupFinding.ALONE,) * 2, "2 groups had one cell only, so nothing to compare it with."),
        ((GroupFinding.FLOOR,), "1 group had nothing but the floor of the harness."),
        ((GroupFinding.NOTHING,), "Nothing was measured in 1 group."),
        ((GroupFinding.NOT_COMPARABLE,) * 2, "In 2 groups no two cells do the same work."),
        (
            (
                GroupFinding.SAME,
                *(GroupFinding.NOT_COMPARABLE,) * 2,
                GroupFinding.ALONE,
                GroupFinding.FLOOR,
                GroupFinding.NOTHING,
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
def test_more_stands_after_a_sentence_alone(conclusions: tuple[GroupFinding, ...], said: str) -> None:
    groups = [cast("Group", SimpleNamespace(conclusion=conclusion)) for conclusion in conclusions]

    assert headline(groups, {}) == said
