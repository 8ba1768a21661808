"""The wheels of releases that all walks share, and a cache in which environments stay."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from orchestrator.resources import ROOT
from tests.otlp_spans import receiver
from tests.required import missing
from tests.walks.fake_releases import write_wheels
from tests.walks.pages import WALKS
from tests.walks.place import Place

OF_HOST = ("curl", "jq", "make", "man", "zstd")
"""Programs that pages call, and that not every host has."""


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for the wheels and the cache."""
    folder: Path = tmp_path_factory.mktemp("shared")
    write_wheels(folder / "wheels")
    return folder


@pytest.fixture
def walked(shared: Path, tmp_path: Path) -> Callable[[str], None]:
    """Walk a page in a folder of its own. Every command that it shows has to be run, and to end as the page says."""

    def walk(name: str) -> None:
        for program in OF_HOST:
            if not shutil.which(program) and any(f"{program} " in each for each in WALKS[name].scripts(ROOT / name)):
                missing(f"{program} is not installed, which the page calls", "BENCH_REQUIRE_ENGINE")
        (tmp_path / "folder").mkdir()
        with receiver() as (address, received):
            place = Place(tmp_path / "folder", shared / "wheels", shared / "cache", address)
            calls = place.walk(ROOT / name, WALKS[name])

        assert [call.arguments for call in calls] == WALKS[name].expected(ROOT / name)
        assert any(request.resource_spans for request in received) is WALKS[name].posts

    return walk
