"""The gallery shows every view, and every picture of it is there."""

import re
from pathlib import Path

import pytest

from tests.documented import DOCS

pytest.importorskip("playwright")
pytest.importorskip("PIL")

from bench.documentation.gallery import PICTURES, VIEWS
from orchestrator.reporting.site.front import FRONT

PAGE = (DOCS / "gallery.md").read_text()
OF_ADDRESS = {"": "overview"}
LIVE = FRONT.parent / "served" / "live.js"


def views_of(*scripts: Path) -> set[str]:
    """Return the names under which scripts of a site register views."""
    return {name for script in scripts for name in re.findall(r"bench\.views\.(\w+) =", script.read_text())}


def test_every_view_is_drawn() -> None:
    addresses = [shown.address.partition("?")[0] for shown in VIEWS]

    assert {OF_ADDRESS.get(each, each) for each in addresses} == views_of(*(FRONT / "app").glob("*.js"))
    assert views_of(LIVE) == {"live"}


@pytest.mark.parametrize("name", [*(shown.name for shown in VIEWS), "live"])
def test_a_view_is_shown_in_light_dark_and_on_a_phone(name: str) -> None:
    for picture in (f"{name}-light.png", f"{name}-dark.png", f"{name}-phone-light.png"):
        assert f"(assets/gallery/{picture}" in PAGE
        assert (PICTURES / picture).is_file()


def test_no_picture_lies_there_unseen() -> None:
    shown = set(re.findall(r"assets/gallery/([\w-]+\.png)", PAGE))

    assert shown == {path.name for path in PICTURES.iterdir()}
