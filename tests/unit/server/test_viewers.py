"""The viewers by which the cost of being looked at is measured ask for what the page asks for."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from bench.site.viewers import METRIC, Viewer, events
from orchestrator.reporting.site.front import FRONT, SCRIPTS, SERVED, STYLE, index_name
from orchestrator.workflows.host.host import Host
from orchestrator.workflows.site.publish import PublishOptions, publish
from tests.unit.cli.stored_runs import stored_run
from tests.unit.server.asking import ask


def published(folder: Path) -> str:
    """Bring the site of a folder up to date, and return the name of its index."""
    publish(PublishOptions(output=folder / "site", results=folder / "results"), Host({"HOME": str(folder)}))
    return index_name((folder / "site" / "index.html").read_text())


@pytest.fixture
def asked() -> list[str]:
    return []


@pytest.fixture
def fetch(tmp_path: Path, asked: list[str]) -> Callable[[str], str | None]:
    """Ask the application for a path, and write down that it was asked for."""

    def fetched(path: str) -> str | None:
        asked.append(path)
        answer = ask(tmp_path / "site", path)
        return answer.body.decode() if answer.status == 200 else None

    return fetched


def test_a_viewer_loads_the_page_and_all_its_files(
    tmp_path: Path, fetch: Callable[[str], str | None], asked: list[str]
) -> None:
    stored_run(tmp_path / "results")
    index = published(tmp_path)
    Viewer(fetch).open()

    paths = [path.partition("?")[0] for path in asked]
    column = re.findall(rf'"{METRIC}":"(m-[0-9a-f]+)"', (tmp_path / "site" / "data" / f"{index}.js").read_text())[0]
    files = [*(f"app/{name}.js" for name in SCRIPTS), STYLE, *(f"served/{path.name}" for path in SERVED.iterdir())]
    assert paths[0] == "/"
    assert sorted(paths[1:]) == sorted(f"/{file}" for file in (*files, f"data/{index}.js", f"data/{column}.js"))
    assert {FRONT / file for file in files[: len(SCRIPTS)]} <= set(FRONT.rglob("*.js"))


def test_a_viewer_loads_new_figures_once(tmp_path: Path, fetch: Callable[[str], str | None], asked: list[str]) -> None:
    stored_run(tmp_path / "results")
    before = published(tmp_path)
    viewer = Viewer(fetch)
    viewer.open()
    stored_run(tmp_path / "results", "20260103T030405Z-abcd")
    after = published(tmp_path)
    asked.clear()

    heard = [
        viewer.hear("state", {"index": before, "runs": []}),
        viewer.hear("run", {"run": "20260101T000000Z-0001"}),
        *(viewer.hear("published", {"index": index}) for index in ("", after, after)),
    ]

    assert before != after
    assert heard == [False, False, False, True, False]
    assert asked[0] == f"/data/{after}.js"
    assert [path[:8] for path in asked] == ["/data/i-", "/data/m-"]


def test_an_index_that_was_replaced_meanwhile_is_passed_over(
    tmp_path: Path, fetch: Callable[[str], str | None], asked: list[str]
) -> None:
    stored_run(tmp_path / "results")
    published(tmp_path)
    viewer = Viewer(fetch)
    viewer.open()
    asked.clear()

    assert viewer.hear("published", {"index": "i-0000000000000000"})
    assert asked == ["/data/i-0000000000000000.js"]


def test_events_are_read_as_they_are_sent() -> None:
    sent = b'retry: 2000\n\nid: a-1\nevent: run\ndata: {"run":"x: y"}\n\n'
    later = b": still here\n\nid: a-2\nevent: gone\ndata: {}\n\n"

    assert list(events((sent + later).splitlines(keepends=True))) == [("run", {"run": "x: y"}), ("gone", {})]
