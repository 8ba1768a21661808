"""A foreign script that writes beside itself in a container, with a package that is installed for it."""

import json
import subprocess
from pathlib import Path

import docker
import images_support
import pytest
from whole_command import ONCE, orchestrator

from tests.envelopes import data_of

pytestmark = pytest.mark.docker
MATRIX = f"""\
version: 1
systems: {{cpu: {{cpus: 1}}}}
frameworks: [noop==1]
build: {{find_links: [wheels]}}
scripts:
  - name: logging
    file: scripts/train.py
    files: [lib/rates.py, settings.txt, kept.txt]
    workdir: copy
    packages: {{{images_support.PACKAGE}: "1.0"}}
    metrics:
      speed: {{file: train.log, pattern: 'speed: (\\S+)', unit: samples/s, better: higher, take: last}}
repeats: 2
"""
FILES = {
    "matrix.yaml": MATRIX,
    "scripts/lib/rates.py": "RATES = 10.0, 12.5\n",
    "scripts/settings.txt": "as is",
    "scripts/kept.txt": "as is",
    "scripts/train.py": """\
import importlib.metadata
import os
import pathlib

import lib.rates
import tiny_package

here = pathlib.Path(__file__).resolve().parent
print("files", sorted(path.name for path in here.rglob("*") if path.is_file()))
print("in", os.getcwd() == str(here), here)
print("package", tiny_package.__name__, importlib.metadata.version("tiny-package"))
with (here / "train.log").open("a") as log:
    for rate in lib.rates.RATES:
        log.write("speed: %s\\n" % rate)
pathlib.Path("settings.txt").write_text("changed")
print("speed: 0")
""",
}
Ran = tuple[Path, subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def ran(engine: docker.DockerClient, base_image: str, tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """Two repeats of the script in containers."""
    assert engine.ping()
    folder = tmp_path_factory.mktemp("workdirs")
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    (folder / "wheels").mkdir()
    (folder / "wheels" / images_support.WHEEL).write_bytes(images_support.wheel())
    return folder, orchestrator(folder, base_image, "run", "--runtime", "docker", "--json", *ONCE)


def repeats(folder: Path) -> list[Path]:
    """Return the folders of both repeats."""
    folders = sorted(folder.glob("results/*/noop-1-tiny-package=1.0-cpu/logging-script/[01]"))
    assert [repeat.name for repeat in folders] == ["0", "1"]
    return folders


def test_figures_come_from_the_written_file(ran: Ran) -> None:
    """Output that matches the pattern too is not read."""
    folder, ended = ran
    assert ended.returncode == 0, ended.stderr
    (cell,) = data_of(ended.stdout)["cells"]

    assert [repeat["outcome"]["status"] for repeat in cell["repeats"]] == ["ok", "ok"]
    assert [(figure["name"], figure["value"]) for figure in cell["printed"]] == [("speed", 12.5)]
    results = [json.loads((repeat / "result.json").read_text()) for repeat in repeats(folder)]
    speed = {"values": [12.5], "matches": 2, "problem": None}
    assert [result["metrics"]["speed"] for result in results] == [speed, speed]


def test_a_repeat_works_in_its_own_copy(ran: Ran) -> None:
    """The second repeat finds nothing that the first one wrote."""
    for repeat in repeats(ran[0]):
        lines = (repeat / "log.txt").read_text().splitlines()
        assert "files ['kept.txt', 'rates.py', 'settings.txt', 'train.py']" in lines
        assert "in True /io/script" in lines


def test_its_package_is_installed(ran: Ran) -> None:
    for repeat in repeats(ran[0]):
        assert "package tiny_package 1.0.post1" in (repeat / "log.txt").read_text().splitlines()


def test_only_what_was_written_is_kept(ran: Ran) -> None:
    folder, _ = ran

    for repeat in repeats(folder):
        assert sorted(path.name for path in (repeat / "script").rglob("*")) == ["settings.txt", "train.log"]
        assert (repeat / "script" / "settings.txt").read_text() == "changed"
        assert (repeat / "script" / "train.log").read_text() == "speed: 10.0\nspeed: 12.5\n"
    (frozen,) = folder.glob("results/*/scripts/logging")
    assert (frozen / "settings.txt").read_text() == "as is"
