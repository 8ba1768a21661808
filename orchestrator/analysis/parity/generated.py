"""The comparison of the tokens that two generators choose after the same prompts.

From its first token on, a generation depends on every choice before. So where two sides choose other tokens, the
comparison of that prompt ends, and the choice itself is judged: it is a tie if on both sides the token leads all others
by no more than the bar of logits, because rounding within the bar decides it. Nothing after a tie is compared, so ties
that leave too few tokens leave the pair undecided.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from orchestrator.analysis.parity.differences import Difference, bars
from orchestrator.analysis.parity.sides import ParitySide
from orchestrator.results.parity.contract import Generated
from orchestrator.wording import counted, share

LEAST_SHARE = 0.5
"""The least share of the tokens of all prompts together that must be compared and the same."""


@dataclass(frozen=True, slots=True)
class Parted:
    """Two generations of one prompt that part."""

    prompt: int
    """Its number, from 0, as is that of the token."""
    token: int
    tokens: tuple[int, int]
    lead: float
    """The larger of both leads of the tokens, as a share of the root mean square of the logits."""


def differences(one: ParitySide, other: ParitySide) -> tuple[Difference, ...]:
    """Return for each side how far a token is from the most likely one, and how far the sides part at worst."""
    a, b, bar = _answer(one), _answer(other), bars(one, other).logits
    if a is None or b is None:
        return ()
    if (a.prompt, a.output) != (b.prompt, b.output) or _shape(a) != _shape(b):
        return (Difference("tokens", "generated tokens", 1.0, bar, "are of another number"),)
    own = (
        Difference("tokens", f"chosen tokens of {side.label} and the most likely ones", _behind(answer), bar)
        for side, answer in ((one, a), (other, b))
    )
    worst = max(parted(a, b), key=lambda each: each.lead, default=None)
    if worst is None:
        return (*own, Difference("tokens", "generated tokens", 0.0, bar, f"are the same, {_many(a)}"))
    what = f"token {worst.token + 1} after prompt {worst.prompt + 1}"
    chosen = f"is {worst.tokens[0]} in {one.label}, {worst.tokens[1]} in {other.label}"
    return (*own, Difference("tokens", what, worst.lead, bar, chosen))


def note(one: ParitySide, other: ParitySide) -> str:
    """Return a sentence that counts the prompts after which the sides part at a tie, or an empty text."""
    a, b = _answer(one), _answer(other)
    ties = tuple(parted(a, b)) if a and b else ()
    if not a or not ties:
        return ""
    shown = f"{len(ties)} of {counted(len(a.tokens), 'generation')} part at a tie of the two best logits"
    return f"{shown}, and {counted(_compared(a, ties), 'token')} of {_many(a)} are compared and the same"


def undecided(one: ParitySide, other: ParitySide) -> str:
    """Return in one line that ties leave too few tokens to compare, or an empty text."""
    a, b = _answer(one), _answer(other)
    ties = tuple(parted(a, b)) if a and b and _shape(a) == _shape(b) else ()
    if not a or not ties or _compared(a, ties) >= LEAST_SHARE * len(a.tokens) * len(a.tokens[0]):
        return ""
    return f"{note(one, other)}; that takes {share(LEAST_SHARE)} of them at least"


def _compared(answer: Generated, parts: Sequence[Parted]) -> int:
    """Return the number of tokens before the sides part, over all prompts."""
    return sum(each.token for each in parts) + (len(answer.tokens) - len(parts)) * len(answer.tokens[0])


def parted(one: Generated, other: Generated) -> Iterator[Parted]:
    """Yield the first token that differs of each prompt that has one."""
    for prompt, (mine, theirs) in enumerate(zip(one.tokens, other.tokens, strict=True)):
        for token, pair in enumerate(zip(mine, theirs, strict=True)):
            if pair[0] != pair[1]:
                yield Parted(prompt, token, pair, max(one.leads[prompt][token], other.leads[prompt][token]))
                break


def _behind(answer: Generated) -> float:
    """Return how far the worst token is behind the most likely one, or 0."""
    return max(0.0, -min(min(row) for row in answer.leads))


def _shape(answer: Generated) -> tuple[int, int]:
    return len(answer.tokens), len(answer.tokens[0])


def _many(answer: Generated) -> str:
    return f"{len(answer.tokens) * len(answer.tokens[0]):,}"


def _answer(side: ParitySide) -> Generated | None:
    return side.result.generated if side.result else None
