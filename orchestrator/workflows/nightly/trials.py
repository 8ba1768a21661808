"""The trials of a night: what can be measured at all, and one release after the other held against its baseline."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from packaging.utils import canonicalize_name

from orchestrator import matrix
from orchestrator.catalog import UnsupportedError, load_faults
from orchestrator.domain import Framework, Status
from orchestrator.errors import InputError
from orchestrator.matrix import pins
from orchestrator.planning import Selection
from orchestrator.planning.selection import matches
from orchestrator.regression.metrics import Gate
from orchestrator.regression.nightly.decide import TrialOutcomes, is_listed
from orchestrator.regression.nightly.loading import Nightly
from orchestrator.regression.nightly.night import TrialResult
from orchestrator.regression.nightly.state import Tonight
from orchestrator.regression.pairing import Pair, Pairing, PlanInputs
from orchestrator.regression.releases.package_index import Offered
from orchestrator.regression.releases.pages import PublishedRelease
from orchestrator.regression.rules import Rules, looks_up_to
from orchestrator.regression.sides import Side
from orchestrator.regression.trials.carry_out import carry_out, first_plan, trial_of
from orchestrator.regression.trials.files import Trial, store_trial, stored_trial
from orchestrator.reporting.reports.regression import write_html
from orchestrator.resources import IMAGES
from orchestrator.results.store import Run
from orchestrator.running import Policy
from orchestrator.workflows.measure import jobs, pairs
from orchestrator.workflows.measure.begin import Setting, begun
from orchestrator.workflows.measure.jobs import Job
from orchestrator.workflows.measure.runtime import RuntimeName
from orchestrator.workflows.pages import REGRESSION_FOLDER

MAX_LISTED = 5
"""Releases that a message names."""


@dataclass(frozen=True)
class Measurable:
    """What of the watched releases can be measured, by the catalog, the matrix and the selection."""

    nightly: Nightly
    matrix: matrix.Matrix
    known: PlanInputs
    site: pairs.Site

    def unknown(self, version: str) -> str:
        """Why neither catalog nor matrix has an environment for a release; empty where one has, or nobody can tell."""
        try:
            self._pythons(version)
        except UnsupportedError as error:
            return error.reason
        return ""

    def refused(self, release: PublishedRelease) -> str:
        """Why no environment takes a release: there is none, or it is of another Python; empty where one may."""
        try:
            pythons = self._pythons(release.version)
        except UnsupportedError as error:
            return error.reason
        if not pythons or any(release.runs_on(python) for python in pythons):
            return ""
        asked = " or ".join(release.requires_python)
        return f"{self.nightly.name} {release.version} asks for Python {asked}; the catalog has {', '.join(pythons)}"

    def _pythons(self, version: str) -> tuple[str, ...]:
        """Those of the catalog's environment; none for an image of the user's own. Raises `UnsupportedError`."""
        pin = pins.parse(self.nightly.asked.watch)
        version = version if self.nightly.asked.package is None else pin.version or ""
        own = (axes for axes in self.matrix.frameworks if axes.name == pin.name and (axes.image or axes.dockerfile))
        if any(pins.release(version) == pins.release(each) for axes in own for each in axes.versions):
            return ()
        backend = Framework(pin.backend.name, pin.backend.version or "") if pin.backend else None
        return self.known.catalog.pythons(Framework(pin.name, version, backend))

    def check(self, baseline: str) -> None:
        """Raise `InputError` where nothing could be measured, whatever is new: of the baseline beside itself."""
        if reason := self.unknown(baseline):
            place = self._origin(baseline) if self.nightly.asked.package is None else self.nightly.at("watch")
            raise InputError(f"{place}: {reason}")
        side = self._side(baseline)
        try:
            found = pairs.paired(self.matrix, self.known, (side, side), Selection(), self.site)
        except InputError as error:
            raise InputError(*(f"{self.nightly.at('matrix')}: {message}" for message in error.messages)) from None
        mistakes = [
            f"{self.nightly.at('select', index)}: {glob!r} matches no pair of cells of {side.pin}; there is, for "
            f"example, {found.pairs[0].id}"
            for index, glob in enumerate(self.nightly.asked.select or ())
            if not any(_matches(glob, pair) for pair in found.pairs)
        ]
        if not mistakes and not any(self._selected(found)):
            mistakes = [f"{self.nightly.at('exclude')}: leaves nothing of what is selected; drop one of its globs"]
        if mistakes:
            raise InputError(*mistakes)

    def check_listed(self, baseline: str, offered: Offered) -> None:
        """Raise `InputError` where the baseline's environments pin what is watched and no index has that release.

        An image of the user's own pins nothing; nor is anything said while a place does not answer.
        """
        if offered.problems or is_listed(baseline, offered.releases):
            return
        side, watched = self._side(baseline), canonicalize_name(self.nightly.distribution)
        plan = pairs.paired(self.matrix, self.known, (side, side), Selection(), self.site).plan
        pinned = {canonicalize_name(name) for image in plan.images for name, _ in image.environment.expected_versions}
        if watched not in pinned:
            return
        there = [release.version for release in reversed(offered.releases)]
        more = f" and {len(there) - MAX_LISTED} older ones" if len(there) > MAX_LISTED else ""
        raise InputError(
            f"{self._origin(baseline)}: no package index of this site has {watched} {baseline}; "
            f"name one that there is: {', '.join(there[:MAX_LISTED])}{more}"
        )

    def _origin(self, baseline: str) -> str:
        """Where a baseline comes from, for messages."""
        nightly = self.nightly
        key = next((key for key in ("first", "baseline") if getattr(nightly.asked, key) == baseline), "")
        if key:
            return nightly.at(key)
        other = f"accept another one with orchestrator nightly accept {nightly.name}==VERSION"
        return f"{nightly.path}: baseline: {baseline} was accepted; {other}"

    def paired(self, release: str, baseline: str) -> Pairing:
        """Pair a release with its baseline; raises `UnsupportedError` where there is no environment for the work."""
        sides = self._side(baseline), self._side(release)
        try:
            found = pairs.paired(self.matrix, self.known, sides, Selection(), self.site)
        except InputError as error:
            # The baseline was planned by itself before: it is the release that cannot be.
            raise UnsupportedError("; ".join(error.messages)) from None
        if not any(self._selected(found)):
            reason = next((each.reason for each in found.gone), "the globs speak of other cells")
            raise UnsupportedError(f"nothing of what is selected can be done with {release}: {reason}")
        asked = self.nightly.asked
        select = tuple(glob for glob in asked.select or () if any(_matches(glob, pair) for pair in found.pairs))
        return pairs.paired(self.matrix, self.known, sides, Selection(select, asked.exclude or ()), self.site)

    def _side(self, version: str) -> Side:
        return pairs.side(self.nightly.side(version), self.nightly.at("watch"))

    def _selected(self, found: Pairing) -> Iterator[Pair]:
        select, exclude = self.nightly.asked.select, self.nightly.asked.exclude
        for pair in found.pairs:
            wanted = not select or any(_matches(glob, pair) for glob in select)
            if wanted and not any(_matches(glob, pair) for glob in exclude or ()):
                yield pair


def _matches(glob: str, pair: Pair) -> bool:
    """Whether a glob speaks of a pair; the marks of a release beside itself are not part of a cell's name."""
    baseline = pair.baseline.replace("-side=baseline/", "/", 1)
    return any(matches(glob, name) for name in (pair.id, baseline, pair.candidate))


