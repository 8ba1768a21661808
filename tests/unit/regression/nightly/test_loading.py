"""`nightly.yaml` and the acknowledged changes: what they mean, and every mistake in them at once."""

from pathlib import Path

import pytest

from orchestrator import resources
from orchestrator.catalog import Catalog
from orchestrator.catalog import load as load_catalog
from orchestrator.errors import InputError
from orchestrator.regression.history.acknowledged import AcknowledgedEntry, ObservedChange, covering, load_acknowledged
from orchestrator.regression.nightly.loading import Nightly, load


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return load_catalog(resources.IMAGES / "catalog")


def loaded(folder: Path, text: str, catalog: Catalog) -> Nightly:
    (folder / "matrix.yaml").write_text("version: 1\n")
    (folder / "nightly.yaml").write_text(text)
    return load(folder / "nightly.yaml", catalog)


def mistakes(folder: Path, text: str, catalog: Catalog) -> list[str]:
    with pytest.raises(InputError) as caught:
        loaded(folder, text, catalog)
    return [message.removeprefix(str(folder / "nightly.yaml:")) for message in caught.value.messages]


def test_a_framework_is_watched_by_index_name(tmp_path: Path, catalog: Catalog) -> None:
    """A framework is watched under the name that the package index has for it."""
    found = loaded(tmp_path, "version: 1\nwatch: mxnet\nbaseline: 1.5.1\nreports: out\n", catalog)

    assert (found.distribution, found.watched, found.name) == ("mxnet", "mxnet", "mxnet")
    assert found.side("1.9.1") == "mxnet==1.9.1"
    assert (found.matrix, found.reports) == (tmp_path / "matrix.yaml", tmp_path / "out")


def test_a_package_is_watched_in_one_release(tmp_path: Path, catalog: Catalog) -> None:
    """A package is watched in one release of a framework."""
    found = loaded(tmp_path, "version: 1\nwatch: mxnet==1.9.1\npackage: numpy\nbaseline: 1.22.4\n", catalog)

    assert (found.distribution, found.watched, found.name) == ("numpy", "numpy in mxnet==1.9.1", "numpy")
    assert found.side("1.23.5") == "mxnet==1.9.1,numpy==1.23.5"


def test_keras_is_watched_on_its_backend(tmp_path: Path, catalog: Catalog) -> None:
    found = loaded(tmp_path, "version: 1\nwatch: keras-mxnet on mxnet==1.5.1\n", catalog)

    assert found.side("2.2.4.3") == "keras-mxnet==2.2.4.3 on mxnet==1.5.1"


def test_a_numeric_version_stays_as_written(tmp_path: Path, catalog: Catalog) -> None:
    """A version that is written as a number keeps the text that it was written as."""
    assert loaded(tmp_path, "version: 1\nwatch: mxnet\nbaseline: 1.10\n", catalog).settings.baseline == "1.10"


def test_all_mistakes_are_reported_at_once(tmp_path: Path, catalog: Catalog) -> None:
    """All mistakes of a nightly file are reported at once, each at its place."""
    text = """\
version: 1
matrix: gone.yaml
watch: mxnett
baseline: latest
prerelease: true
metrics: [throughput=2%, thruput]
budget: soon
webhook: {url: nowhere, secret: X}
acknowledged: none.yaml
"""
    assert mistakes(tmp_path, text, catalog) == [
        "2:9: matrix: 'gone.yaml': no such file; it is relative to this one",
        "3:8: watch: unknown framework 'mxnett'; did you mean 'mxnet'?",
        "4:11: baseline: 'latest' is no version: write accepted, or a release such as 1.9.1",
        "5:1: unknown key 'prerelease'; did you mean 'prereleases'?",
        "6:26: metrics: unknown metric 'thruput'; did you mean 'throughput'?",
        "7:9: budget: 'soon' is no duration; write 90s, 10m, 1h30m or a number of seconds",
        "8:16: webhook.url: is no URL that one can post to; write https://HOST/PATH",
        "8:25: webhook: unknown key 'secret'; there is url, secret_variable, timeout, attempts",
        "9:15: acknowledged: 'none.yaml': no such file; it is relative to this one",
    ]


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ("watch: mxnet==1.9.1", "names a release; releases of it are what is watched: write mxnet"),
        ("watch: mxnet\npackage: numpy", "names no one release to watch a package in: write mxnet==VERSION"),
        ("watch: keras-mxnet", "needs a backend: keras-mxnet on mxnet==VERSION"),
        ("watch: mxnet on torch==1", "runs on no backend; drop 'on torch'"),
        ("watch: noop", "'noop' has no package on any index; name a `package` to watch in it"),
        ("watch: mxnet\nbaseline: 1.5.1\nfirst: 1.5.1", "'first' goes with `baseline: accepted`; drop one of them"),
        ("watch: mxnet\nbaseline: 1.5.1\naccept: by_hand", "'accept' goes with `baseline: accepted`; a pinned"),
        (
            "watch: mxnet\nmax_blocks: 2\nmetrics: [throughput, latency_p99=5%]",
            "4:23: metrics: latency_p99 has no bounds with fewer than 368 single steps of each side; 2 blocks of 150",
        ),
        (
            "watch: mxnet\nmax_blocks: 2\nmetrics: [throughput, latency_p99=5%]",
            "steps are 300, and 3 blocks are needed: write max_blocks: 3 or more",
        ),
        ("watch: mxnet\nmax_blocks: 2\nmetrics: latency_p99", "4:10: metrics: latency_p99 has no bounds"),
        ("watch: mxnet\nkeep_images: -1", "should be at least 0, not -1"),
        ("baseline: 1.5.1", "'watch' is missing"),
        ("watch: mxnet\nwebhook: {url: ''}", "webhook.url: is no URL that one can post to"),
        ("watch: mxnet\nanchor: {release: newest}", "3:19: anchor.release: 'newest' is no version: write a release"),
        ("watch: mxnet\nanchor: {tolerance: 5%}", "anchor: 'release' is missing"),
        (
            "watch: mxnet\nanchor: {release: 1.4.1, tolerance: 5}",
            "anchor.tolerance: '5' is no tolerance; write a share",
        ),
        ("watch: mxnet\nanchor: {release: 1.4.1, tolerence: 5%}", "unknown key 'tolerence'; did you mean 'tolerance'?"),
        (
            "watch: mxnet\nfirst: 1.5.1\nanchor: {release: 1.6.0}",
            "anchor.release: 1.6.0 is newer than the first 1.5.1: write an older release, or the same",
        ),
        ("watch: mxnet\nheartbeat: -1", "should be at least 0, not -1"),
        ("watch: mxnet\nself_test: often", "self_test"),
        ("watch: mxnet\nwebhook: {url: file:///hook}", "webhook.url: is no URL that one can post to"),
    ],
)
def test_what_makes_no_sense_is_said(tmp_path: Path, catalog: Catalog, lines: str, words: str) -> None:
    (message,) = mistakes(tmp_path, f"version: 1\n{lines}\n", catalog)

    assert words in message


