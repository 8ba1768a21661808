"""The claims of a published study in the report of a run, for every way of reading it."""

from collections.abc import Iterator

from orchestrator.reporting.blocks import (
    Block,
    Column,
    Definitions,
    Gap,
    Heading,
    Items,
    Paragraph,
    Row,
    Table,
    TableCell,
    table,
)
from orchestrator.reporting.document import Case, CaseResult, Section, section
from orchestrator.reporting.findings.claims.findings import ClaimFinding, ClaimVerdict, StudyReport
from orchestrator.reporting.findings.model import Report
from orchestrator.reporting.inline import Link, Part, Phrase, Sentence, Tone, VerdictWord, ratio, ratio_interval
from orchestrator.wording import clean_line, counted

TITLE = "Published claims"
NOTE = (
    "Published and measured values are the metric of the first cell over that of the second. "
    "The interval is that of the pairs of repeats of one block, for each claim by itself. "
    "The direction counts, not the size: other hardware has other ratios."
)
_MOST_CAVEATS = 2
"""Caveats that a terminal shows of a claim."""
HEADS = ("Claim", "Published", "Here", "Verdict")
RECORD_COLUMNS = (
    *("claim", "claim_text", "claim_metric", "claim_over", "claim_published", "claim_ratio", "claim_low", "claim_high"),
    *("claim_repeats", "claim_verdict", "claim_reason", "claim_source", "claim_flaw", "claim_caveats"),
)
_TONES = {
    ClaimVerdict.SAME_DIRECTION: Tone.GOOD,
    ClaimVerdict.OTHER_DIRECTION: Tone.BAD,
    ClaimVerdict.UNDECIDED: Tone.OPEN,
    ClaimVerdict.NOT_JUDGED: Tone.FAINT,
}
_MARKS = {
    ClaimVerdict.SAME_DIRECTION: "good",
    ClaimVerdict.OTHER_DIRECTION: "bad",
    ClaimVerdict.UNDECIDED: "open",
    ClaimVerdict.NOT_JUDGED: "open",
}


def summary(study: StudyReport) -> str:
    """Return how many claims have each verdict, as `3 claims: 2 same direction, 1 undecided`."""
    total = len(study.claims)
    ended = ", ".join(f"{number} {verdict.value}" for verdict, number in study.verdicts)
    return f"{counted(total, 'claim')} of {study.title or 'a published study'}" + (f": {ended}." if total else ".")


def short_claims(study: StudyReport) -> Iterator[Block]:
    """Lay out the claims for a terminal."""
    yield Gap()
    yield Heading(TITLE)
    yield Paragraph(summary(study))
    columns = (Column(HEADS[0], min_width=24), *(Column(head, is_number=True, no_wrap=True) for head in HEADS[1:3]),
               Column(HEADS[3], min_width=16))  # fmt: skip
    if study.claims:
        yield Table(columns, tuple(Row(_short_cells(finding)) for finding in study.claims), is_wide=True)
        yield Paragraph(NOTE, Tone.FAINT)
    yield from (Paragraph(line, Tone.FAINT) for line in _stand_ins(study))
    yield from (Paragraph(line, Tone.FAINT) for line in _left_out(study))


def _short_cells(finding: ClaimFinding) -> tuple[str | TableCell, ...]:
    claim = finding.claim
    caveats = finding.caveats[:_MOST_CAVEATS]
    more = len(finding.caveats) - len(caveats)
    lines = (claim.metric, *caveats, *([f"and {counted(more, 'more caveat')}"] if more else []))
    below = tuple(Phrase(line, Tone.FAINT) for line in lines)
    verdict = Phrase(finding.verdict.value, _TONES[finding.verdict])
    reason = (Phrase(finding.reason, Tone.FAINT),) if finding.reason else ()
    interval = (Phrase(ratio_interval(finding.low, finding.high), Tone.FAINT),) if finding.ratio else ()
    return (
        TableCell(claim.text, below=below),
        published(finding),
        TableCell(ours(finding), below=interval),
        TableCell(verdict, below=reason),
    )


def full_claims(study: StudyReport) -> Iterator[Block]:
    """Lay out the claims for Markdown."""
    yield Heading(TITLE)
    yield from claim_blocks(study)


def claim_blocks(study: StudyReport) -> Iterator[Block]:
    """Lay out the claims for Markdown without a heading."""
    yield Paragraph(summary(study))
    yield from (Paragraph(line) for line in (study.citation, study.link) if line)
    if study.claims:
        heads = ("Claim", "Metric", "Cells", "Published", "Here", "95 % interval", "Verdict", "Source", "Remarks")
        yield table(heads, (_full_cells(finding) for finding in study.claims), (3, 4, 5))
        yield Paragraph(NOTE)
    if lines := (*_stand_ins(study), *_left_out(study)):
        yield Items(lines)


