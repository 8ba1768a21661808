"""The execution of a search over releases, then over the packages that moved with each change.

Every answer is on disk before the next question. The same answers lead to the same questions, so that a search that
was killed is answered from its record until it comes to what it has not asked.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from packaging.utils import canonicalize_name

from orchestrator.analysis.comparison import Comparison, Look, compare
from orchestrator.events import Listener, Notice
from orchestrator.regression.rules import BY_NAME
from orchestrator.regression.search import record as search_record
from orchestrator.regression.search.algorithm import Answer, Conclusion, Probe, Span, Untestable, carried_out, search
from orchestrator.regression.search.candidates import SearchSubject, Stage, stages
from orchestrator.regression.search.probe import ProbeResult
from orchestrator.regression.search.record import Bisection, Found, Origin, Probed, Step
from orchestrator.regression.sides import Side


@dataclass(frozen=True, slots=True)
class SearchServices:
    """The services a search uses."""

    measure: Callable[[Side, Side, int], ProbeResult]
    """Measure two sides up to so many blocks; raises `HostError` where this host cannot."""
    packages: Callable[[str, Side], Mapping[str, str]]
    """Returns the packages of a side's environment in a run by name, or none if they are not known."""
    listener: Listener


@dataclass
class SearchInProgress:
    """A search in progress."""

    record: Bisection
    folder: Path
    subject: SearchSubject
    services: SearchServices

    def carry_out(self) -> Bisection:
        """Carry out the search, write and return its record. One that has ended stays as it is.

        Records from before comparisons were kept are gone through again, from their answers.
        """
        if self.record.found is not None and self.record.found.steps:
            return self.record
        sides = {version: self._side(self.subject.side(version)) for version in self.record.releases}
        asked = self.record.asked
        conclusion, steps = self._search(self.record.releases, sides, asked.alpha, every=asked.every)
        origins = self._origins(conclusion.changes, sides)
        self.record = self.record.model_copy(update={"found": Found(releases=conclusion, origins=origins, steps=steps)})
        search_record.write(self.folder, self.record)
        return self.record

    def _side(self, side: Side) -> Side:
        return replace(side, python=self.record.asked.python)

    def _search(
        self, names: Sequence[str], sides: Mapping[str, Side], alpha: float, *, every: bool
    ) -> tuple[Conclusion, tuple[Step, ...]]:
        """Search environments by their names. One that was measured next to another one works."""
        names_of = {side.text: name for name, side in sides.items()}
        working: set[str] = set()
        steps: dict[tuple[str, str], Step] = {}

        def ask(probe: Probe) -> Answer:
            baseline, candidate = sides[probe.baseline], sides[probe.candidate]
            probed = self._probed(baseline, candidate, probe.look.blocks)
            step = Step(before=probe.baseline, after=probe.candidate, blocks=len(probed.values), run=probed.run)
            if probed.reason:
                text = probed.untestable or (candidate if candidate.text not in working else baseline).text
                failure = {"untestable": names_of[text], "reason": probed.reason}
                steps[probe.baseline, probe.candidate] = step.model_copy(update=failure)
                return Untestable(names_of[text], probed.reason)
            working.update((baseline.text, candidate.text))
            comparison = self._compared(probed, probe.look)
            steps[probe.baseline, probe.candidate] = step.model_copy(update={"comparison": comparison})
            return comparison

        conclusion = carried_out(search(names, every=every, blocks=self.record.asked.looks, alpha=alpha), ask)
        return conclusion, tuple(steps.values())

    def _compared(self, probed: Probed, look: Look) -> Comparison:
        gate = self.record.asked.metric
        return compare(
            [one for one, _ in probed.values],
            [other for _, other in probed.values],
            tolerance=gate.tolerance,
            higher_is_better=BY_NAME[gate.metric].higher_is_better,
            confidence=look.confidence,
            equivalence=look.equivalence,
            paired=True,
        )

    def _probed(self, baseline: Side, candidate: Side, blocks: int) -> Probed:
        known = self.record.probed(baseline.text, candidate.text, blocks)
        if known is not None:
            return known
        self.services.listener(Notice(f"{baseline.label} compared with {candidate.label}: {blocks} blocks"))
        result = self.services.measure(baseline, candidate, blocks)
        probed = Probed(
            baseline=baseline.text,
            candidate=candidate.text,
            blocks=blocks,
            run=result.run,
            values=tuple(result.values),
            untestable=result.culprit,
            reason=result.reason,
        )
        self.record = self.record.model_copy(update={"probes": (*self.record.probes, probed)})
        search_record.write(self.folder, self.record)
        return probed

    def _origins(self, spans: Sequence[Span], sides: Mapping[str, Side]) -> tuple[Origin, ...]:
        """Search the packages that moved with each change.

        This phase has an α of its own, which its searches share. The release phase has called the ends of each changed,
        and answers for that; what lies between is measured afresh.
        """
        ways = [self._way(sides[span.before], sides[span.after]) for span in spans]
        alpha = self.record.asked.alpha / max(1, sum(len(way) > 2 for way in ways))
        return tuple(self._origin(span, way, sides, alpha) for span, way in zip(spans, ways, strict=True))

    def _way(self, before: Side, after: Side) -> tuple[Stage, ...]:
        """Return the stages from one environment to the other, or none if it is not known what they hold."""
        run = next(
            each.run for each in self.record.probes if (each.baseline, each.candidate) == (before.text, after.text)
        )
        earlier, later = (_canonical(self.services.packages(run, side)) for side in (before, after))
        if not earlier or not later:
            return ()
        return stages(earlier, later, last=str(canonicalize_name(self.subject.distribution)))

    def _origin(self, span: Span, way: Sequence[Stage], sides: Mapping[str, Side], alpha: float) -> Origin:
        """Search the packages that moved between the two environments of a change."""
        if not way:
            note = "what its environments hold is not known: images of your own are not taken apart"
            return Origin(before=span.before, after=span.after, moved=(), note=note)
        moves = tuple(str(stage.moved) for stage in way[1:])
        if len(way) <= 2:
            return Origin(before=span.before, after=span.after, moved=moves, by=moves)
        between = self._on_the_way(way, sides[span.before], sides[span.after])
        conclusion, steps = self._search([stage.name for stage in way], between, alpha, every=False)
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


def _canonical(packages: Mapping[str, str]) -> dict[str, str]:
    return {str(canonicalize_name(name)): version for name, version in packages.items()}


def _came_with(way: Sequence[Stage], span: Span) -> tuple[str, ...]:
    """Return the moves from the stage before a change to the one after it."""
    names = [stage.name for stage in way]
    return tuple(names[names.index(span.before) + 1 : names.index(span.after) + 1])
