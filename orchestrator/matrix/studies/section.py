"""The sections `study` and `claims`, from the file to values and back."""

from collections.abc import Callable, Iterator
from typing import Any

from orchestrator.catalog.source import Loc, Mistake, Source
from orchestrator.matrix import file
from orchestrator.matrix.mistakes import without_wrong_keys
from orchestrator.matrix.model import ClaimedCells, Rule, StudyAxes
from orchestrator.matrix.studies.shapes import ClaimEntry, PublishedEntry, StudyFile
from orchestrator.studies import Claim, LeftOutPart, PublishedValue, StandIn, Study

SIDES = ("both", "of", "over")


def rules(source: Source) -> Iterator[tuple[Loc, file.RuleEntry]]:
    """Yield the rules of both cells of every claim, and of what they share, with their places."""
    for loc, entry in _claims(source):
        for side in SIDES:
            if isinstance(entry.get(side), dict):
                yield from (((*loc, side), rule) for rule in without_wrong_keys(entry[side], file.RuleEntry))


def _claims(source: Source) -> Iterator[tuple[Loc, dict[str, Any]]]:
    section = source.value.get("claims")
    for index, entry in enumerate(section if isinstance(section, list) else ()):
        if isinstance(entry, dict):
            yield ("claims", index), entry


def mistakes(source: Source) -> Iterator[Mistake]:
    """Yield every mistake beyond shape: names that two claims share, and claims of one cell."""
    seen: dict[str, int] = {}
    for loc, entry in _claims(source):
        name = entry.get("name")
        if not isinstance(name, str):
            continue
        line = source.place(loc).line
        if seen.setdefault(name, line) != line:
            yield source.mistake((*loc, "name"), f"{name!r} is already on line {seen[name]}")
        if entry.get("of") == entry.get("over"):
            yield source.mistake(
                (*loc, "over"), "`over` names the cell that `of` names; a claim is about two cells", key=True
            )


def resolved(
    entry: StudyFile, to_rule: Callable[[file.RuleEntry, str], Rule], place: Callable[[Loc], str]
) -> StudyAxes | None:
    """Return the study of a matrix with its claims, or None for a matrix without either."""
    if entry.study is None and not entry.claims:
        return None
    about = entry.study
    return StudyAxes(
        study=Study(
            title=about.title if about else "",
            citation=(about.citation or "") if about else "",
            link=(about.link or "") if about else "",
            stand_ins=tuple(StandIn(each.published, each.used, each.reason) for each in about.stand_ins)
            if about
            else (),
            left_out=tuple(LeftOutPart(each.part, each.reason) for each in about.left_out) if about else (),
        ),
        claims=tuple(
            ClaimedCells(_claim(claim), *(to_rule(getattr(claim, side), place(("claims", index))) for side in SIDES))
            for index, claim in enumerate(entry.claims)
        ),
    )


def _claim(entry: ClaimEntry) -> Claim:
    return Claim(
        name=entry.name,
        text=entry.text,
        metric=entry.metric,
        of="",
        over="",
        published=_published(entry.published),
        source=entry.source,
        flaw=entry.flaw or "",
        caveats=tuple(entry.caveats),
    )


def _published(entry: PublishedEntry) -> PublishedValue:
    if entry.of is not None and entry.over is not None:
        return PublishedValue(entry.of / entry.over, entry.of, entry.over, entry.approximate)
    if entry.ratio is None:
        raise ValueError("a published value has a ratio, or two values")
    return PublishedValue(float(entry.ratio), approximate=entry.approximate)


def long_form(axes: StudyAxes | None, rule: Callable[[Rule], dict[str, Any]]) -> dict[str, Any]:
    """Return the sections of a study as plain values for YAML, or nothing for a matrix without one."""
    if axes is None:
        return {}
    study = axes.study
    about: dict[str, Any] = {
        "title": study.title,
        "citation": study.citation,
        "link": study.link,
        "stand_ins": [
            {"published": each.published, "used": each.used, "reason": each.reason} for each in study.stand_ins
        ],
        "left_out": [{"part": each.part, "reason": each.reason} for each in study.left_out],
    }
    written = {"study": {key: value for key, value in about.items() if value}} if study.title else {}
    return {**written, "claims": [_claim_form(claim, rule) for claim in axes.claims]}


def _claim_form(cells: ClaimedCells, rule: Callable[[Rule], dict[str, Any]]) -> dict[str, Any]:
    claim, value = cells.claim, cells.claim.published
    published = {"ratio": value.ratio} if value.of is None else {"of": value.of, "over": value.over}
    return {
        "name": claim.name,
        "text": claim.text,
        "metric": claim.metric,
        **{side: rule(getattr(cells, side)) for side in SIDES},
        "published": {**published, **({"approximate": True} if value.approximate else {})},
        "source": claim.source,
        **({"flaw": claim.flaw} if claim.flaw else {}),
        **({"caveats": list(claim.caveats)} if claim.caveats else {}),
    }
