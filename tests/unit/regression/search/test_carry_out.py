"""A search carried out with a scripted host: what it finds, what it asks again, and where it goes on."""

import re
from pathlib import Path

import pytest

from orchestrator.errors import HostError, InputError
from orchestrator.regression.releases.pages import PublishedRelease
from orchestrator.regression.search import record as search_record
from orchestrator.regression.search.candidates import ReleaseFilter, between, reasons, search_subject
from orchestrator.regression.search.carry_out import SearchInProgress
from orchestrator.regression.search.steps import search_looks
from orchestrator.reporting.reports.search.words import headlines
from tests.unit.regression.search.search_records import MXNET, RELEASES, Host, done, rates, record, side


def test_the_changing_release_has_its_figures(tmp_path: Path) -> None:
    """The release that changed the metric is named with its figures."""
    found = done(Host(rates(v1_5_1=0.9)), tmp_path)

    (first,) = headlines(found)
    assert first.startswith("First changed in mxnet 1.5.1 (slower, × 0.900, ")
    assert first.endswith(", moved by mxnet 1.4.1 → 1.5.1, all that moved.")
    assert found.found is not None
    assert found.found.is_worse
    assert search_record.read(tmp_path) == found


def test_better_or_same_is_not_worse(tmp_path: Path) -> None:
    """A change for the better, or no change, is not reported as worse."""
    better, same = done(Host(rates(v1_5_1=1.2)), tmp_path), done(Host(rates()), tmp_path)

    assert better.found is not None
    assert same.found is not None
    assert (better.found.is_worse, same.found.is_worse) == (False, False)
    assert "(faster, × 1.200" in headlines(better)[0]
    (limit,) = headlines(same)
    assert re.fullmatch(
        r"No change was found from mxnet 1.2.0 to 1.9.1 \(× 0.998, .*\); every step is smaller than 1.91 %.", limit
    )


def test_all_of_several_changes_come_on_request(tmp_path: Path) -> None:
    """Several changes are said to be there, and all of them are found on request."""
    host = Host(rates(v1_3_1=0.9, v1_8_0=0.8))

    one, every = done(host, tmp_path), done(host, tmp_path, every=True)

    assert headlines(one)[-1] == "There are at least 2 changes between 1.2.0 and 1.9.1 (--all searches each)."
    assert headlines(every)[-1] == "There are 2 changes between 1.2.0 and 1.9.1."
    assert [line[:29] for line in headlines(every)[:2]] == [
        "First changed in mxnet 1.3.1 ",
        "First changed in mxnet 1.8.0 ",
    ]


def test_dips_are_found_on_request(tmp_path: Path) -> None:
    """A dip of one release, between ends that are the same."""
    host = Host(rates(v1_6_0=0.9, v1_7_0=1 / 0.9))

    every = done(host, tmp_path, every=True)

    assert [line[:29] for line in headlines(every)[:2]] == [
        "First changed in mxnet 1.6.0 ",
        "First changed in mxnet 1.7.0 ",
    ]
    assert headlines(every)[-1] == "There are 2 changes between 1.2.0 and 1.9.1."


def test_undecided_is_neither_change_nor_none(tmp_path: Path) -> None:
    """A search that is not decided reports neither a change nor that there is none."""
    undecided, *others = headlines(done(Host(rates(v1_5_1=0.95), deviation=0.06), tmp_path))

    assert undecided.startswith("Not decided whether it changed from mxnet 1.2.0 to 1.9.1: inconclusive, × ")
    assert "could have missed less than" in undecided
    assert others[0].startswith("Between mxnet 1.2.0 and 1.3.1: not decided by all the blocks allowed")


def test_bit_by_bit_is_a_change_without_a_release(tmp_path: Path) -> None:
    small = {"v" + release.replace(".", "_"): 0.995 for release in RELEASES[1:]}
    found = done(Host(rates(**small), deviation=0.001), tmp_path)

    (first,) = headlines(found)
    assert first.startswith("Changed bit by bit from mxnet 1.2.0 to 1.9.1 (slower, × 0.965, ")
    assert first.endswith(", in steps smaller than 1.14 %.")
    assert found.found is not None
    assert found.found.is_worse


