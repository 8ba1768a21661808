"""The plans of a night's trials, which pair one release after the other with its baseline."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from packaging.utils import canonicalize_name

from orchestrator.catalog import UnsupportedError
from orchestrator.domain import Framework
from orchestrator.errors import InputError
from orchestrator.matrix.model import parse_pin, release_key
from orchestrator.planning import Selection
from orchestrator.planning.selection import matches
from orchestrator.regression.nightly.decide import is_listed
from orchestrator.regression.nightly.loading import Nightly
from orchestrator.regression.pairing import Pair, Pairing
from orchestrator.regression.releases.package_index import Offered
from orchestrator.regression.releases.pages import PublishedRelease
from orchestrator.regression.rules import Rules
from orchestrator.regression.sides import Side
from orchestrator.workflows.host.host import Host
from orchestrator.workflows.measure.pair import RegressionSetup, SourceOptions, check_single_steps, regression_setup
from orchestrator.workflows.nightly.settings import load_nightly

MAX_LISTED = 5
"""Releases that a message names."""


@dataclass(frozen=True)
class NightlyPlanner:
    """Plans the tests of watched releases by the catalog, the matrix and the selection."""

    nightly: Nightly
    setup: RegressionSetup

    @classmethod
    def of(cls, file: Path, options: SourceOptions, host: Host) -> "NightlyPlanner":
        """Load a `nightly.yaml` and its matrix. Raises `InputError` with every mistake."""
        return cls.of_nightly(load_nightly(file, options.models), options, host)

    @classmethod
    def of_nightly(cls, nightly: Nightly, options: SourceOptions, host: Host) -> "NightlyPlanner":
        """Load the matrix of a `nightly.yaml`. Raises `InputError` with every mistake."""
        return cls(nightly, regression_setup(nightly.matrix, options, host))

    def unknown_reason(self, version: str) -> str | None:
        """Return the reason neither catalog nor matrix has an environment for a release, or None."""
        try:
            self.pythons(version)
        except UnsupportedError as error:
            return error.reason
        return None

    def unsupported_reason(self, release: PublishedRelease) -> str | None:
        """Return the reason no environment can take a published release, or None."""
        try:
            pythons = self.pythons(release.version)
        except UnsupportedError as error:
            return error.reason
        if not pythons or any(release.runs_on(python) for python in pythons):
            return None
        wanted = " or ".join(release.requires_python)
        return f"{self.nightly.name} {release.version} asks for Python {wanted}; the catalog has {', '.join(pythons)}"

    def pythons(self, version: str) -> tuple[str, ...]:
        """Return the Pythons of the catalog's environment, or none for an image of the user's own.

        Raises `UnsupportedError`.
        """
        if self.nightly.is_of_matrix:
            return self._pythons_of_matrix(version)
        pin = parse_pin(self.nightly.settings.watch)
        version = version if self.nightly.settings.package is None else pin.version or ""
        frameworks = self.setup.matrix.frameworks
        own = (axes for axes in frameworks if axes.name == pin.name and (axes.image or axes.dockerfile))
        if any(release_key(version) == release_key(each) for axes in own for each in axes.versions):
            return ()
        backend = Framework(pin.backend.name, pin.backend.version or "") if pin.backend else None
        return self.setup.planner.catalog.pythons(Framework(pin.name, version, backend))

    def _pythons_of_matrix(self, version: str) -> tuple[str, ...]:
        """Return the Pythons of the cells that hold a watched package. Raises `UnsupportedError` if there are none."""
        side = self.side(version)
        try:
            plan = self.setup.planner.pair(side, side).plan
        except InputError as error:
            raise UnsupportedError("; ".join(error.messages)) from None
        return tuple(dict.fromkeys(cell.framework.python for cell in plan.cells))

    def check_baseline(self, baseline: str, rules: Rules) -> None:
        """Raise `InputError` if no selected cell of the baseline can be measured, or none decides by the rules."""
        if reason := self.unknown_reason(baseline):
            place = self._origin(baseline) if self.nightly.settings.package is None else self.nightly.at("watch")
            raise InputError(f"{place}: {reason}")
        side = self.side(baseline)
        try:
            pairing = self.setup.pair(side, side)
        except InputError as error:
            raise InputError(*(f"{self.nightly.at('matrix')}: {message}" for message in error.messages)) from None
        mistakes = [
            f"{self.nightly.at('select', index)}: {glob!r} matches no pair of cells of {side.pin}; there is, for "
            f"example, {pairing.pairs[0].id}"
            for index, glob in enumerate(self.nightly.settings.select or ())
            if not any(_matches(glob, pair) for pair in pairing.pairs)
        ]
        if not mistakes and not any(self._selected(pairing)):
            mistakes = [f"{self.nightly.at('exclude')}: leaves nothing of what is selected; drop one of its globs"]
        if mistakes:
            raise InputError(*mistakes)
        try:
            check_single_steps(self.pair(baseline, baseline), rules)
        except InputError as error:
            raise InputError(*(f"{self.nightly.at('metrics')}: {message}" for message in error.messages)) from None

    def check_listed(self, baseline: str, offered: Offered) -> None:
        """Raise `InputError` if the baseline's environments pin what is watched and no index has that release.

        An image of the user's own pins nothing. Nothing is raised while a place does not answer.
        """
        if offered.problems or is_listed(baseline, offered.releases):
            return
        side, watched = self.side(baseline), canonicalize_name(self.nightly.distribution)
        plan = self.setup.planner.pair(side, side).plan
        pinned = {canonicalize_name(name) for image in plan.images for name, _ in image.environment.expected_versions}
        if watched not in pinned:
            return
        versions = [release.version for release in reversed(offered.releases)]
        more = f" and {len(versions) - MAX_LISTED} older ones" if len(versions) > MAX_LISTED else ""
        raise InputError(
            f"{self._origin(baseline)}: no package index of this site has {watched} {baseline}; "
            f"name one that there is: {', '.join(versions[:MAX_LISTED])}{more}"
        )

    def _origin(self, baseline: str) -> str:
        """Return the place that a baseline comes from, for messages."""
        nightly = self.nightly
        key = next((key for key in ("first", "baseline") if getattr(nightly.settings, key) == baseline), "")
        if key:
            return nightly.at(key)
        other = f"accept another one with orchestrator nightly accept {nightly.name}==VERSION"
        return f"{nightly.path}: baseline: {baseline} was accepted; {other}"

    def pair(self, release: str, baseline: str) -> Pairing:
        """Pair a release with its baseline. Raises `UnsupportedError` if the release cannot do what is selected."""
        sides = self.side(baseline), self.side(release)
        try:
            every = self.setup.planner.pair(*sides)
        except InputError as error:
            # The baseline was planned by itself before: it is the release that cannot be.
            raise UnsupportedError("; ".join(error.messages)) from None
        if not any(self._selected(every)):
            reason = next((each.reason for each in every.gone), "the globs speak of other cells")
            raise UnsupportedError(f"nothing of what is selected can be done with {release}: {reason}")
        settings = self.nightly.settings
        select = tuple(glob for glob in settings.select or () if any(_matches(glob, pair) for pair in every.pairs))
        return self.setup.pair(*sides, Selection(select, settings.exclude or ()))

    def side(self, version: str) -> Side:
        """Return one release as a side of a trial."""
        return self.setup.side(self.nightly.side(version), self.nightly.at("watch"))

    def _selected(self, pairing: Pairing) -> Iterator[Pair]:
        select, exclude = self.nightly.settings.select, self.nightly.settings.exclude
        for pair in pairing.pairs:
            wanted = not select or any(_matches(glob, pair) for glob in select)
            if wanted and not any(_matches(glob, pair) for glob in exclude or ()):
                yield pair


def _matches(glob: str, pair: Pair) -> bool:
    """Return true if a glob names a pair. The mark of a side next to itself is not part of a cell's name."""
    baseline = pair.baseline.replace("-side=baseline/", "/", 1)
    return any(matches(glob, name) for name in (pair.id, baseline, pair.candidate))