@dataclass(frozen=True)
class Trials:
    """Carries out the trial of one release after the other."""

    measurable: Measurable
    gates: tuple[Gate, ...]
    idle_wait_s: float

    def measure(self, tonight: Tonight, told: Callable[[str], None]) -> TrialResult:
        """Measure a release against its baseline, or go on with it where its run has begun."""
        known, asked = self.measurable, self.measurable.nightly.asked
        wanted = known.paired(tonight.release, tonight.baseline)
        rules = Rules(gates=self.gates, looks=looks_up_to(asked.max_blocks, "max_blocks"))
        place = known.nightly.results, RuntimeName(asked.runtime), known.site
        again = self._again(tonight.run, wanted, rules, place)
        job, trial = again or pairs.new_job(known.matrix, known.known, wanted, rules, place)
        told(job.run.name)
        policy = Policy(job.plan.seed, extra_repeats=1)
        setting = Setting(self.idle_wait_s, keep=lambda run: store_trial(run, trial))
        with begun(job, setting, known.site.host) as surroundings:
            found = carry_out(trial, surroundings, policy, load_faults(IMAGES / "known_faults.yaml"))
        write_html(found, job.run.folder / REGRESSION_FOLDER)
        baselines, candidates = ({getattr(pair, side) for pair in trial.pairs} for side in ("baseline", "candidate"))
        plan = job.run.plan()
        ones, others = (tuple(cell for cell in plan.cells if cell.id in ids) for ids in (baselines, candidates))
        images = {cell.image for cell in others}
        return TrialResult(
            found,
            TrialOutcomes(tuple(job.run.outcomes(ones)), tuple(job.run.outcomes(others))),
            tuple(
                made.reference
                for made in job.run.environments().environments
                if made.image in images and made.status is Status.OK and made.reference and made.image_id
            ),
        )

    def _again(
        self, name: str, wanted: Pairing, rules: Rules, place: tuple[Path, RuntimeName, pairs.Site]
    ) -> tuple[Job, Trial] | None:
        """The run that was under way; None where there is none, it is of another trial, or it cannot go on here."""
        results, runtime, site = place
        run = Run(results / name)
        if not name or not run.has_begun:
            return None
        try:
            job = jobs.resumed(results, run.name, runtime, site.base_image, site.host)
            trial = stored_trial(run)
        except InputError as error:
            site.host.say(f"begun anew: {error}")
            return None
        # A plan grows in blocks while it is carried out.
        is_same = first_plan(job.plan, rules) == first_plan(wanted.plan, rules)
        if is_same and trial == trial_of(wanted, rules):
            return job, trial
        site.host.say(f"begun anew: what is measured or what decides has changed since {name}, which stays")
        return None
