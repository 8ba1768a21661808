"""The execution of a search over releases, then over the packages that moved with each change.

Every answer is on disk before the next question. What is asked next follows from the answers alone, so that a search
that was killed goes on where it was.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from packaging.utils import canonicalize_name

from orchestrator.events import Listener, Notice
from orchestrator.regression.rules import metric_of
from orchestrator.regression.search import record as search_record
from orchestrator.regression.search.algorithm import LARGE, Question, Search, carried_out
from orchestrator.regression.search.blocks import Round, RoundAnswer, Untestable
from orchestrator.regression.search.candidates import SearchSubject, Stage, stages
from orchestrator.regression.search.chain import comparisons_of_chain
from orchestrator.regression.search.chain_conclusion import SearchedSpan, chain_conclusion, found_chain
from orchestrator.regression.search.conclusion import Conclusion, Span
from orchestrator.regression.search.record import Bisection, Found, MeasuredRound, Origin, Step
from orchestrator.regression.search.record_parts import AskedChain, UntestableRelease
from orchestrator.regression.search.steps import JudgedStep
from orchestrator.regression.sides import Side
from orchestrator.regression.trials.joint_result import JointResult


@dataclass(frozen=True, slots=True)
class SearchServices:
    """The services a search uses."""

    measure: Callable[[Sequence[Side], int], JointResult]
    """Measure sides in so many blocks; raises `HostError` where this host cannot."""
    packages: Callable[[str, Side], Mapping[str, str]]
    """Returns the packages of a side's environment in a run by name, or none if they are not known."""
    listener: Listener


@dataclass(frozen=True, slots=True)
class _Phase:
    """One search of a record, over releases on one Python or over the moves of one change."""

    names: tuple[str, ...]
    sides: Mapping[str, Side]
    """By name."""
    alpha: float
    every: bool = False
    change: str = ""
    """The release whose moves are searched; empty for releases."""
    python: str = ""
    """The Python of its rounds in a chain; empty if the whole search has one."""
    family: int | None = None
    """The number of comparisons that share α; None if they are those of this search alone."""

    @property
    def large(self) -> float:
        """Return the size of a large step. The moves of a change are known to hold one beyond the tolerance."""
        return 1.0 if self.change else LARGE


