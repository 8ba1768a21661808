"""The home folder is that of the host's variables, as every other setting is."""

from pathlib import Path

import pytest

from orchestrator.build_settings import BuildSettings
from orchestrator.workflows.host.host import Host
from orchestrator.workflows.inputs.planned_matrix import site_settings

INDEX = "https://index.example/simple"


@pytest.fixture(autouse=True)
def home_of_the_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "process"
    monkeypatch.setenv("HOME", str(home))
    return home


def test_own_folders_are_in_the_named_home(tmp_path: Path, home_of_the_process: Path) -> None:
    host, unnamed = Host({"HOME": str(tmp_path / "named")}), Host({})

    assert host.cache.parent == tmp_path / "named" / ".cache"
    assert host.bundles.is_relative_to(tmp_path / "named" / ".local" / "share")
    assert unnamed.cache.parent == home_of_the_process / ".cache"


def test_pip_settings_are_those_of_the_named_home(tmp_path: Path) -> None:
    pip = tmp_path / "named" / ".config" / "pip" / "pip.conf"
    pip.parent.mkdir(parents=True)
    pip.write_text(f"[global]\nindex-url = {INDEX}\n")

    assert site_settings(BuildSettings(), None, {"HOME": str(tmp_path / "named")}).pip_index == INDEX
