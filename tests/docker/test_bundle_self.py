"""The orchestrator that a bundle brings along, on a host without internet: from its wheels, and without any Python."""

import json
import os
import random
import shutil
import socket
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import docker
import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from docker_images import built
from far_support import FarSide

from orchestrator import __version__
from orchestrator.build_settings import BuildSettings
from orchestrator.bundles.format import layout
from orchestrator.bundles.program import own_image_archive, own_wheel
from orchestrator.runtimes.environments import Workshop
from orchestrator.workflows.inputs.planned_matrix import site_settings
from tests.documented import blocks
from tests.envelopes import data_of

pytestmark = pytest.mark.docker
PYTHON = f"{sys.version_info[0]}.{sys.version_info[1]}"
BUNDLE = Path("offline_bundle/air")
MATRIX = """
version: 1
name: air
systems: {cpu: {cpus: 1}}
frameworks: [noop==1]
models: [{name: mlp, batch_size: 32}]
modes: [train]
repeats: 1
parity: false
"""
TOOLS = (
    "sh", "basename", "cat", "chmod", "cmp", "cut", "dirname", "docker", "env", "find", "grep", "id", "ln", "mkdir",
    "mktemp", "mv", "rm", "sed", "sha256sum", "sort", "ssh-keygen", "stat", "tr", "uname",
)  # fmt: skip
"""All of a server that has no Python."""