@dataclass
class SearchInProgress:
    """A search in progress."""

    record: Bisection
    folder: Path
    subject: SearchSubject
    services: SearchServices

    def carry_out(self) -> Bisection:
        """Carry out the search, write and return its record. One that has ended stays as it is."""
        if self.record.found is not None:
            return self.record
        chain = self.record.asked.chain
        found = self._on_one_python() if chain is None else self._over(chain)
        self.record = self.record.model_copy(update={"found": found})
        search_record.write(self.folder, self.record)
        return self.record

    def _on_one_python(self) -> Found:
        asked = self.record.asked
        phase = _Phase(
            self.record.releases, self._sides(self.record.releases, asked.python), asked.alpha, every=asked.every
        )
        conclusion, steps = self._search(phase)
        origins = self._origins(conclusion.changes, [phase])
        return Found(releases=conclusion, origins=origins, steps=steps)

    def _over(self, chain: AskedChain) -> Found:
        """Search each span of a chain on its own Python, and join what they show."""
        asked, releases = self.record.asked, self.record.releases
        metric = metric_of(asked.metric)
        family = comparisons_of_chain(chain.spans, releases)
        phases = [
            _Phase(
                span.of(releases),
                self._sides(span.of(releases), span.python),
                asked.alpha,
                every=asked.every,
                python=span.python,
                family=family,
            )
            for span in chain.spans
        ]
        found = [self._search(phase) for phase in phases]
        searched = [SearchedSpan(span, each) for span, (each, _) in zip(chain.spans, found, strict=True)]
        conclusion = chain_conclusion(
            releases,
            searched,
            tolerance=asked.metric.tolerance,
            higher_is_better=metric.higher_is_better,
            every=asked.every,
        )
        return Found(
            releases=conclusion,
            origins=self._origins(conclusion.changes, phases),
            steps=tuple(step for _, steps in found for step in steps),
            chain=found_chain(searched, conclusion.ends),
        )

    def _sides(self, releases: Sequence[str], python: str) -> Mapping[str, Side]:
        return {version: replace(self.subject.side(version), python=python) for version in releases}

    def _search(self, phase: _Phase) -> tuple[Conclusion, tuple[Step, ...]]:
        """Search environments by their names, from the rounds of the record on."""
        asked = self.record.asked
        metric = metric_of(asked.metric)
        search = Search(
            Question(
                phase.names,
                tolerance=asked.metric.tolerance,
                looks=asked.looks,
                higher_is_better=metric.higher_is_better,
                every=phase.every,
                alpha=phase.alpha,
                large=phase.large,
                family=phase.family,
            )
        )
        names = {side.text: name for name, side in phase.sides.items()}
        for measured in self.record.rounds:
            if (measured.change, measured.python) == (phase.change, phase.python) and _is_of(measured, phase, names):
                search.measured.add(_answer(measured, names))
        conclusion = carried_out(search, lambda wanted: _answer(self._measured(wanted, phase), names))
        return conclusion, tuple(map(_as_step, search.steps if search.ends else ()))

    def _measured(self, wanted: Round, phase: _Phase) -> MeasuredRound:
        """Measure a round and record it."""
        sides = [phase.sides[name] for name in wanted.releases]
        labels = ", ".join(side.label for side in sides)
        on = f" on Python {phase.python}" if phase.python else ""
        self.services.listener(Notice(f"{wanted.blocks} blocks of {len(sides)} releases{on}: {labels}"))
        result = self.services.measure(sides, wanted.blocks)
        empty = (None,) * wanted.blocks
        columns = [result.values.get(side.text, empty) for side in sides]
        reasons = {side.text: result.reasons[side.text] for side in sides if side.text in result.reasons}
        measured = MeasuredRound(
            change=phase.change,
            python=phase.python,
            releases=tuple(side.text for side in sides),
            blocks=wanted.blocks,
            run=result.run,
            values=tuple(zip(*columns, strict=True)),
            untestable=tuple(UntestableRelease(release=text, reason=reason) for text, reason in reasons.items()),
        )
        self.record = self.record.model_copy(update={"rounds": (*self.record.rounds, measured)})
        search_record.write(self.folder, self.record)
        return measured

    def _origins(self, spans: Sequence[Span], phases: Sequence[_Phase]) -> tuple[Origin, ...]:
        """Search the packages that moved with each change, which one of the phases has named.

        This has an α of its own, which its searches share. The release phase has called the ends of each changed,
        and answers for that; the way between them is measured in blocks of its own.
        """
        within = [next(phase for phase in phases if {span.before, span.after} <= {*phase.names}) for span in spans]
        ways = [
            self._way(phase.sides[span.before], phase.sides[span.after])
            for span, phase in zip(spans, within, strict=True)
        ]
        alpha = self.record.asked.alpha / max(1, sum(len(way) > 2 for way in ways))
        return tuple(
            self._origin(span, way, phase, alpha) for span, way, phase in zip(spans, ways, within, strict=True)
        )

    def _way(self, before: Side, after: Side) -> tuple[Stage, ...]:
        """Return the stages from one environment to the other, or none if it is not known what they hold."""
        run = next(
            each.run for each in self.record.rounds if {before.text, after.text} <= {*each.releases} and each.run
        )
        earlier, later = (_canonical(self.services.packages(run, side)) for side in (before, after))
        if not earlier or not later:
            return ()
        return stages(earlier, later, last=str(canonicalize_name(self.subject.distribution)))

    def _origin(self, span: Span, way: Sequence[Stage], within: _Phase, alpha: float) -> Origin:
        """Search the packages that moved between the two environments of a change."""
        if not way:
            note = "what its environments hold is not known: images of your own are not taken apart"
            return Origin(before=span.before, after=span.after, moved=(), note=note)
        moves = tuple(str(stage.moved) for stage in way[1:])
        if len(way) <= 2:
            return Origin(before=span.before, after=span.after, moved=moves, by=moves)
        between = self._on_the_way(way, within.sides[span.before], within.sides[span.after])
        names = tuple(stage.name for stage in way)
        conclusion, steps = self._search(_Phase(names, between, alpha, change=span.after, python=within.python))
        by = _came_with(way, conclusion.changes[0]) if conclusion.changes else ()
        note = "" if by else "no single move changed it: it takes several, or what could not be tested"
        known = Origin(before=span.before, after=span.after, moved=moves, by=by, note=note)
        return known.model_copy(update={"conclusion": conclusion, "alpha": alpha, "steps": steps})

    def _on_the_way(self, way: Sequence[Stage], before: Side, after: Side) -> Mapping[str, Side]:
        """Return the sides of the stages by name. The ends are those measured, and those between pin all they hold.

        What is searched moves last, so that all stages but the last have its earlier release.
        """
        framework = "" if self.subject.is_package else self.subject.distribution
        sides = {way[0].name: before, way[-1].name: after}
        for stage in way[1:-1]:
            pinned = tuple(sorted((name, version) for name, version in stage.packages.items() if name != framework))
            sides[stage.name] = replace(before, packages=pinned)
        return sides


def _is_of(measured: MeasuredRound, phase: _Phase, names: Mapping[str, str]) -> bool:
    """Return true if a round is of a phase with its Python. Two spans of a chain may have one, with another between."""
    return not phase.python or names.keys() >= {*measured.releases}


def _answer(measured: MeasuredRound, names: Mapping[str, str]) -> RoundAnswer:
    """Return a recorded round as the search takes it. A release without any value was not tried in it."""
    tried = [release for release in measured.releases if measured.measures(release)]
    rows = (dict(zip(measured.releases, block, strict=True)) for block in measured.values)
    blocks = tuple({names[release]: row[release] for release in tried} for row in rows)
    return RoundAnswer(blocks, tuple(Untestable(names[each.release], each.reason) for each in measured.untestable))


def _as_step(step: JudgedStep) -> Step:
    excluded = None if step.excluded is None else math.expm1(step.excluded)
    return Step(before=step.before, after=step.after, blocks=step.blocks, comparison=step.comparison, excluded=excluded)


def _canonical(packages: Mapping[str, str]) -> dict[str, str]:
    return {str(canonicalize_name(name)): version for name, version in packages.items()}


def _came_with(way: Sequence[Stage], span: Span) -> tuple[str, ...]:
    """Return the moves from the stage before a change to the one after it."""
    names = [stage.name for stage in way]
    return tuple(names[names.index(span.before) + 1 : names.index(span.after) + 1])
