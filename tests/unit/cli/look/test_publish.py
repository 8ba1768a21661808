"""The command that publishes a site."""

import json
from pathlib import Path

import pytest

from orchestrator.clusters.site import Site
from orchestrator.workflows.cluster.run import run
from tests.unit.cli.conftest import Program
from tests.unit.cli.stored_runs import stored_run
from tests.unit.reporting.site.reading import document, index_of
from tests.unit.workflows.cluster.small_cluster import SmallCluster

CORPUS = Path(__file__).parents[3] / "guard" / "corpus"


def test_a_site_is_written_and_brought_up_to_date(command: Program, tmp_path: Path) -> None:
    stored_run(tmp_path / "results", "20260102T030405Z-aaaa")
    code, out, error = command("publish", "-o", "site")
    assert (code, out) == (0, "")
    assert error.splitlines()[0].startswith("1 run, 1 of them read; ")
    assert error.splitlines()[1] == "page: site/index.html"

    stored_run(tmp_path / "results", "20260103T030405Z-bbbb")
    code, out, error = command("publish", "-o", "site", "--json")

    data = json.loads(out)["data"]
    assert (code, data["runs"], data["read"], data["page"]) == (0, 2, 1, "site/index.html")
    assert data["size_bytes"] == sum(
        path.stat().st_size
        for path in (tmp_path / "site").rglob("*")
        if path.is_file() and path.name not in {"published.json", ".lock"}
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--results", "nowhere"), "nowhere: no such folder; `orchestrator run` makes one"),
        (("--nights", "results"), "--nights results: holds no nights; name the `reports` folder"),
        (("-o", "results"), "results: holds 20260102T030405Z-aaaa, and no site; name an empty or a new folder"),
        (("--acknowledged", "none.yaml"), "none.yaml"),
    ],
)
def test_a_mistake_is_one_line(command: Program, tmp_path: Path, arguments: tuple[str, ...], said: str) -> None:
    stored_run(tmp_path / "results", "20260102T030405Z-aaaa")

    code, out, error = command("publish", *(() if "-o" in arguments else ("-o", "site")), *arguments)

    assert (code, out) == (2, "")
    assert said in error
    assert len(error.splitlines()) == 1


def test_searches_and_nights_are_found(command: Program, tmp_path: Path) -> None:
    code, _, error = command(
        "publish", "-o", "site", "--results", str(CORPUS / "searches"), "--nights", str(CORPUS / "nightly")
    )

    assert code == 0
    assert "a search is left out" in error
    files = index_of(tmp_path / "site")["files"]
    searches = document(tmp_path / "site", files["searches"])["searches"]
    assert len(searches) == 7
    assert any(kind == "change" for search in searches for kind, *_ in search["spans"])
    (watch,) = document(tmp_path / "site", files["nights"])["watches"]
    assert watch["nights"]


def test_runs_of_a_cluster_are_published_by_node(command: Program, tmp_path: Path) -> None:
    small = SmallCluster(tmp_path)
    result = run(small.options(), Site(), small.host())

    code, _, error = command("publish", "-o", "site")

    assert (code, error.splitlines()[1].split(",")[0]) == (0, "2 runs")
    names = index_of(tmp_path / "site")["runs"]
    assert all(name.startswith(f"{result.cluster.name}/parts/") for name in names["run"])
    assert names["cluster"]["of"] == [result.cluster.name]
