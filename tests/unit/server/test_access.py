"""The right to read: names of hosts, pages from elsewhere, tokens and cookies."""

from pathlib import Path

import pytest

from orchestrator.server.access import Access, is_loopback
from tests.unit.server.asking import OPEN, ask

TOKEN = "correct-horse-battery"
GUARDED = Access("0.0.0.0", 8765, TOKEN)


@pytest.fixture
def site(tmp_path: Path) -> Path:
    (tmp_path / "index.html").write_text("<html><head></head></html>")
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "r-0.js").write_text("fine")
    return tmp_path


@pytest.mark.parametrize("host", ["localhost", "localhost:8765", "127.0.0.1:8765", "[::1]:8765", "LOCALHOST.", "[::1]"])
def test_own_names_are_answered(site: Path, host: str) -> None:
    assert ask(site, "/", headers={"host": host}).status == 200


@pytest.mark.parametrize("host", ["", "evil.example", "localhost.evil.example:8765", "127.0.0.1.evil.example", "[::2]"])
def test_a_name_from_elsewhere_is_refused(site: Path, host: str) -> None:
    """Such as one that an attacker leads to this machine."""
    for path in ("/", "/data/r-0.js", "/events"):
        assert ask(site, path, headers={"host": host}).status == 421


def test_another_loopback_address_answers_to_itself() -> None:
    assert Access("127.0.0.9", 1).answers_to("127.0.0.9:1")
    assert Access("::1", 1).answers_to("[::1]:1")


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "PATCH"])
def test_there_is_only_reading(site: Path, method: str) -> None:
    assert ask(site, "/data/r-0.js", method=method).status == 405


@pytest.mark.parametrize("origin", ["cross-site", "same-site"])
def test_pages_from_elsewhere_load_no_data(site: Path, origin: str) -> None:
    """Data are scripts, which a browser would else run in any page."""
    headers = {"sec-fetch-site": origin, "sec-fetch-mode": "no-cors"}

    assert ask(site, "/data/r-0.js", headers=headers).status == 403
    assert ask(site, "/", headers={"sec-fetch-site": origin, "sec-fetch-mode": "navigate"}).status == 200


@pytest.mark.parametrize("path", ["/", "/data/r-0.js", "/nothing", "/events?token=wrong"])
def test_every_answer_has_the_strict_headers(site: Path, path: str) -> None:
    answer = ask(site, path, GUARDED if "token" in path else OPEN)

    policy = answer.header("content-security-policy")
    assert policy is not None
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert answer.header("cross-origin-resource-policy") == "same-origin"
    assert answer.header("x-content-type-options") == "nosniff"


@pytest.mark.parametrize(
    "path", ["/", "/?token=", "/?token=wrong", "/data/r-0.js", "/events", "/?token=correct-horse-batter"]
)
def test_without_the_token_nothing_is_read(site: Path, path: str) -> None:
    answer = ask(site, path, GUARDED)

    assert (answer.status, answer.header("set-cookie")) == (401, None)


def test_the_token_becomes_a_cookie(site: Path) -> None:
    cookie = ask(site, f"/?token={TOKEN}", GUARDED, {"host": "any.name"}).header("set-cookie")
    assert cookie is not None

    assert TOKEN not in cookie
    pair, *attributes = cookie.split("; ")
    assert set(attributes) == {"Path=/", "HttpOnly", "SameSite=Strict"}
    assert ask(site, "/data/r-0.js", GUARDED, {"cookie": f"other=1; {pair}"}).status == 200
    assert ask(site, "/data/r-0.js", GUARDED, {"cookie": f"{pair}0"}).status == 401
    other = Access("0.0.0.0", 8765, "another-token-of-it")
    assert ask(site, "/data/r-0.js", other, {"cookie": pair}).status == 401


def test_the_cookie_is_no_token(site: Path) -> None:
    assert ask(site, f"/?token={GUARDED.cookie_value}", GUARDED).status == 401


def test_a_token_with_other_letters_is_wrong(site: Path) -> None:
    assert ask(site, "/?token=%C3%BC%C3%BC%C3%BC", GUARDED, {"cookie": f"{GUARDED.cookie}=%fc"}).status == 401


@pytest.mark.parametrize(("address", "is_local"), [
    ("127.0.0.1", True), ("127.0.0.9", True), ("::1", True), ("localhost", True), ("0.0.0.0", False), ("::", False),
    ("192.168.1.2", False), ("example.org", False), ("", False),
])  # fmt: skip
def test_addresses_that_others_reach_are_known(address: str, is_local: bool) -> None:
    assert is_loopback(address) is is_local
