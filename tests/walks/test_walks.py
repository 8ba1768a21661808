"""Every command of the pages that have a walk is run, in its order, in a scratch folder."""

from pathlib import Path

import pytest

from orchestrator.resources import ROOT
from tests.walks.fake_releases import write_wheels
from tests.walks.pages import WALKS
from tests.walks.place import Place


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with wheels of releases, and a cache in which environments stay."""
    folder: Path = tmp_path_factory.mktemp("shared")
    write_wheels(folder / "wheels")
    return folder


@pytest.mark.parametrize("name", WALKS)
def test_walk_ends_well(name: str, shared: Path, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    walk, page = WALKS[name], ROOT / name
    calls = Place(tmp_path / "folder", shared / "wheels", shared / "cache").walk(page, walk)

    assert [call.arguments for call in calls] == walk.expected(page)
