"""Asking indexes and find-links places, those that do not answer among them."""

import json
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from orchestrator.build_settings import BuildSettings
from orchestrator.regression.releases import package_index
from orchestrator.regression.releases.package_index import offered_releases
from tests.unit.regression.releases.index_server import Answer, IndexServer, dripping, index_server


@pytest.fixture
def server() -> Iterator[IndexServer]:
    with index_server() as served:
        yield served


def listing(*versions: str) -> Answer:
    files = [{"filename": f"mxnet-{version}-py3-none-any.whl"} for version in versions]
    return Answer(json.dumps({"files": files}).encode())


def versions(settings: BuildSettings, **more: float) -> list[str]:
    return [release.version for release in offered_releases("MXNet", settings, **more).releases]


def test_every_index_and_find_links_place_is_asked(server: IndexServer, tmp_path: Path) -> None:
    server.answers = {
        "/simple/mxnet/": listing("1.5.1"),
        "/more/mxnet/": listing("1.6.0", "1.5.1"),
        "/links.html": Answer(b"<a href=mxnet-1.7.0.tar.gz>mxnet-1.7..&gt;</a>", "text/html"),
    }
    (tmp_path / "mxnet-1.8.0-py3-none-any.whl").touch()
    settings = BuildSettings(
        pip_index=f"{server.url}/simple/",
        extra_indexes=(f"{server.url}/more",),
        find_links=(f"{server.url}/links.html", str(tmp_path)),
    )

    assert versions(settings) == ["1.5.1", "1.6.0", "1.7.0", "1.8.0"]
    assert offered_releases("mxnet", settings).problems == ()


def test_no_index_leaves_the_find_links_places(server: IndexServer, tmp_path: Path) -> None:
    server.answers = {"/simple/mxnet/": listing("1.5.1")}
    (tmp_path / "mxnet-1.8.0-py3-none-any.whl").touch()
    settings = BuildSettings(pip_index=f"{server.url}/simple", find_links=(str(tmp_path),), no_index=True)

    assert versions(settings) == ["1.8.0"]
    assert server.asked == []


def test_an_index_in_a_folder_is_read(tmp_path: Path) -> None:
    (tmp_path / "mxnet").mkdir()
    (tmp_path / "mxnet" / "index.html").write_text("<a href=mxnet-1.7.0.tar.gz>mxnet-1.7..&gt;</a>")

    assert versions(BuildSettings(pip_index=tmp_path.as_uri())) == ["1.7.0"]


def test_an_unknown_distribution_is_a_problem(server: IndexServer) -> None:
    """A distribution that no index and no find-links place knows is a problem."""
    found = offered_releases("MXNet", BuildSettings(pip_index=server.url))

    assert found.releases == ()
    assert found.problems == ("no package index and no find-links place of this site has a release of mxnet",)


def test_a_silent_index_leaves_the_others_heard(server: IndexServer) -> None:
    """A silent index is named as a problem, and the other indexes are still heard."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        gone = f"http://127.0.0.1:{taken.getsockname()[1]}"
    server.answers = {"/mxnet/": listing("1.5.1")}
    found = offered_releases("mxnet", BuildSettings(pip_index=server.url, extra_indexes=(f"{gone}/simple",)))

    assert [release.version for release in found.releases] == ["1.5.1"]
    assert found.problems == (f"{gone}/simple/mxnet/: does not answer: Connection refused",)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (Answer(status=500), "status 500"),
        (Answer(status=401), "status 401"),
        (Answer(b"<html>log in</html>", "application/octet-stream"), "no page of a package index"),
        (Answer(b"nonsense"), "broken JSON"),
    ],
)
def test_a_bad_answer_is_one_problem(server: IndexServer, answer: Answer, words: str) -> None:
    """An answer that is no listing of an index is a problem in one line."""
    server.answers = {"/mxnet/": answer}
    found = offered_releases("mxnet", BuildSettings(pip_index=server.url))

    assert (found.releases, len(found.problems)) == ((), 1)
    assert words in found.problems[0]


def test_an_index_that_never_ends_is_left(server: IndexServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(package_index, "MAX_BYTES", 100_000)
    server.answers = {"/mxnet/": Answer(pieces=lambda: iter(lambda: b"x" * 4096, b""))}

    (problem,) = offered_releases("mxnet", BuildSettings(pip_index=server.url)).problems

    assert "more than 100000 bytes" in problem


@pytest.mark.parametrize("beginning", [b"HTTP/1.1 200 OK\r\nX-Drip: ", b"HTTP/1.1 200 OK\r\n\r\n"])
def test_an_index_that_drips_is_left_in_time(beginning: bytes) -> None:
    with dripping(beginning) as url:
        began = time.monotonic()
        (problem,) = offered_releases("mxnet", BuildSettings(pip_index=url), timeout_s=0.5).problems
        took_s = time.monotonic() - began

    assert problem == f"{url}/mxnet/: no whole answer within 0.5 s"
    assert took_s < 120  # it would drip without end


def test_a_mute_index_is_left_in_time() -> None:
    """An index that never answers is left after the time limit."""
    with socket.create_server(("127.0.0.1", 0)) as mute:
        url = f"http://127.0.0.1:{mute.getsockname()[1]}"
        began = time.monotonic()
        (problem,) = offered_releases("mxnet", BuildSettings(pip_index=url), timeout_s=0.6).problems

    assert "answer" in problem
    assert time.monotonic() - began < 120  # it would never answer


def test_credentials_are_sent_and_never_shown(server: IndexServer) -> None:
    server.answers = {"/mxnet/": Answer(status=403)}
    url = server.url.replace("://", "://reader:s3cret@")
    (problem,) = offered_releases("mxnet", BuildSettings(pip_index=url)).problems

    assert server.asked[0][1]["Authorization"].startswith("Basic ")
    assert "s3cret" not in problem
    assert "reader" not in problem


def test_a_proxy_is_asked_except_for_direct_hosts(server: IndexServer) -> None:
    """A proxy is asked, except for hosts that are reached directly."""
    server.answers = {"http://index.invalid/mxnet/": listing("1.5.1"), "/mxnet/": listing("1.6.0")}
    proxies = (("http_proxy", server.url), ("no_proxy", "127.0.0.1"))

    assert versions(BuildSettings(pip_index="http://index.invalid", proxies=proxies)) == ["1.5.1"]
    assert versions(BuildSettings(pip_index=server.url, proxies=proxies)) == ["1.6.0"]


def test_a_missing_certificate_bundle_is_a_problem() -> None:
    settings = BuildSettings(pip_index="https://127.0.0.1:1", ca_bundle="/nowhere/ca.pem")

    (problem,) = offered_releases("mxnet", settings).problems

    assert "/nowhere/ca.pem" in problem


def test_another_scheme_is_a_problem() -> None:
    (problem,) = offered_releases("mxnet", BuildSettings(pip_index="git+ssh://host/x")).problems

    assert "only http, https and file" in problem
