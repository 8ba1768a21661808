import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.analysis.comparison import Look, compare, looks
from tests.documented import whole
from tests.effort import examples


def test_single_look_has_the_whole_of_alpha() -> None:
    """A single look at a single cell has the whole of alpha."""
    assert looks(1, blocks=(6,)) == (Look(6, 0.95, 0.05),)


def test_last_look_has_most_of_alpha() -> None:
    found = looks(20)

    assert [look.blocks for look in found] == [6, 12, 24]
    assert [1 - look.confidence for look in found] == pytest.approx([0.0025 / 16, 0.0025 * 3 / 16, 0.0025 * 3 / 4])
    assert [look.equivalence for look in found] == pytest.approx([0.05 / 16, 0.05 * 3 / 16, 0.05 * 3 / 4])


@given(
    st.integers(1, 500),
    st.lists(st.integers(2, 1000), min_size=1, max_size=6, unique=True).map(sorted),
    st.floats(min_value=1e-3, max_value=0.4),
)
def test_levels_of_all_looks_add_up_to_alpha(family: int, blocks: list[int], alpha: float) -> None:
    """The levels of all looks at all cells add up to alpha."""
    found = looks(family, blocks=blocks, alpha=alpha)

    assert family * sum(1 - look.confidence for look in found) == pytest.approx(alpha)
    assert sum(look.equivalence for look in found) == pytest.approx(alpha)
    assert all(0.5 < look.confidence < 1 and 0 < look.equivalence < 0.5 for look in found)


@pytest.mark.parametrize(
    ("family", "blocks", "alpha", "said"),
    [
        (0, (6,), 0.05, "at least one comparison, not 0"),
        (1, (), 0.05, "rising numbers of blocks"),
        (1, (1, 6), 0.05, "rising numbers of blocks"),
        (1, (6, 6), 0.05, "rising numbers of blocks"),
        (1, (6,), 0.0, "α lies between 0 and 0.5, not at 0.0"),
        (1, (6,), 0.5, "α lies between 0 and 0.5, not at 0.5"),
    ],
)
def test_looks_that_mean_nothing_are_refused(family: int, blocks: tuple[int, ...], alpha: float, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        looks(family, blocks=blocks, alpha=alpha)


def test_all_intervals_hold_the_truth_but_for_alpha() -> None:
    """All intervals of all looks hold the truth in all but alpha of the nights."""
    draw = np.random.default_rng(6)
    plan, family, nights = looks(5, blocks=(3, 6, 12), alpha=0.1), 5, max(200, examples(600))
    wrong = 0
    for _ in range(nights):
        cells = np.exp(0.03 * draw.standard_normal((family, 2, 12)))
        found = [
            compare(
                b[: look.blocks],
                c[: look.blocks],
                tolerance=0,
                higher_is_better=True,
                confidence=look.confidence,
                paired=True,
            )
            for b, c in cells
            for look in plan
        ]
        wrong += any(each.differs for each in found)

    assert 0.05 <= wrong / nights <= 0.12


def test_program_prints_what_the_page_says(capsys: pytest.CaptureFixture[str]) -> None:
    page = whole("regression.md")
    (program,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)

    exec(compile(program, "docs/regression.md", "exec"), {})

    assert capsys.readouterr().out.splitlines() == re.findall(r"\)  # (.*)", program)