def test_each_phase_spends_one_alpha(tmp_path: Path) -> None:
    """Each phase spends one alpha, whatever number of changes is searched."""
    environments = {
        release: {"mxnet": release, "numpy": f"1.{16 + (place >= 1) + (place >= 6)}.0"}
        for place, release in enumerate(RELEASES)
    }
    host = Host(rates(), environments, {("numpy", "1.17.0"): 0.9, ("numpy", "1.18.0"): 0.8})

    one, both = (done(host, tmp_path, every=every).found for every in (False, True))

    assert one is not None
    assert both is not None
    assert [origin.alpha for origin in one.origins] == [0.05]
    assert [origin.alpha for origin in both.origins] == [0.025, 0.025]
    assert [origin.by for origin in both.origins] == [("numpy 1.16.0 → 1.17.0",), ("numpy 1.17.0 → 1.18.0",)]
    # Three stages: two steps, and the comparison of the ends.
    levels = [look.confidence for look in search_looks(3, (4, 6, 8, 12), 0.025)]
    assert {step.comparison.confidence for step in both.origins[0].steps if step.comparison} <= {*levels}
    assert {step.comparison.confidence for step in one.steps if step.comparison} <= {
        look.confidence for look in search_looks(8, (4, 6, 8, 12), 0.05)
    }


def test_moves_are_measured_in_blocks_of_their_own(tmp_path: Path) -> None:
    """The blocks by which a change was named say nothing of what moved it."""
    environments = {
        release: {"mxnet": release, "numpy": "1.17.0" if place > 3 else "1.16.0"}
        for place, release in enumerate(RELEASES)
    }
    found = done(Host(rates(), environments, {("numpy", "1.17.0"): 0.9}), tmp_path)

    assert [each.change for each in found.rounds] == ["", "1.6.0"]
    assert found.rounds[1].releases == (
        "mxnet==1.5.1", "mxnet==1.5.1,numpy==1.17.0", "mxnet==1.6.0",
    )  # fmt: skip


def test_the_mover_of_a_small_change_is_found(tmp_path: Path) -> None:
    """A change that is named has a move, also if it is smaller than what a search for one change looks for."""
    environments = {
        release: {"mxnet": release, "numpy": "1.17.0" if place > 3 else "1.16.0", "pip": "2" if place > 3 else "1"}
        for place, release in enumerate(RELEASES)
    }
    found = done(Host(rates(), environments, {("numpy", "1.17.0"): 0.97}, deviation=0.004), tmp_path, every=True).found

    assert found is not None
    assert [origin.by for origin in found.origins] == [("numpy 1.16.0 → 1.17.0",)]


def test_untestable_releases_are_retried_on_request(tmp_path: Path) -> None:
    """A release that could not be tested is asked again on request, and nothing else is."""
    host = Host(rates(v1_5_1=0.9), broken=["mxnet==1.5.1"])
    before = done(host, tmp_path)
    asked, host.broken = list(host.asked), ()

    assert search_record.forgetful(before, failed=False) == before
    found = SearchInProgress(search_record.forgetful(before, failed=True), tmp_path, MXNET, host.means()).carry_out()

    assert headlines(found)[0].startswith("First changed in mxnet 1.5.1 (slower")
    first = host.asked[len(asked)]
    assert first == (("mxnet==1.4.1", "mxnet==1.5.1", "mxnet==1.6.0"), 4)
    assert search_record.forgetful(found, failed=True) == found


@pytest.mark.parametrize(
    "reason",
    [
        "build_failed: No matching distribution found for mxnet: https://pypi.org/simple cannot be reached: refused",
        "build_failed: https://pypi.corp/simple/numpy/ refuses the credentials",
        "launch_failed: the engine had no room for it",
    ],
)
def test_host_failures_are_retried_on_resume(tmp_path: Path, reason: str) -> None:
    """A failure by the host or its index is asked again when a search is taken up."""
    host = Host(rates(v1_5_1=0.9), broken=["mxnet==1.5.1"], reason=reason)
    before = done(host, tmp_path)
    host.broken = ()

    found = SearchInProgress(search_record.forgetful(before, failed=False), tmp_path, MXNET, host.means()).carry_out()

    assert f"Stepped over mxnet 1.5.1: {reason} (--resume tries it again)" in headlines(before)
    assert headlines(found)[0].startswith("First changed in mxnet 1.5.1 (slower")


def test_the_dependency_that_moved_it_is_found(tmp_path: Path) -> None:
    """The dependency that moved the metric is found, in blocks with the ends and all that lies between."""
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
    assert host.asked[-1][0] == (
        "mxnet==1.4.1", "mxnet==1.4.1,numpy==1.17.5,requests==2.18.4", "mxnet==1.4.1,numpy==1.17.5,requests==2.20.0",
        "mxnet==1.5.1",
    )  # fmt: skip