def _full_cells(finding: ClaimFinding) -> tuple[str, ...]:
    claim = finding.claim
    remarks = "; ".join((*([finding.reason] if finding.reason else []), *finding.caveats))
    return (
        f"{claim.name}: {claim.text}",
        claim.metric,
        _cells(finding),
        published(finding),
        ours(finding),
        ratio_interval(finding.low, finding.high),
        finding.verdict.value,
        claim.source,
        remarks or "–",
    )


def claims_section(report: Report) -> Iterator[Section]:
    """Yield the section of the claims of a page, or nothing without a study."""
    if report.study is not None:
        yield section("claims", TITLE, _page_blocks(report.study))


def _page_blocks(study: StudyReport) -> Iterator[Block]:
    yield Paragraph(summary(study))
    if study.citation or study.link:
        link: tuple[Part, ...] = (" ", Link(study.link, study.link)) if study.link else ()
        yield Paragraph((study.citation, *link))
    if study.claims:
        heads = ("Claim", "Published", "Here", "Verdict", "Source and remarks")
        columns = tuple(Column(head, is_number=place in {1, 2}) for place, head in enumerate(heads))
        rows = tuple(Row(_page_cells(finding)) for finding in study.claims)
        yield Table(columns, rows, TITLE, is_sortable=True, is_filtered=False)
        yield Paragraph(NOTE)
    for title, pairs in (
        (
            "In place of what is no longer published",
            [(each.published, f"{each.used}: {each.reason}") for each in study.stand_ins],
        ),
        ("Left out of this file", [(each.part, each.reason) for each in study.left_out]),
    ):
        if pairs:
            yield Heading(title, 3)
            yield Definitions(tuple(pairs))


def _page_cells(finding: ClaimFinding) -> tuple[str | TableCell, ...]:
    claim = finding.claim
    cells: tuple[Sentence, ...] = (claim.metric, _cells(finding))
    interval = (ratio_interval(finding.low, finding.high),) if finding.ratio else ()
    return (
        TableCell(claim.text, below=cells, anchor=f"claim/{claim.name}"),
        TableCell(published(finding), value=str(claim.published.ratio)),
        TableCell(ours(finding), below=interval, value=None if finding.ratio is None else str(finding.ratio)),
        TableCell(VerdictWord(finding.verdict.value, _MARKS[finding.verdict]),
                  below=(finding.reason,) if finding.reason else ()),
        TableCell(claim.source, below=tuple(finding.caveats)),
    )  # fmt: skip


def published(finding: ClaimFinding) -> str:
    """Return the published ratio, with `≈` for one that was read off a plot."""
    value = finding.claim.published
    return f"{'≈ ' if value.approximate else ''}{ratio(value.ratio)}"


def _cells(finding: ClaimFinding) -> str:
    return clean_line(f"{finding.claim.of} over {finding.claim.over}")


def ours(finding: ClaimFinding) -> str:
    """Return the measured ratio, or `–` if there is none."""
    return "–" if finding.ratio is None else ratio(finding.ratio)


def _stand_ins(study: StudyReport) -> tuple[str, ...]:
    return tuple(f"In place of {each.published}: {each.used} ({each.reason})" for each in study.stand_ins)


def _left_out(study: StudyReport) -> tuple[str, ...]:
    return tuple(f"Left out: {each.part} ({each.reason})" for each in study.left_out)


def claim_cases(study: StudyReport) -> Iterator[Case]:
    """Yield a test case for each claim, which fails if the run shows the other direction."""
    for finding in study.claims:
        claim, verdict = finding.claim, finding.verdict
        here = "" if finding.ratio is None else f", here {ours(finding)} ({ratio_interval(finding.low, finding.high)})"
        out = f"{claim.text}: {claim.metric} of {_cells(finding)}: published {published(finding)}{here}"
        result = None
        if verdict is not ClaimVerdict.SAME_DIRECTION:
            result = CaseResult.FAILURE if verdict is ClaimVerdict.OTHER_DIRECTION else CaseResult.SKIPPED
        message = finding.reason or verdict.value if result else ""
        yield Case(claim.name, "claims", result=result, message=message, word=verdict.value if result else "", out=out)


def claim_rows(study: StudyReport) -> Iterator[dict[str, str | int | float | None]]:
    """Yield a row for each claim, whose `cell` is its first one."""
    for finding in study.claims:
        claim = finding.claim
        values = (
            *(claim.name, claim.text, claim.metric, claim.over, claim.published.ratio),
            *(finding.ratio, finding.low, finding.high, finding.repeats, finding.verdict.value, finding.reason),
            *(claim.source, claim.flaw, "; ".join(finding.caveats)),
        )
        yield {"cell": claim.of, "status": "claim", **dict(zip(RECORD_COLUMNS, values, strict=True))}
