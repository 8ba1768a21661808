"""A search carried out with a scripted host: what it finds, what it asks again, and where it goes on."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from orchestrator.catalog import load as load_catalog
from orchestrator.errors import HostError, InputError
from orchestrator.regression import bisection_record, parse
from orchestrator.regression.bisecting import Bisecting, Means, Measured
from orchestrator.regression.bisection_record import Asked, Bisection
from orchestrator.regression.metrics import Gate
from orchestrator.regression.releases import Release
from orchestrator.regression.searched import Searched, Wanted, between, reasons, searched
from orchestrator.regression.sides import Side
from orchestrator.reporting.bisections import headlines
from orchestrator.resources import IMAGES

RELEASES = ("1.2.0", "1.3.1", "1.4.1", "1.5.1", "1.6.0", "1.7.0", "1.8.0", "1.9.1")
SCATTER = (1.0, 1.004, 0.997, 1.002, 0.999, 0.998)


def side(text: str) -> Side:
    return parse(text, "--good", load_catalog(IMAGES / "catalog"))


MXNET = Searched(side("mxnet==1.2.0"), side("mxnet==1.9.1"), "mxnet", is_package=False)


@dataclass
class Host:
    """Rates by release, times factors by package; it dies when it is asked once more than it may be."""

    rates: Mapping[str, float]
    environments: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    factors: Mapping[tuple[str, str], float] = field(default_factory=dict)
    broken: Sequence[str] = ()
    dies_at: int = 10_000
    asked: list[tuple[str, str, int]] = field(default_factory=list)

    def rate(self, one: Side) -> float:
        found = self.rates[one.version]
        for package in (self.held(one) | dict(one.packages)).items():
            found *= self.factors.get(package, 1.0)
        return found

    def held(self, one: Side) -> dict[str, str]:
        return dict(self.environments.get(one.version, {"mxnet": one.version}))

    def measure(self, one: Side, other: Side, blocks: int) -> Measured:
        if len(self.asked) == self.dies_at:
            raise HostError("the power went out")
        self.asked.append((one.text, other.text, blocks))
        for each in (one, other):
            if any(each.text.startswith(text) for text in self.broken):
                return Measured("run", reason="build_failed: no wheel", culprit=each.text)
        scatter = [SCATTER[number % len(SCATTER)] for number in range(blocks)]
        return Measured("run", tuple((self.rate(one), self.rate(other) * factor) for factor in scatter))

    def means(self) -> Means:
        return Means(self.measure, lambda run, one: self.held(one), lambda event: None)


def record(*, every: bool = False, releases: tuple[str, ...] = RELEASES) -> Bisection:
    asked = Asked(
        good="mxnet==1.2.0", bad="mxnet==1.9.1", python="3.6", cell="*", pair="cpu/lenet-train-b200",
        metric=Gate("throughput", 0.02), every=every, looks=(6, 12), matrix="matrix.yaml", matrix_sha256="",
        models=None, data=None, base_image=None, no_parity=False, limit=1, runtime="docker",
    )  # fmt: skip
    return Bisection(name="bisect-1", created_at="", host="", asked=asked, searched="mxnet", releases=releases)


def rates(**steps: float) -> dict[str, float]:
    """Rates of releases, some of which run at a factor of the one before: `v1_5_1=0.9`."""
    rate, found = 1000.0, {}
    for release in RELEASES:
        rate *= steps.get("v" + release.replace(".", "_"), 1.0)
        found[release] = rate
    return found


def done(host: Host, folder: Path, **asked: bool) -> Bisection:
    folder.mkdir(exist_ok=True)
    return Bisecting(record(**asked), folder, MXNET, host.means()).carry_out()


def test_the_release_that_changed_it_is_named_with_its_figures(tmp_path: Path) -> None:
    found = done(Host(rates(v1_5_1=0.9)), tmp_path)

    (first,) = headlines(found)
    assert first.startswith("First changed in mxnet 1.5.1 (slower, × 0.900, ")
    assert first.endswith(", moved by mxnet 1.4.1 → 1.5.1, all that moved.")
    assert found.found is not None
    assert found.found.is_worse
    assert bisection_record.read(tmp_path) == found


def test_what_is_better_or_the_same_is_not_worse(tmp_path: Path) -> None:
    better, same = done(Host(rates(v1_5_1=1.2)), tmp_path), done(Host(rates()), tmp_path)

    assert better.found is not None
    assert same.found is not None
    assert (better.found.is_worse, same.found.is_worse) == (False, False)
    assert "(faster, × 1.200" in headlines(better)[0]
    assert headlines(same)[0].startswith("No change was found from mxnet 1.2.0 to 1.9.1: same")


def test_several_changes_are_said_and_all_of_them_found_on_request(tmp_path: Path) -> None:
    host = Host(rates(v1_3_1=0.9, v1_8_0=0.8))

    one, every = done(host, tmp_path), done(host, tmp_path, every=True)

    assert headlines(one)[-1] == "There are 2 changes between 1.2.0 and 1.9.1 (--all searches each)."
    assert [line[:29] for line in headlines(every)[:2]] == [
        "First changed in mxnet 1.3.1 ",
        "First changed in mxnet 1.8.0 ",
    ]


def test_the_dependency_is_found_that_moved_it_and_the_ends_are_not_measured_again(tmp_path: Path) -> None:
    before = {"mxnet": "1.4.1", "numpy": "1.16.6", "requests": "2.18.4"}
    after = {"mxnet": "1.5.1", "numpy": "1.17.5", "requests": "2.20.0"}
    older, newer = (RELEASES[: RELEASES.index("1.5.1")], RELEASES[RELEASES.index("1.5.1") :])
    environments = {release: before | {"mxnet": release} for release in older}
    environments |= {release: after | {"mxnet": release} for release in newer}
    host = Host(rates(), environments, {("numpy", "1.17.5"): 0.9})

    found = done(host, tmp_path)

    assert headlines(found)[0].endswith(", moved by numpy 1.16.6 → 1.17.5.")
    assert found.found is not None
    (origin,) = found.found.origins
    assert origin.moved == ("numpy 1.16.6 → 1.17.5", "requests 2.18.4 → 2.20.0", "mxnet 1.4.1 → 1.5.1")
    assert ("mxnet==1.4.1", "mxnet==1.4.1,numpy==1.17.5,requests==2.18.4", 6) in host.asked
    assert len(set(host.asked)) == len(host.asked)


def test_an_untestable_release_is_stepped_over_and_named(tmp_path: Path) -> None:
    found = done(Host(rates(v1_5_1=0.9), broken=["mxnet==1.5.1"]), tmp_path)

    first, *others = headlines(found)
    assert first.startswith("First changed in mxnet 1.6.0, or in 1.5.1, which could not be tested (slower")
    assert others == ["Stepped over mxnet 1.5.1: build_failed: no wheel"]


def test_ends_that_cannot_be_measured_are_no_finding(tmp_path: Path) -> None:
    found = done(Host(rates(), broken=["mxnet==1.9.1"]), tmp_path)

    assert headlines(found) == ("Good and bad could not be compared: 1.9.1: build_failed: no wheel",)


def test_wherever_it_dies_it_goes_on_to_the_same_end_and_asks_nothing_twice(tmp_path: Path) -> None:
    whole = Host(rates(v1_3_1=0.9, v1_8_0=0.8), broken=["mxnet==1.5.1"])
    expected = done(whole, tmp_path / "whole", every=True)
    for dies_at in range(len(whole.asked)):
        folder = tmp_path / str(dies_at)
        folder.mkdir()
        host = Host(whole.rates, broken=whole.broken, dies_at=dies_at)
        bisection_record.write(folder, record(every=True))
        with pytest.raises(HostError):
            Bisecting(bisection_record.read(folder), folder, MXNET, host.means()).carry_out()
        host.dies_at = 10_000

        found = Bisecting(bisection_record.read(folder), folder, MXNET, host.means()).carry_out()

        assert (found, host.asked) == (expected, whole.asked)


def test_releases_between_are_those_that_stand_are_final_and_can_be_planned() -> None:
    published = [
        Release(version) for version in ("1.1.0", *RELEASES[:5], "1.7.0.post1", "1.7.0.post2", "1.9.1", "2.0.0b1")
    ]
    published += [Release("1.5.0", yanked="wrong wheels"), Release("1.6.0rc1"), Release("1.4.0")]

    found, left_out = between(
        MXNET,
        published,
        Wanted(False, False, lambda each: "the catalog has no 1.4.0" if each.version == "1.4.0" else ""),
    )

    assert found == ("1.2.0", "1.3.1", "1.4.1", "1.5.1", "1.6.0", "1.7.0", "1.9.1")
    assert list(reasons(left_out)) == [
        "not searched: 1.5.0: yanked: wrong wheels (--yanked searches them too)",
        "not searched: 1.6.0rc1: a pre-release (--prereleases searches them too)",
        "not searched: 1.4.0: the catalog has no 1.4.0",
    ]
    assert "1.6.0rc1" in between(MXNET, published, Wanted(True, True, lambda each: ""))[0]


@pytest.mark.parametrize(
    ("good", "bad", "said"),
    [
        ("mxnet==1.2.0", "mxnet==1.2.0", "there is nothing between them"),
        ("mxnet==1.2.0", "tensorflow==2.13.0", "must differ in one release alone"),
        ("mxnet==1.2.0,numpy==1.16.6", "mxnet==1.9.1,numpy==1.17.5", "must differ in one release alone"),
        ("mxnet==1.9.1", "mxnet==1.9.1,numpy==1.17.5", "must differ in one release alone"),
    ],
)
def test_good_and_bad_differ_in_one_release(good: str, bad: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        searched(side(good), side(bad), "mxnet")


def test_a_package_may_be_what_is_searched_and_the_order_of_the_ends_counts() -> None:
    what = searched(side("mxnet==1.9.1,numpy==1.17.5"), side("mxnet==1.9.1,numpy==1.16.6"), "mxnet")

    assert (what.distribution, what.is_package, what.side("1.17.0").text) == (
        "numpy", True, "mxnet==1.9.1,numpy==1.17.0",
    )  # fmt: skip
    with pytest.raises(InputError, match="exchange them"):
        between(what, [], Wanted(False, False, lambda each: ""))
