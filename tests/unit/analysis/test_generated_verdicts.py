"""Verdicts on generated tokens: the same ones up to a tie, which is counted."""

from typing import Any

import pytest
from parity_results import MXNET, TORCH, side, tensor

from orchestrator.analysis.parity.sides import ParitySide
from orchestrator.analysis.parity.work import PairParity, WorkParity, pair
from orchestrator.domain import Framework, Mode
from orchestrator.results.parity.contract import Generated

TOKENS = ((3, 1, 4, 1), (5, 9, 2, 6), (5, 3, 5, 8))
SURE = ((0.5, 0.2, 0.3, 0.4),) * 3
LOGITS = tensor(1.0, 0.0)


def changed(rows: tuple[tuple[Any, ...], ...], prompt: int, token: int, value: Any) -> tuple[tuple[Any, ...], ...]:
    """Return rows with one value, and all after it, replaced, as a generation goes on from what it chose."""
    row = rows[prompt]
    other = (*row[:token], value, *(each if isinstance(each, float) else each + 1 for each in row[token + 1 :]))
    return (*rows[:prompt], other, *rows[prompt + 1 :])


def generating(
    framework: Framework = TORCH, tokens: Any = TOKENS, leads: Any = SURE, output: int = 4, **changes: Any
) -> ParitySide:
    answer = Generated(prompt=8, output=output, tokens=tokens, leads=leads)
    fields = {"inferred": LOGITS, "generated": answer, "lacking": ("training",), "losses": {}, "gradients": {}}
    return side(framework, **fields | changes)


def judged(one: ParitySide, other: ParitySide) -> PairParity:
    found = pair(one, other, Mode.GENERATE)
    assert pair(other, one, Mode.GENERATE).work is found.work
    return found


def test_same_tokens_are_the_same_work() -> None:
    found = judged(generating(), generating(MXNET))

    assert (found.work, found.reason, found.note) == (WorkParity.SAME, "", "")
    assert [each.evidence for each in found.differences] == ["weights", "logits", "tokens", "tokens", "tokens"]


def test_tie_ends_one_comparison_and_is_counted() -> None:
    """From the tie on, the tokens of that prompt may be any others."""
    tied = changed(SURE, 1, 2, 3e-5)

    found = judged(generating(leads=tied), generating(MXNET, changed(TOKENS, 1, 2, 7), changed(SURE, 1, 2, 1e-5)))

    assert found.work is WorkParity.SAME
    assert found.note == (
        "1 of 3 generations part at a tie of the two best logits, and 10 tokens of 12 are compared and the same"
    )


def test_ties_that_leave_too_little_leave_it_open() -> None:
    """With half of the tokens compared the work is the same, and with one token less nothing shows it."""
    tied, parted = changed(SURE, 0, 0, 1e-6), changed(TOKENS, 0, 0, 7)

    def found(token: int) -> PairParity:
        leads = changed(tied, 1, token, 1e-6)
        return judged(generating(leads=leads), generating(MXNET, changed(parted, 1, token, 7), leads))

    counted = "2 of 3 generations part at a tie of the two best logits, and {} tokens of 12 are compared and the same"
    assert (found(2).work, found(2).note) == (WorkParity.SAME, counted.format(6))
    assert found(1).work is WorkParity.NOT_CHECKED
    assert found(1).reason == counted.format(5) + "; that takes 50 % of them at least"


def test_ties_at_once_hide_no_wrong_token() -> None:
    """A token that only one side favours is other work, however little is compared."""
    tied, others = changed(SURE, 0, 0, 1e-6), changed(changed(TOKENS, 0, 0, 7), 1, 0, 7)

    found = judged(generating(leads=tied), generating(MXNET, changed(others, 2, 0, 7), tied))

    assert found.work is WorkParity.NOT_COMPARABLE


def test_wrong_token_is_other_work() -> None:
    found = judged(generating(), generating(MXNET, changed(TOKENS, 2, 1, 7)))

    assert found.work is WorkParity.NOT_COMPARABLE
    assert found.reason == ("token 2 after prompt 3 is 3 in torch 2.13.0, 7 in mxnet 1.9.1: 0.2 apart, bar 0.0001")


@pytest.mark.parametrize("unsure", [True, False])
def test_tie_on_one_side_alone_is_none(unsure: bool) -> None:
    """A side that is sure of its token has other logits than one for which it is a tie."""
    leads = (changed(SURE, 0, 1, 1e-6), SURE) if unsure else (SURE, changed(SURE, 0, 1, 1e-6))

    found = judged(generating(leads=leads[0]), generating(MXNET, changed(TOKENS, 0, 1, 7), leads[1]))

    assert found.work is WorkParity.NOT_COMPARABLE


def test_worst_of_several_decides() -> None:
    tied, wrong = changed(SURE, 0, 0, 1e-6), changed(TOKENS, 0, 0, 7)

    found = judged(generating(leads=tied), generating(MXNET, changed(wrong, 1, 3, 7), tied))

    assert found.work is WorkParity.NOT_COMPARABLE
    assert "token 4 after prompt 2" in found.reason


def test_token_must_be_the_most_likely() -> None:
    """Both sides may agree on tokens that their own logits do not favour."""
    found = judged(generating(leads=changed(SURE, 1, 1, -0.3)), generating(MXNET, leads=changed(SURE, 1, 1, -0.3)))

    assert found.work is WorkParity.NOT_COMPARABLE
    assert "chosen tokens of torch 2.13.0 and the most likely ones" in found.reason


def test_reduced_precision_has_wider_ties() -> None:
    bf16 = (("precision", "bf16"),)
    unsure, parted = changed(SURE, 0, 1, 0.05), changed(TOKENS, 0, 1, 7)

    found = judged(generating(leads=unsure, options=bf16), generating(MXNET, parted, unsure, options=bf16))

    assert found.work is WorkParity.SAME
    assert "1 of 3 generations part at a tie" in found.note


def test_side_without_tokens_is_not_checked() -> None:
    found = judged(generating(), generating(MXNET, generated=None))

    assert (found.work, found.reason) == (WorkParity.NOT_CHECKED, "no generated tokens of mxnet 1.9.1")


def test_other_number_of_tokens_is_other_work() -> None:
    fewer = tuple(row[:2] for row in TOKENS)

    found = judged(generating(), generating(MXNET, fewer, tuple(row[:2] for row in SURE), output=2))

    assert found.work is WorkParity.NOT_COMPARABLE
    assert "are of another number" in found.reason


def test_leads_are_those_of_the_tokens() -> None:
    with pytest.raises(ValueError, match="each with its lead"):
        Generated(prompt=8, output=4, tokens=TOKENS, leads=SURE[:2])
