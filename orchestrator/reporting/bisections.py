"""What a search has found, in sentences, and the evidence as a table, for the terminal."""

from collections.abc import Iterator

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from orchestrator.analysis import Comparison, Verdict, compare
from orchestrator.regression.bisection import Conclusion, Span
from orchestrator.regression.bisection_record import Bisection, Found, Origin, Probed
from orchestrator.regression.metrics import BY_NAME, Better
from orchestrator.regression.searched import reasons
from orchestrator.reporting.regressions import interval_of, ratio
from orchestrator.reporting.text import clean_line, listing_of

_STYLES = {Verdict.SLOWER: "red", Verdict.FASTER: "green", Verdict.INCONCLUSIVE: "yellow"}
HEADS = ("Baseline", "Candidate", "Blocks", "Ratio (95 % by itself)", "Found")
_CONFIDENCE, _MOST = 0.95, 8


def headlines(record: Bisection) -> tuple[str, ...]:
    """What it came to, a sentence a line."""
    if record.found is None:
        return ("It has not come to its end.",)
    return tuple(clean_line(line) for line in _headlines(record, record.found))


def table(record: Bisection) -> RenderableType:
    """Render for a Rich console: what was found, and every probe."""
    asked = record.asked
    head = f"{asked.good} … {asked.bad}: {asked.metric.metric} of {asked.pair}, {len(record.releases)} releases"
    made = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1), header_style="bold")
    for name in HEADS:
        made.add_column(name, overflow="fold")
    for probe in record.probes:
        cells, style = _row(record, probe)
        made.add_row(*(Text(clean_line(cell)) for cell in cells), style=style)
    lines = [Text(line, style="bold" if number == 0 else "") for number, line in enumerate(headlines(record))]
    left = [Text(clean_line(line), style="dim") for line in reasons(record.left_out)]
    return Group(Text(clean_line(head), style="dim"), *lines, Text(), made, Text(), *left)


def _headlines(record: Bisection, found: Found) -> Iterator[str]:
    name, releases = record.searched, found.releases
    if releases.ends is None:
        said = "; ".join(f"{each.release}: {each.reason}" for each in releases.untestable)
        yield f"Good and bad could not be compared: {said}"
        return
    first, last = record.releases[0], record.releases[-1]
    if not found.changes:
        yield f"No change was found from {name} {first} to {last}: {_figures(releases.ends)}."
    origins = {(origin.before, origin.after): _moved(origin) for origin in found.origins}
    for span in found.changes:
        yield f"{_changed(name, span, found)}{origins.get((span.before, span.after), '')}."
    if releases.several:
        count = len(found.changes)
        more = "" if record.asked.every else " (--all searches each)"
        yield f"There are {count} changes between {first} and {last}{more}."
    yield from _open_ends(name, releases)


def _changed(name: str, span: Span, found: Found) -> str:
    figures = _figures(span.comparison) if span.comparison else "not measured"
    if span in found.releases.further:
        return f"Also changed between {name} {span.before} and {span.after} ({figures})"
    if span in found.releases.gradual:
        return (
            f"Changed bit by bit from {name} {span.before} to {span.after} ({figures}), in no step beyond the tolerance"
        )
    untested = f", or in {listing_of(span.between, _MOST)}, which could not be tested" if span.between else ""
    return f"First changed in {name} {span.after}{untested} ({figures})"


def _moved(origin: Origin) -> str:
    if origin.by:
        certain = " or ".join(origin.by)
        return f", moved by {certain}" if len(origin.moved) > 1 else f", moved by {certain}, all that moved"
    others = f"; moved: {listing_of(origin.moved, _MOST)}" if origin.moved else ""
    return f"; {origin.note}{others}" if origin.note else others


def _open_ends(name: str, releases: Conclusion) -> Iterator[str]:
    for span in releases.unsettled:
        why = "not decided by all the blocks allowed" if span.comparison else "not comparable with what lies between"
        yield f"Between {name} {span.before} and {span.after}: {why}."
    for each in releases.untestable:
        yield f"Stepped over {name} {each.release}: {each.reason}"


def _figures(found: Comparison) -> str:
    p = "" if found.p_value is None else f", p = {found.p_value:.2g}"
    return f"{found.verdict.value}, × {ratio(found.ratio)}, {interval_of(found.low, found.high)}{p}"


def _row(record: Bisection, probe: Probed) -> tuple[tuple[str, ...], str]:
    sides = (probe.baseline, probe.candidate, str(probe.blocks))
    if probe.reason:
        return (*sides, "–", f"untestable: {probe.untestable or 'one of them'}: {probe.reason}"), "yellow"
    gate = record.asked.metric
    found = compare(
        [one for one, _ in probe.values],
        [other for _, other in probe.values],
        tolerance=gate.tolerance,
        higher_is_better=BY_NAME[gate.metric].better is Better.HIGHER,
        confidence=_CONFIDENCE,
        paired=True,
    )
    figures = f"{ratio(found.ratio)} ({interval_of(found.low, found.high)})"
    return (*sides, figures, found.verdict.value), _STYLES.get(found.verdict, "")
