"""A night is posted, signed, tried again, and given up without a word too many."""

import hashlib
import hmac
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from orchestrator.build_settings import BuildSettings
from orchestrator.regression.nightly.notify import SIGNATURE_HEADER, message, post
from orchestrator.regression.releases.package_index import proxies_for
from tests.documented import blocks
from tests.unit.regression.nightly.night_records import a_change, a_night
from tests.unit.regression.releases.index_server import dripping


@contextmanager
def receiver(*statuses: int, location: str = "") -> Iterator[tuple[str, list[tuple[dict[str, str], bytes]]]]:
    """Answer with these statuses in turn, the last one for ever; keep what was posted."""
    left, posted = list(statuses), []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            posted.append((dict(self.headers), self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(left.pop(0) if len(left) > 1 else left[0])
            if location:
                self.send_header("Location", location)
            self.end_headers()

        def log_message(self, *arguments: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/hook", posted
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def delivered(url: str, attempts: int = 3, key: str = ""):  # type: ignore[no-untyped-def]
    return post(url, b"{}", key=key, timeout_s=120.0, attempts=attempts, pause=lambda _: None)


def test_a_body_is_signed_with_the_key() -> None:
    with receiver(204) as (url, posted):
        found = delivered(url, key="s3cret")

    assert (found.delivered, found.attempts) == (True, 1)
    assert posted[0][0][SIGNATURE_HEADER] == "sha256=" + hmac.new(b"s3cret", b"{}", hashlib.sha256).hexdigest()


def test_what_fails_is_tried_again() -> None:
    with receiver(503, 429, 200) as (url, posted):
        found = delivered(url)

    assert (found.delivered, found.attempts, len(posted)) == (True, 3, 3)


@pytest.mark.parametrize(("status", "attempts"), [(500, 3), (404, 1), (302, 3)])
def test_what_is_refused_is_told_and_raises_nothing(status: int, attempts: int) -> None:
    with receiver(status) as (url, posted):
        found = delivered(url.replace("://", "://user:s3cret@") + "?token=abc")

    assert (found.delivered, found.reason, len(posted)) == (False, f"answers {status}", attempts)
    assert "s3cret" not in found.url
    assert "abc" not in found.url


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_redirect_is_not_followed(status: int) -> None:
    """It could lead the night's report, and its signature, to somebody else."""
    with receiver(200) as (elsewhere, led), receiver(status, location=elsewhere) as (url, posted):
        found = delivered(url, attempts=1, key="s3cret")

    assert (found.delivered, found.reason, len(posted)) == (False, f"answers {status}", 1)
    assert led == []


def test_the_environment_names_no_proxy_for_a_post(monkeypatch: pytest.MonkeyPatch) -> None:
    with receiver(204) as (proxy, through), receiver(204) as (url, posted):
        for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, proxy)
        for name in ("no_proxy", "NO_PROXY"):
            monkeypatch.delenv(name, raising=False)
        found = delivered(url)

    assert (found.delivered, len(posted), through) == (True, 1, [])


def test_no_password_of_this_host_is_sent_along(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login me password hunter2\n")
    (tmp_path / "netrc").chmod(0o600)
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    with receiver(204) as (url, posted):
        delivered(url)

    ((headers, _),) = posted
    assert "Authorization" not in headers


def test_a_post_respects_proxy_and_no_proxy() -> None:
    """A post goes through the proxy of this site, except to a host that no_proxy names."""
    with receiver(204) as (proxy, posted):
        settings = BuildSettings(proxies=(("http_proxy", proxy), ("no_proxy", "inside.example")))
        through, beside = "http://chat.example/hook", "http://inside.example/hook"
        found = post(through, b"{}", timeout_s=120.0, attempts=1, proxies=proxies_for(through, settings))

    assert (found.delivered, [headers["Host"] for headers, _ in posted]) == (True, ["chat.example"])
    assert proxies_for(beside, settings) == {}


def test_nobody_there_is_told() -> None:
    found = delivered("http://127.0.0.1:1/hook", attempts=2)

    assert (found.delivered, found.attempts, found.reason) == (False, 2, "does not answer (ConnectionError)")


def test_a_receiver_that_drips_is_left_in_time() -> None:
    with dripping(b"HTTP/1.1 200 OK\r\nX-Drip: ") as url:
        began = time.monotonic()
        found = post(url, b"{}", timeout_s=0.3, attempts=2, pause=lambda _: None)
        took_s = time.monotonic() - began

    assert (found.delivered, found.attempts) == (False, 2)
    # The second one where this host was too busy to send a byte in time.
    assert found.reason in {"does not answer (TimeoutError)", "does not answer (ReadTimeout)"}
    assert took_s < 120  # it would drip without end


def test_the_page_shows_what_is_posted() -> None:
    (text,) = blocks("nightly.md", "What is posted", "json")
    shown, sent = json.loads(text), message(a_night(changes=(a_change(),)), "/somewhere/index.html")

    assert list(shown) == list(sent)
    assert shown["releases"][0].keys() == sent["releases"][0].keys()  # type: ignore[index]
    assert shown["alarms"][0].keys() == sent["alarms"][0].keys()  # type: ignore[index]
    assert shown["changes"][0].keys() == sent["changes"][0].keys()  # type: ignore[index]