def orchestrator(*arguments: str | Path, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run the orchestrator of this environment, as on the host with internet."""
    command = [sys.executable, "-m", "orchestrator", *map(str, arguments)]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def near(engine: docker.DockerClient, base_image: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder after the section of the page that signs a bundle."""
    folder = tmp_path_factory.mktemp("near")
    (folder / "air.yaml").write_text(MATRIX)
    script = "set -eu\n" + "".join(blocks("offline.md", "Who made it", "sh")).replace("3.11", PYTHON)
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    environment = os.environ | {"PATH": path, "ORCHESTRATOR_BASE_IMAGE": base_image}
    done = subprocess.run(
        ["sh", "-c", script], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert f"wheels for Python {PYTHON}: installed with no index, and run" in done.stderr
    assert "wheels for Python 3.14: " in done.stderr
    assert "signed by bundles@example.org" in done.stderr
    assert 'Good "framework-bench-bundle" signature for bundles@example.org' in done.stdout
    return folder


@pytest.fixture
def far_bundle(near: Path, far: FarSide) -> Path:
    """The bundle and the file of signers, carried to the other side."""
    place = far.home / "carried"
    if not place.exists():
        shutil.copytree(near / BUNDLE, place / "air")
        shutil.copy(near / "allowed-signers", place / "allowed")
    return place / "air"


def bare(far: FarSide, *command: str | Path, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run a command there with the tools of a small server on its PATH, and nothing else."""
    return far.run("env", f"PATH={bare_path(far)}", "ORCHESTRATOR_IDLE_WAIT=0", *command, folder=folder)


def bare_path(far: FarSide) -> str:
    folder = far.home / "tools"
    folder.mkdir(exist_ok=True)
    for tool in TOOLS:
        if not (folder / tool).exists():
            (folder / tool).symlink_to(str(shutil.which(tool)))
    return str(folder)


def measured(run_folder: Path) -> dict[str, Any]:
    (result,) = run_folder.rglob("result.json")
    found: dict[str, Any] = json.loads(result.read_text())
    return found


def the_run(results: Path) -> Path:
    (run,) = (path.parent for path in results.glob("*/run.json"))
    return run


def test_without_python_an_image_runs_the_plan(far: FarSide, far_bundle: Path) -> None:
    """Without a Python, the program is installed as an image and runs the plan."""
    work = far.home / "work, with a comma: and a colon"
    work.mkdir()

    installed = bare(far, "sh", far_bundle / "install.sh", "--allowed-signers", far_bundle.parent / "allowed")

    assert installed.returncode == 0, installed.stderr
    assert "no Python here" in installed.stderr
    assert installed.stderr.count("signed by bundles@example.org") == 2, "once by the script, once by what it installed"
    command = far.home / ".local/bin/orchestrator"
    ran = bare(far, command, "run", "--plan", "air", "--results", "../results", folder=work)
    assert ran.returncode == 0, ran.stderr
    run = the_run(far.home / "results")
    host = json.loads((run / "run.json").read_text())["host"]
    assert host["hostname"] == socket.gethostname()
    assert host["cpus"] == json.loads(_facts())["cpus"]
    assert measured(run)["schema"] == 1
    assert {path.stat().st_uid for path in run.rglob("*")} == {os.getuid()}
    shown = bare(far, command, "report", "--results", "../results", folder=work)
    assert "noop" in shown.stdout
    client = far.client()
    assert client.containers.list(all=True) == []
    client.close()


@pytest.mark.slow
def test_without_python_a_delta_uses_the_other_bundle(near: Path, empty_far: FarSide, base_image: str) -> None:
    """Without a Python, a delta takes what it leaves out from the bundle next to it."""
    options = ("--base-image", base_image, "-f", "air.yaml", "--python", PYTHON, "--python", "3.14")
    made = orchestrator("export", "--offline", *options, "--since", BUNDLE, "-o", "delta", folder=near)
    assert made.returncode == 0, made.stderr
    stick = empty_far.home / "the stick"
    for place in (BUNDLE, Path("delta")):
        shutil.copytree(near / place, stick / place.name)
    assert not (stick / "delta" / layout.OWN_IMAGE).exists()
    (stick / "lost+found").mkdir(mode=0)

    installed = bare(empty_far, "sh", stick / "delta" / "install.sh")

    assert installed.returncode == 0, installed.stderr
    assert "1 images loaded, 0 were there already" in installed.stderr
    client = empty_far.client()
    (own,) = (image for image in client.images.list() if any("bench/orchestrator:" in tag for tag in image.tags))
    client.close()
    assert f"image_id='{own.id}'" in (empty_far.home / ".local/bin/orchestrator").read_text().splitlines()


def _facts() -> str:
    lines = ("import json", "from orchestrator.devices import host_facts, inventory", "facts = host_facts(inventory())")
    code = "; ".join([*lines, "print(json.dumps(facts))"])
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


def test_orchestrator_is_confined_to_cpus_of_its_caller(far: FarSide, far_bundle: Path) -> None:
    """Installed as an image, the program is confined to the CPUs of the process that calls it."""
    options = ("--container", "--no-load", "--to", far.home / "own")
    assert far.run("sh", far_bundle / "install.sh", *options).returncode == 0

    said = far.run("taskset", "--cpu-list", "0", far.home / "own/bin/orchestrator", "doctor", "--json")

    findings = {one["check"]: one["found"] for one in data_of(said.stdout)["findings"]}
    assert "of 1 CPU" in findings["load"]


def test_foreign_bundle_is_neither_installed_nor_loaded(
    near: Path, far: FarSide, far_bundle: Path, tmp_path: Path
) -> None:
    """A bundle of somebody else is neither installed nor loaded."""
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", tmp_path / "other"], check=True)
    (tmp_path / "allowed").write_text(f"them@example.org {(tmp_path / 'other.pub').read_text()}")
    signers = ("--allowed-signers", str(tmp_path / "allowed"))

    installed = far.run("sh", far_bundle / "install.sh", "--to", tmp_path / "to", *signers)
    verified = orchestrator("verify", near / BUNDLE, *signers, folder=tmp_path)

    assert installed.returncode == 2
    assert not (tmp_path / "to").exists()
    assert verified.returncode == 2
    assert "does not name" in verified.stderr


def test_wheels_are_installed_without_an_index(far: FarSide, far_bundle: Path, tmp_path: Path) -> None:
    """The wheels are installed for a Python that has no index."""
    options = ("--python", sys.executable, "--to", tmp_path / "to", "--no-load")

    installed = far.run("sh", far_bundle / "install.sh", *options)

    assert installed.returncode == 0, installed.stderr
    said = far.run(tmp_path / "to/bin/orchestrator", "--version")
    assert said.stdout.strip() == __version__
    (tmp_path / "matrix.yaml").write_text(MATRIX)
    assert far.run(tmp_path / "to/bin/orchestrator", "plan", folder=tmp_path).returncode == 0


def test_every_image_has_its_bill_and_provenance(near: Path) -> None:
    """Every image of a bundle has its bill of materials and its provenance."""
    bundle = near / BUNDLE
    (image,) = json.loads((bundle / layout.MANIFEST).read_text())["images"]
    name = image["reference"].replace("/", "_").replace(":", "_")

    bill = (bundle / layout.SBOM / f"{name}.cdx.json").read_text()
    provenance = json.loads((bundle / layout.PROVENANCE / f"{name}.json").read_text())

    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(bill) is None
    urls = [component["purl"] for component in json.loads(bill)["components"]]
    assert any(url.startswith("pkg:deb/debian/libc6@") for url in urls)
    assert any(url.startswith("pkg:pypi/numpy@") for url in urls)
    assert provenance["subject"][0]["digest"]["sha256"] == image["config"].removeprefix("sha256:")


def test_the_image_of_the_orchestrator_has_them_too(near: Path, engine: docker.DockerClient) -> None:
    (bill,) = (near / BUNDLE / layout.SBOM).glob("bench_orchestrator_*")
    (provenance,) = (near / BUNDLE / layout.PROVENANCE).glob("bench_orchestrator_*")
    lines = (near / BUNDLE / layout.INSTALL).read_text().splitlines()
    own = next(line for line in lines if line.startswith("image="))

    document = json.loads(bill.read_text())
    urls = [component["purl"] for component in document["components"]]
    assert f"pkg:pypi/framework-bench-orchestrator@{__version__}" in urls
    assert any(url.startswith("pkg:deb/debian/openssh-client@") for url in urls)
    statement = json.loads(provenance.read_text())
    image = engine.images.get(own.removeprefix("image=").strip("'"))
    assert statement["subject"][0]["digest"] == {"sha256": str(image.id).removeprefix("sha256:")}
    assert document["metadata"]["component"]["version"] == image.id
    (base,) = statement["predicate"]["buildDefinition"]["resolvedDependencies"]
    known = [name for one in engine.api.images() for name in (one["Id"], *(one["RepoDigests"] or ()))]
    assert any(name.endswith(f"sha256:{base['digest']['sha256']}") for name in known)


def test_bill_of_an_image_agrees_with_pip(near: Path, engine: docker.DockerClient) -> None:
    """The bill of an image names what pip in that image names."""
    (image,) = json.loads((near / BUNDLE / layout.MANIFEST).read_text())["images"]
    (bill,) = (near / BUNDLE / layout.SBOM).glob("bench_noop_*")
    code = "import importlib.metadata as m; print(*sorted(f'{d.name}=={d.version}' for d in m.distributions()))"

    listed = engine.containers.run(
        image["reference"], ["-c", code], entrypoint="python", network_mode="none", remove=True
    )

    parts = [part for part in json.loads(bill.read_text())["components"] if part["purl"].startswith("pkg:pypi/")]
    inside = [part for part in parts if "opt/environment" in part["properties"][0]["value"]]
    assert sorted(f"{part['name']}=={part['version']}" for part in inside) == listed.decode().split()


def test_the_same_export_again_is_byte_identical(near: Path, base_image: str) -> None:
    pythons = ["--python", PYTHON, "--python", "3.14"]
    done = orchestrator(
        "export",
        "--offline",
        *pythons,
        "--base-image",
        base_image,
        "-f",
        "air.yaml",
        "--sign",
        "bundle-key",
        "-o",
        "again",
        folder=near,
    )

    assert done.returncode == 0, done.stderr
    assert (near / "again" / layout.SUMS).read_bytes() == (near / BUNDLE / layout.SUMS).read_bytes()
    assert (near / "again" / layout.SIGNATURE).read_bytes() == (near / BUNDLE / layout.SIGNATURE).read_bytes()
    shutil.rmtree(near / "again")


def test_rebuilt_wheel_equals_the_installed_one(near: Path, tmp_path: Path) -> None:
    """The wheel made of an installation is the one that was installed."""
    (carried,) = (near / BUNDLE / layout.WHEELS).glob("framework_bench*.whl")
    site = tmp_path / "site"
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--target", site, carried]
    subprocess.run(pip, check=True, capture_output=True)
    code = (
        "import pathlib, os; from orchestrator.bundles.program import own_wheel;"
        "from orchestrator.build_settings import BuildSettings;"
        "from orchestrator.runtimes.environments import Workshop;"
        "own_wheel.write(pathlib.Path('.'), Workshop(pathlib.Path('.'), BuildSettings(), os.environ))"
    )

    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True, env=os.environ | {"PYTHONPATH": str(site)})

    assert (tmp_path / carried.name).read_bytes() == carried.read_bytes()
    with ZipFile(carried) as archive:
        assert {"orchestrator/_data/images/orchestrator/install.sh", "orchestrator/_data/matrix.yaml"} <= set(
            archive.namelist()
        )


def test_wheel_of_a_checkout_is_reproducible(tmp_path: Path) -> None:
    workshop = Workshop(tmp_path / "cache", site_settings(BuildSettings(), None, os.environ), os.environ)
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()

    one, two = (own_wheel.write(tmp_path / name, workshop) for name in ("one", "two"))

    assert one.read_bytes() == two.read_bytes()


def test_an_image_is_saved_the_same_every_time(engine: docker.DockerClient, tmp_path: Path) -> None:
    files = {name: random.Random(name).randbytes(300_000) for name in ("below", "above")}
    identity = built(engine, "FROM scratch\nCOPY below /below\nCOPY above /above\n", "bench.test-saved", files)
    for name in ("one", "two"):
        own_image_archive.save(engine, identity, tmp_path / name, threading.Event())
    engine.images.remove(identity, force=True)

    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
