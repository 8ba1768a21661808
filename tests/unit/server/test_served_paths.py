"""No path leads out of the folder of the site."""

import os
from pathlib import Path

import pytest

from orchestrator.files import open_within
from tests.unit.server.asking import ask

SECRET = "what nobody may read"


@pytest.fixture
def site(tmp_path: Path) -> Path:
    (tmp_path / "secret.js").write_text(SECRET)
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "inner.js").write_text(SECRET)
    folder = tmp_path / "site"
    for place in ("app/core.js", "data/r-0.js", "vendor/d3-7.9.2/d3.min.js", "vendor/d3-7.9.2/LICENSE"):
        (folder / place).parent.mkdir(parents=True, exist_ok=True)
        (folder / place).write_text("fine")
    (folder / "index.html").write_text("<html><head></head></html>")
    (folder / "published.json").write_text(SECRET)
    (folder / ".lock").write_text(SECRET)
    (folder / "data" / "link.js").symlink_to(tmp_path / "secret.js")
    (folder / "data" / "folder").symlink_to(tmp_path / "outside")
    return folder


@pytest.mark.parametrize("path", ["/app/core.js", "/data/r-0.js", "/vendor/d3-7.9.2/d3.min.js", "/app%2Fcore.js"])
def test_files_of_the_site_are_served(site: Path, path: str) -> None:
    answer = ask(site, path)

    assert (answer.status, answer.body) == (200, b"fine")
    assert answer.header("content-type") == "text/javascript; charset=utf-8"


@pytest.mark.parametrize(
    "path",
    [
        "/../secret.js", "/data/../../secret.js", "/data/%2e%2e/%2e%2e/secret.js", "/data/..%2f..%2fsecret.js",
        "/%2e%2e/secret.js", "//etc/passwd", "/etc/passwd", "/%2fetc%2fpasswd", "/data/%252e%252e/secret.js",
        "/data/..\\..\\secret.js", "/data/link.js", "/data/folder/inner.js", "/data", "/data/", "/published.json",
        "/.lock", "/data/.hidden", "/data/r-0.js%00.css", "/data/./r-0.js", "/data//r-0.js", "/app/core.js/",
        "/served/../front.py", "/served/%2e%2e/front.py", "/served//live.js", "/served/", "/data/" + "a" * 5000,
    ],
)  # fmt: skip
def test_no_other_path_is_served(site: Path, path: str) -> None:
    answer = ask(site, path)

    assert answer.status == 404
    assert SECRET not in answer.body.decode()


def test_absolute_path_of_a_file_is_refused(site: Path) -> None:
    answer = ask(site, str(site.parent / "secret.js"))

    assert (answer.status, SECRET in answer.body.decode()) == (404, False)


def test_live_view_is_served(site: Path) -> None:
    assert b"EventSource" in ask(site, "/served/live.js").body
    assert ask(site, "/served/live.css").header("content-type") == "text/css; charset=utf-8"


def test_page_is_served_or_awaited(site: Path) -> None:
    assert ask(site, "/").status == ask(site, "/index.html").status == 200
    assert ask(site.parent / "none", "/").status == 503


def test_unchanged_file_is_not_sent_again(site: Path) -> None:
    tag = ask(site, "/app/core.js").header("etag")
    assert tag is not None

    assert ask(site, "/app/core.js", headers={"if-none-match": tag}).status == 304


@pytest.mark.parametrize("path", ["a/../b", "../b", "/b", "a//b", "", "a/./b", "link", "folder/inner.js", "pipe", "a"])
def test_opening_within_refuses_what_leads_out(tmp_path: Path, path: str) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").write_text("b")
    (tmp_path / "link").symlink_to(tmp_path / "b")
    (tmp_path / "folder").symlink_to(tmp_path / "a")
    os.mkfifo(tmp_path / "pipe")

    with pytest.raises(OSError, match=r".") as refused:
        open_within(tmp_path, path)
    assert not isinstance(refused.value, FileNotFoundError)
    with open_within(tmp_path, "b") as file:
        assert file.read() == b"b"
