"""The gallery shows every view, and every picture of it is there."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from tests.documented import DOCS

pytest.importorskip("playwright")
pytest.importorskip("PIL")

from bench.documentation.gallery import PICTURES, VIEWS, site_views
from bench.documentation.gallery_runs import GALLERY, STUDY
from orchestrator.bundles.returns.merge import merge
from orchestrator.domain import Mode, Workload
from orchestrator.reporting.site.front import FRONT
from orchestrator.resources import ROOT
from orchestrator.results.store import Run
from orchestrator.workflows.host.host import Host
from orchestrator.workflows.site.publish import PublishOptions, publish
from tests.unit.reporting import synthetic as s
from tests.unit.reporting.site.reading import document, index_of

PAGE = (DOCS / "gallery.md").read_text()
OF_ADDRESS = {"": "overview"}
LIVE = FRONT.parent / "served" / "live.js"


def views_of(*scripts: Path) -> set[str]:
    """Return the names under which scripts of a site register views."""
    return {name for script in scripts for name in re.findall(r"bench\.views\.(\w+) =", script.read_text())}


def test_every_view_is_drawn() -> None:
    addresses = [shown.address.partition("?")[0] for shown in VIEWS]

    assert {OF_ADDRESS.get(each, each) for each in addresses} == views_of(*(FRONT / "app").rglob("*.js"))
    assert views_of(LIVE) == {"live"}


@pytest.mark.parametrize("name", [*(shown.name for shown in VIEWS), "live"])
def test_a_view_is_shown_in_light_dark_and_on_a_phone(name: str) -> None:
    for picture in (f"{name}-light.png", f"{name}-dark.png", f"{name}-phone-light.png"):
        assert f"(assets/gallery/{picture}" in PAGE
        assert (PICTURES / picture).is_file()


def test_no_picture_lies_there_unseen() -> None:
    shown = set(re.findall(r"assets/gallery/([\w-]+\.png)", PAGE))

    assert shown == {path.name for path in PICTURES.iterdir()}


def test_a_view_is_of_the_runs_that_are_there(tmp_path: Path) -> None:
    """Other runs, such as that of the study, are passed over."""
    cell = s.cell(replace(s.TORCH, name="openvino"), Workload("lenet", Mode.INFER, 32))
    for number, name in enumerate((GALLERY, GALLERY, "second-host")):
        run = Run(tmp_path / f"2026010{number + 1}T030405Z-000{number}")
        run.write_record(s.record(replace(s.plan([cell]), name=name), run.name))
    (tmp_path / "20260101T030405Z-0000" / "regression.json").write_text("{}")

    addresses = {shown.name: shown.address for shown in site_views(tmp_path)}
    assert addresses["run"] == "run?run=20260102T030405Z-0001"
    assert addresses["regression-test"] == "run?run=20260101T030405Z-0000"
    assert "a=bench-1&b=second-host" in addresses["compare-hosts"]
    assert not re.search(r"[{} ]", "".join(addresses.values()).replace("q=openvino b32", ""))


def test_the_study_is_a_published_one(tmp_path: Path) -> None:
    """It ships as a matrix, and its stored run is no smoke run: some claims are judged, each with its interval."""
    (added,) = merge(STUDY, tmp_path / "results").added
    publish(PublishOptions(output=tmp_path / "site", results=tmp_path / "results"), Host({"HOME": str(tmp_path)}))
    (study,) = document(tmp_path / "site", index_of(tmp_path / "site")["files"]["claims"])["studies"]

    assert (study["run"], study["smoke"]) == (added.run, False)
    assert study["title"] in (ROOT / "studies" / f"{STUDY.name.partition('.')[0]}.yaml").read_text()
    assert [claim["name"] for claim in study["claims"] if claim["low"] is not None]