@pytest.mark.parametrize("text", ["", "[]", "nightly", "{"])
def test_a_file_without_mapping_gets_one_line(tmp_path: Path, catalog: Catalog, text: str) -> None:
    """A nightly file that is no mapping is refused in one line."""
    assert len(mistakes(tmp_path, text, catalog)) == 1


def test_a_newer_format_is_refused_with_the_remedy(tmp_path: Path, catalog: Catalog) -> None:
    (message,) = mistakes(tmp_path, "version: 2\nwonders: true\n", catalog)

    assert "2 is newer than this orchestrator reads (1): upgrade it" in message


def test_acknowledged_changes_have_their_mistakes_told_alike(tmp_path: Path) -> None:
    path = tmp_path / "acknowledged.yaml"
    path.write_text("""\
version: 1
acknowledged:
  - {cell: 'cpu/*', metric: thruput, release: 1.6.0, up_to: 5%, reason: x}
  - {cell: 'cpu/*', metric: throughput, release: 1.6.0, date: 2026-01-01, reason: x}
  - {cell: 'cpu/*', metric: throughput, date: 2026-13-01, up_to: -5%}
  - {cell: 'cpu/*', metric: '*', release: 1.6.0, reason: x}
  - {cell: 'cpu/*', metric: broke, release: 1.6.0, up_to: 5%, reason: x}
  - {cell: 'cpu/*', metric: throughput, release: 1.6.0, up_to: 10, reason: x}
  - {cell: 'cpu/*', metric: throughput, date: 2026-01-01, reason: x}
""")
    with pytest.raises(InputError) as caught:
        load_acknowledged(path)

    assert [message.removeprefix(f"{path}:") for message in caught.value.messages] == [
        "3:29: acknowledged.metric: unknown metric 'thruput'; did you mean 'throughput'?",
        "4:5: acknowledged: names its `release` or its `date`, one of the two",
        "5:5: acknowledged: 'reason' is missing",
        "5:47: acknowledged.date: '2026-13-01' is no date; write 2026-11-22",
        "5:66: acknowledged.up_to: '-5%' is no share of the baseline; write 10% or 0.1",
        "6:5: acknowledged: 'up_to' is missing: how large the known change is, such as 10%; a larger one alarms",
        "7:5: acknowledged: broke goes with a `release`, and is of no size: drop `date` and `up_to`",
        "8:64: acknowledged.up_to: '10' is no share of the baseline; write 10% or 0.1",
        "9:5: acknowledged: 'up_to' is missing: how large the known change is, such as 10%; a larger one alarms",
    ]


def entry(**more: object) -> AcknowledgedEntry:
    return AcknowledgedEntry.model_validate(
        {"cell": "cpu/lenet-*", "metric": "throughput", "release": "1.6.0", "up_to": "12%", "reason": "known"} | more
    )


@pytest.mark.parametrize(
    ("more", "shown", "covers"),
    [
        ({}, {}, True),
        ({}, {"release": "1.9.1"}, True),
        ({}, {"release": "1.9.1", "since": "1.6.0"}, False),
        ({}, {"release": "1.5.2"}, False),
        ({}, {"cell": "cpu/mlp-train-b32"}, False),
        ({"metric": "*"}, {}, True),
        ({"metric": "latency_p50"}, {}, False),
        ({"up_to": "20%"}, {"ratio": 0.85}, True),
        ({"up_to": "20%"}, {"ratio": 0.75}, False),
        ({"metric": "latency_p50", "up_to": "150%"}, {"metric": "latency_p50", "ratio": 2.4}, True),
        ({"metric": "*"}, {"metric": "broke", "ratio": 1.0}, False),
        ({"metric": "broke", "up_to": None}, {"metric": "broke", "ratio": 1.0}, True),
        ({"metric": "broke", "up_to": None}, {}, False),
        ({"release": None, "date": "2026-11-22"}, {}, True),
        ({"release": None, "date": "2026-11-21"}, {}, False),
    ],
)
def test_an_entry_covers_its_release_or_night(more: dict[str, object], shown: dict[str, object], covers: bool) -> None:
    """An acknowledging entry covers what its release or its night brought, and no other change."""
    usual = {"cell": "cpu/lenet-train-b200", "metric": "throughput", "ratio": 0.9}
    seen = {"release": "1.6.0", "since": "1.5.1", "date": "2026-11-22"}

    assert (covering([entry(**more)], ObservedChange(**usual | seen | shown)) is not None) is covers  # type: ignore[arg-type]
