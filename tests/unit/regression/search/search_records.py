"""A scripted host for searches, and a search as it is recorded, for those who show it."""

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from orchestrator.catalog import load as load_catalog
from orchestrator.errors import HostError
from orchestrator.regression.rules import Gate
from orchestrator.regression.search.candidates import SearchSubject
from orchestrator.regression.search.carry_out import SearchInProgress, SearchServices
from orchestrator.regression.search.chain import PythonSpan
from orchestrator.regression.search.record import Bisection
from orchestrator.regression.search.record_parts import Asked, AskedChain, LeftOut
from orchestrator.regression.sides import Side, parse_side
from orchestrator.regression.trials.joint_result import JointResult
from orchestrator.resources import IMAGES

RELEASES = ("1.2.0", "1.3.1", "1.4.1", "1.5.1", "1.6.0", "1.7.0", "1.8.0", "1.9.1")


def side(text: str) -> Side:
    return parse_side(text, "--good", load_catalog(IMAGES / "catalog"))


MXNET = SearchSubject(side("mxnet==1.2.0"), side("mxnet==1.9.1"), "mxnet", is_package=False)


@dataclass
class Host:
    """Rates by release, times factors by package; it dies when it is asked once more than it may be."""

    rates: Mapping[str, float]
    environments: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    factors: Mapping[tuple[str, str], float] = field(default_factory=dict)
    broken: Sequence[str] = ()
    reason: str = "build_failed: no wheel"
    deviation: float = 0.003
    dies_at: int = 10_000
    pythons: Mapping[str, float] = field(default_factory=dict)
    """Factors of Pythons."""
    broken_on: Sequence[tuple[str, str]] = ()
    """Releases that do not build on a Python."""
    seed: int = 0
    asked: list[tuple[tuple[str, ...], int]] = field(default_factory=list)
    """The sides and blocks of every round."""

    def rate(self, one: Side) -> float:
        rate = self.rates[one.version] * self.pythons.get(one.python, 1.0)
        for package in (self.held(one) | dict(one.packages)).items():
            rate *= self.factors.get(package, 1.0)
        return rate

    def held(self, one: Side) -> dict[str, str]:
        return dict(self.environments.get(one.version, {"mxnet": one.version}))

    def measure(self, sides: Sequence[Side], blocks: int) -> JointResult:
        if len(self.asked) == self.dies_at:
            raise HostError("the power went out")
        self.asked.append((tuple(side.text for side in sides), blocks))
        number = len(self.asked)
        reasons = {side.text: self.reason for side in sides if self.is_broken(side)}
        values = {
            side.text: tuple(self.rate(side) * self.noise(side, number, block) for block in range(blocks))
            for side in sides
            if side.text not in reasons
        }
        return JointResult(f"run-{number}", values, reasons)

    def is_broken(self, one: Side) -> bool:
        return any(one.text.startswith(text) for text in self.broken) or (one.version, one.python) in self.broken_on

    def noise(self, one: Side, number: int, block: int) -> float:
        return math.exp(
            random.Random(f"{one.text} {number} {block}" + (f" {self.seed}" if self.seed else "")).gauss(
                0, self.deviation
            )
        )

    def means(self) -> SearchServices:
        return SearchServices(self.measure, lambda run, one: self.held(one), lambda event: None)


def record(*, every: bool = False, releases: tuple[str, ...] = RELEASES) -> Bisection:
    asked = Asked(
        good="mxnet==1.2.0", bad="mxnet==1.9.1", python="3.6", cell="*", pair="cpu/lenet-train-b200",
        metric=Gate("throughput", 0.02), every=every, looks=(4, 6, 8, 12), matrix="matrix.yaml", matrix_sha256="",
        models=None, data=None, base_image=None, no_parity=False, limit=1, runtime="docker",
    )  # fmt: skip
    return Bisection(name="bisect-1", created_at="", host="", asked=asked, searched="mxnet", releases=releases)


CHAIN = AskedChain(
    reason="no Python runs both ends (1.2.0 runs on Python 3.6; 1.9.1 runs on Python 3.9)",
    spans=(PythonSpan("3.6", "1.2.0", "1.5.1"), PythonSpan("3.9", "1.5.1", "1.9.1")),
)


def chained_record(*, every: bool = False, chain: AskedChain = CHAIN) -> Bisection:
    """A search whose ends no Python runs both."""
    plain = record(every=every)
    asked = plain.asked.model_copy(update={"python": "", "chain": chain})
    return plain.model_copy(update={"asked": asked})


def rates(**steps: float) -> dict[str, float]:
    """Rates of releases, some of which run at a factor of the one before: `v1_5_1=0.9`."""
    rate, found = 1000.0, {}
    for release in RELEASES:
        rate *= steps.get("v" + release.replace(".", "_"), 1.0)
        found[release] = rate
    return found


def chained(host: Host, folder: Path, *, every: bool = False, chain: AskedChain = CHAIN) -> Bisection:
    folder.mkdir(exist_ok=True)
    return SearchInProgress(chained_record(every=every, chain=chain), folder, MXNET, host.means()).carry_out()


def done(host: Host, folder: Path, **asked: bool) -> Bisection:
    folder.mkdir(exist_ok=True)
    return SearchInProgress(record(**asked), folder, MXNET, host.means()).carry_out()


HOSTILE = "build_failed: \x1b[31m<script>alert(1)</script>\u202e|`"


def a_search(folder: Path) -> Bisection:
    """Two changes, one by a dependency and one by a change that no dependency explains; hostile words of a release."""
    before = {"graphviz": "0.8.1", "numpy": "1.16.6", "requests": "2.18.4"}
    after = {"graphviz": "0.8.4", "numpy": "1.17.5", "requests": "2.20.0"}
    environments = {
        release: {"mxnet": release} | (before if place < RELEASES.index("1.5.1") else after)
        for place, release in enumerate(RELEASES)
    }
    host = Host(rates(v1_8_0=0.93), environments, {("numpy", "1.17.5"): 0.9}, broken=["mxnet==1.7.0"], reason=HOSTILE)
    asked = record(every=True).model_copy(
        update={
            "name": "bisect-20261122T030000Z-1f3a",
            "created_at": "2026-11-22T03:00:00+00:00",
            "host": "test-host",
            "left_out": (LeftOut(release="1.5.0", reason="yanked: <wrong> wheels (--yanked searches them too)"),),
        }
    )
    return SearchInProgress(asked, folder, MXNET, host.means()).carry_out()
