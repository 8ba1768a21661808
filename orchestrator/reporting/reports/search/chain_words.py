"""The sentences of a search over a chain of Pythons, the same in every format."""

from collections.abc import Iterator

from orchestrator.analysis.comparison import Comparison
from orchestrator.regression.search.chain_record import FoundChain, SpanEnds
from orchestrator.regression.search.record import Found, may_pass
from orchestrator.regression.search.record_parts import AskedChain
from orchestrator.reporting.inline import ratio, ratio_interval, short_percent
from orchestrator.wording import listing

TOO_FEW = "too few blocks have both"
"""The reason that two ends are not compared although both are testable."""


def chained_over(chain: AskedChain) -> str:
    """Return the reason for a chain, and its Pythons with their releases."""
    spans = [f"{span.first} … {span.last} on Python {span.python}" for span in chain.spans]
    bridges = [span.last for span in chain.spans[:-1]]
    both = f"{listing(bridges)} {'is' if len(bridges) == 1 else 'are'} measured on both sides"
    return f"{chain.reason}, so the releases are chained: {listing(spans)}; {both}"


def python_of(chain: AskedChain) -> str:
    """Return the Pythons of a chain in a few words."""
    return ", ".join(f"{span.python} ({span.first} … {span.last})" for span in chain.spans)


def chain_lines(asked: AskedChain, found: Found) -> Iterator[str]:
    """Yield what is to be known of a chain besides the changes: its releases and Pythons, and the error it adds."""
    said = chained_over(asked)
    yield f"{said[0].upper()}{said[1:]}."
    chain, ends = found.chain, found.releases.ends
    if chain is not None and ends is not None:
        first, last = asked.spans[0].first, asked.spans[-1].last
        yield f"Along the chain {last} is × {ratio(ends.ratio)} of {first}{_error(chain, ends)}"


def _error(chain: FoundChain, ends: Comparison) -> str:
    if chain.half_width is None or chain.widest_half_width is None:
        return ", without an interval."
    return (
        f" ({ends.verdict.value}, {ratio_interval(ends.low, ends.high)}). Chaining adds error: "
        f"± {short_percent(chain.half_width)}, where the widest span has ± {short_percent(chain.widest_half_width)}."
    )


def broken_chain(chain: FoundChain) -> str:
    """Return where a chain breaks, and why."""
    return "; ".join(part for span in chain.broken for part in _breaks(span))


def _breaks(span: SpanEnds) -> Iterator[str]:
    for each in span.broken_by:
        again = " (--resume tries it again)" if may_pass(each.reason) else ""
        yield f"the chain breaks at {each.release} on Python {span.python}: {each.reason}{again}"
    if not span.broken_by:
        yield f"the chain breaks between {span.first} and {span.last} on Python {span.python}: {TOO_FEW}"


def how_chained() -> Iterator[str]:
    """Yield what a chain compares, and how sure that is."""
    yield (
        "A release is compared only with releases on its own Python, so that what Python itself changes is in no step. "
        "A step says nothing of the other Pythons."
    )
    yield (
        "The ratio along the chain is the product of those of its spans; the half width of its interval is the root of "
        "the sum of their squares, on logarithms."
    )