def test_an_untestable_release_is_stepped_over_and_named(tmp_path: Path) -> None:
    found = done(Host(rates(v1_5_1=0.9), broken=["mxnet==1.5.1"]), tmp_path)

    first, *others = headlines(found)
    assert first.startswith("First changed in mxnet 1.6.0, or in 1.5.1, which could not be tested (slower")
    assert others == ["Stepped over mxnet 1.5.1: build_failed: no wheel"]


def test_ends_that_cannot_be_measured_are_no_finding(tmp_path: Path) -> None:
    found = done(Host(rates(), broken=["mxnet==1.9.1"]), tmp_path)

    assert headlines(found) == ("Good and bad could not be compared: 1.9.1: build_failed: no wheel",)


def test_a_search_that_dies_reaches_the_same_end(tmp_path: Path) -> None:
    """A search goes on to the same end wherever it dies, and asks nothing twice."""
    whole = Host(rates(v1_3_1=0.9, v1_8_0=0.8), broken=["mxnet==1.5.1"])
    expected = done(whole, tmp_path / "whole", every=True)
    for dies_at in range(len(whole.asked)):
        folder = tmp_path / str(dies_at)
        folder.mkdir()
        host = Host(whole.rates, broken=whole.broken, dies_at=dies_at)
        search_record.write(folder, record(every=True))
        with pytest.raises(HostError):
            SearchInProgress(search_record.read(folder), folder, MXNET, host.means()).carry_out()
        host.dies_at = 10_000

        found = SearchInProgress(search_record.read(folder), folder, MXNET, host.means()).carry_out()

        assert (found, host.asked) == (expected, whole.asked)


def test_only_final_plannable_releases_are_searched() -> None:
    """The releases between the ends are those that stand, are final and can be planned."""
    published = [
        PublishedRelease(version)
        for version in ("1.1.0", *RELEASES[:5], "1.7.0.post1", "1.7.0.post2", "1.9.1", "2.0.0b1")
    ]
    published += [
        PublishedRelease("1.5.0", yanked="wrong wheels"),
        PublishedRelease("1.6.0rc1"),
        PublishedRelease("1.4.0"),
    ]

    found, left_out = between(
        MXNET,
        published,
        ReleaseFilter(False, False, lambda each: "the catalog has no 1.4.0" if each.version == "1.4.0" else ""),
    )

    assert found == ("1.2.0", "1.3.1", "1.4.1", "1.5.1", "1.6.0", "1.7.0", "1.9.1")
    assert list(reasons(left_out)) == [
        "not searched: 1.5.0: yanked: wrong wheels (--yanked searches them too)",
        "not searched: 1.6.0rc1: a pre-release (--prereleases searches them too)",
        "not searched: 1.4.0: the catalog has no 1.4.0",
    ]
    assert "1.6.0rc1" in between(MXNET, published, ReleaseFilter(True, True, lambda each: ""))[0]


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
        search_subject(side(good), side(bad), "mxnet")


def test_a_package_may_be_the_search_subject() -> None:
    """A package may be what is searched, and the order of the ends counts."""
    what = search_subject(side("mxnet==1.9.1,numpy==1.17.5"), side("mxnet==1.9.1,numpy==1.16.6"), "mxnet")

    assert (what.distribution, what.is_package, what.side("1.17.0").text) == (
        "numpy", True, "mxnet==1.9.1,numpy==1.17.0",
    )  # fmt: skip
    with pytest.raises(InputError, match="exchange them"):
        between(what, [], ReleaseFilter(False, False, lambda each: ""))


def test_a_repaired_end_is_compared_again(tmp_path: Path) -> None:
    """An end that is tried again shares its blocks with the other end."""
    host = Host(rates(v1_5_1=0.9), broken=["mxnet==1.9.1"])
    before = done(host, tmp_path)
    asked, host.broken = len(host.asked), ()

    found = SearchInProgress(search_record.forgetful(before, failed=True), tmp_path, MXNET, host.means()).carry_out()

    assert host.asked[asked] == (("mxnet==1.2.0", "mxnet==1.8.0", "mxnet==1.9.1"), 4)
    assert headlines(found)[0].startswith("First changed in mxnet 1.5.1 (slower")
