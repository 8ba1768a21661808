"""A foreign script across the air gap: with its declared files and its dataset, and with nothing else of the hosts."""

import errno
import hashlib
import json
import subprocess
import sys
from pathlib import Path

import docker
import pytest
from far_support import FarSide
from whole_command import orchestrator

from orchestrator.bundles.format.manifest import read_manifest
from tests.datasets_in_original_formats import IDX, drawn, write_idx
from tests.envelopes import data_of

pytestmark = pytest.mark.docker
MATRIX = """
version: 1
name: scripted
systems: {cpu: {cpus: 1}}
frameworks: [noop==1]
data_folder: data
datasets:
  signs: {format: idx, image: [1, 16, 16], classes: 5, training: 60, testing: 20}
scripts:
  - name: lm
    file: scripts/train.py
    files: [lib/*.py]
    data: signs
    arguments: ["{data}"]
    metrics: {speed: {pattern: 'speed: (.*)', unit: samples/s, better: higher}}
repeats: 1
"""
SCRIPT = """import os
import sys
import lib.util

print("data", *sorted(os.listdir(sys.argv[1])))
print("speed:", lib.util.SPEED)
for top, _, names in os.walk("/script"):
    for name in names:
        print("seen", os.path.join(top, name))
try:
    open("/script/planted", "w")
except OSError as error:
    print("read-only", error.errno)
"""
EXPORT = ("export", "--offline", "-f", "m.yaml", "--no-orchestrator", "--data", "signs")


@pytest.fixture(scope="module")
def near(engine: docker.DockerClient, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A host with a script, its module and its dataset, and a secret beside them."""
    folder = tmp_path_factory.mktemp("near")
    files = {
        "m.yaml": MATRIX, "scripts/train.py": SCRIPT, "scripts/lib/util.py": "SPEED = 7\n", "scripts/.env": "password",
    }  # fmt: skip
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    image = (1, 16, 16)
    write_idx(folder / "data" / "signs", drawn(60, image, 5, 1), drawn(20, image, 5, 9), packed=False)
    return folder


def _far(far: FarSide, place: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = (sys.executable, "-m", "orchestrator", *arguments)
    return far.run(*command, folder=place, environment=far.environment(ORCHESTRATOR_IDLE_WAIT="0"))


def test_script_crosses_the_gap_with_its_files(far: FarSide, near: Path, base_image: str, tmp_path: Path) -> None:
    """A script crosses the gap with its files and its dataset."""
    made = orchestrator(near, base_image, *EXPORT, "-o", "scripted")
    assert made.returncode == 0, made.stderr

    loaded = _far(far, tmp_path, "load", str(near / "scripted"))
    assert loaded.returncode == 0, loaded.stderr
    assert "script lm: train.py, lib/util.py (" in loaded.stderr
    ended = _far(far, tmp_path, "run", "--plan", "scripted", "--json")

    assert ended.returncode == 0, ended.stderr
    (cell,) = data_of(ended.stdout)["cells"]
    assert [figure["value"] for figure in cell["printed"]] == [7.0]
    (log,) = tmp_path.glob("results/*/noop-1-cpu/lm-script/0/log.txt")
    lines = log.read_text().splitlines()
    assert sorted(line for line in lines if line.startswith("seen")) == [
        "seen /script/lib/util.py", "seen /script/train.py",
    ]  # fmt: skip
    assert " ".join(["data", *sorted(IDX)]) in lines
    assert f"read-only {errno.EROFS}" in lines


def test_script_from_the_far_host_is_not_mounted(far: FarSide, near: Path, base_image: str, tmp_path: Path) -> None:
    """The bundle of a forger: every sum is right, and the plan names a dotfile of the far host."""
    made = orchestrator(near, base_image, *EXPORT, "-o", "forged")
    assert made.returncode == 0, made.stderr
    (far.home / "secrets").mkdir(exist_ok=True)
    (far.home / "secrets" / ".env").write_text("password")
    forge(near / "forged", str(far.home / "secrets" / ".env"))
    assert _far(far, tmp_path, "load", str(near / "forged")).returncode == 0

    ended = _far(far, tmp_path, "run", "--plan", "scripted")

    assert ended.returncode == 2
    assert "nothing is run from there" in ended.stderr
    assert not (tmp_path / "results").exists()


def forge(bundle: Path, path: str) -> None:
    """Name a script by its place, as plans of earlier versions did, and make every sum agree."""
    document = json.loads((bundle / "plan.json").read_text())
    for cell in document["cells"]:
        cell["script"] = {"name": "lm", "path": path, "metrics": []}
    text = json.dumps(document).encode()
    (bundle / "plan.json").write_bytes(text)
    manifest = json.loads((bundle / "manifest.json").read_text())
    entry = next(file for file in manifest["files"] if file["path"] == "plan.json")
    entry.update(size_bytes=len(text), sha256=hashlib.sha256(text).hexdigest())
    sealed = read_manifest(json.dumps(manifest).encode(), "manifest.json")
    (bundle / "manifest.json").write_bytes(sealed.encoded())
    (bundle / "SHA256SUMS").write_bytes(sealed.sums())
