"""A bundle carries scripts with their declared files, and its plan names no path of a host."""

import hashlib
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from orchestrator.bundles.format import layout
from orchestrator.bundles.format.sources import open_source
from orchestrator.bundles.read.loaded_bundle import LoadedBundle
from orchestrator.bundles.read.stored_files import check_stored_files, store
from orchestrator.bundles.read.verify import open_bundle
from orchestrator.domain import Cell, Environment, Framework, ImageSpec, Mode, Plan, System, Workload
from orchestrator.errors import InputError
from orchestrator.results.files import frozen as frozen_files
from orchestrator.user_files import Script, ScriptFile
from tests.unit.bundles.small_bundles import an_engine, content, exported, resealed, verified

FILES = {"train.py": b"import lib.util\n", "lib/util.py": b"UTIL = 1\n"}
Change = Callable[[dict[str, Any]], None]


def a_plan(script: Script, release: str = "1") -> Plan:
    """One cell that runs a script, with the image that small bundles have."""
    framework = Framework("small", release, dockerfile="/home/me/secret-project/Dockerfile")
    image = ImageSpec("bench/small", f"{release}-cpu", "cpu", framework, Environment("noop", "3.11"))
    workload = Workload(script.name, Mode.SCRIPT, 1)
    return Plan(
        "small",
        1,
        (image,),
        (Cell("small-1-cpu/lm-script", framework, System("cpu"), workload, image.name, script=script),),
    )


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """The script's folder, with a neighbour that nobody has declared."""
    for name, text in {**FILES, ".env": b"password"}.items():
        (tmp_path / "scripts" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "scripts" / name).write_bytes(text)
    return tmp_path / "scripts"


@pytest.fixture
def script() -> Script:
    files = tuple(ScriptFile(name, len(text), hashlib.sha256(text).hexdigest()) for name, text in FILES.items())
    return Script("lm", (), "train.py", files)


@pytest.fixture
def bundle(home: Path, script: Script, tmp_path: Path) -> Path:
    """A whole bundle with one script."""
    exported(an_engine("1"), tmp_path / "bundle", ["1"], plan=a_plan(script), frozen=((script, home),))
    return tmp_path / "bundle"


def kept(place: Path, bundles: Path) -> LoadedBundle:
    opened = open_bundle(open_source(place))
    sources = check_stored_files(opened, place, bundles, Event())
    return store(bundles, opened, sources, lambda image: image.config, "2026-01-02T03:04:05Z")


def forged(bundle: Path, change: Change) -> None:
    """Change the plan of a bundle, and make every sum agree, as a forger would."""
    document = json.loads((bundle / layout.PLAN).read_text())
    change(document)
    text = json.dumps(document).encode()
    (bundle / layout.PLAN).write_bytes(text)

    def seal(manifest: dict[str, Any]) -> None:
        entry = next(file for file in manifest["files"] if file["path"] == layout.PLAN)
        entry.update(size_bytes=len(text), sha256=hashlib.sha256(text).hexdigest())

    resealed(bundle, seal)


def of_script(**fields: Any) -> Change:
    return lambda document: document["cells"][0]["script"].update(fields)


def of_file(**fields: Any) -> Change:
    return lambda document: document["cells"][0]["script"]["files"][1].update(fields)


def test_a_bundle_holds_the_declared_files_alone(bundle: Path, tmp_path: Path) -> None:
    verified(bundle)
    found = kept(bundle, tmp_path / "bundles")

    carried = {name: text for name, text in content(bundle).items() if name.startswith("scripts/")}
    assert carried == {f"scripts/lm/{name}": text for name, text in FILES.items()}
    assert content(found.folder / "scripts" / "lm") == FILES
    assert b"password" not in b"".join(content(bundle).values())


def test_a_carried_plan_names_no_host_path(bundle: Path, tmp_path: Path) -> None:
    plan = (bundle / layout.PLAN).read_text()

    assert str(tmp_path) not in plan
    assert "secret-project" not in plan
    assert {cell.framework.dockerfile for cell in kept(bundle, tmp_path / "bundles").plan().cells} == {"Dockerfile"}


def test_a_delta_leaves_out_unchanged_scripts(bundle: Path, home: Path, script: Script, tmp_path: Path) -> None:
    second = tmp_path / "second"
    manifest = exported(
        an_engine("1"), second, ["1"], since=bundle, plan=a_plan(script), frozen=((script, home),)
    )  # fmt: skip

    assert sorted(file.path for file in manifest.left_out) == [f"scripts/lm/{name}" for name in sorted(FILES)]
    found = kept(second, tmp_path / "bundles")
    assert content(found.folder / "scripts" / "lm") == FILES


def test_a_script_changed_since_planning_is_not_carried(home: Path, script: Script, tmp_path: Path) -> None:
    (home / "lib" / "util.py").write_text("UTIL = 2\n")

    with pytest.raises(InputError, match=r"lib/util\.py: changed since it was planned for the script lm; try again"):
        exported(an_engine("1"), tmp_path / "bundle", ["1"], plan=a_plan(script), frozen=((script, home),))

    assert not (tmp_path / "bundle" / layout.MANIFEST).exists()


@pytest.mark.parametrize("size_bytes", [3, 10**6])
def test_a_file_of_another_size_is_not_frozen(home: Path, script: Script, tmp_path: Path, size_bytes: int) -> None:
    """A file that grows while it is read does not fill the disk."""
    (home / "train.py").write_bytes(b"x" * size_bytes)

    with pytest.raises(InputError, match="changed since it was planned"):
        frozen_files.freeze(tmp_path / "run", ((script, home),))

    assert not (tmp_path / "run" / "scripts" / "lm" / "train.py").exists()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (of_file(path="../../../../etc/passwd"), "leads out of its folder"),
        (of_file(path="/etc/passwd"), "leads out of its folder"),
        (of_file(path=".env"), "scripts/lm/.env is not the file that the plan means"),
        (of_file(path="lib/../../x"), "leads out of its folder"),
        (of_file(path="train.py/x"), "two of its files take the same place"),
        (of_file(path="train.py"), "two of its files take the same place"),
        (of_file(size_bytes=10**12), "more than 67,108,864 bytes"),
        (of_file(size_bytes=-1), "has no size, or no SHA-256"),
        (of_file(sha256="x"), "has no size, or no SHA-256"),
        (of_file(sha256="0" * 64), "scripts/lm/lib/util.py is not the file that the plan means"),
        (of_script(name="../lm"), "has a name that no matrix could give it"),
        (of_script(name="/etc"), "has a name that no matrix could give it"),
        (of_script(name="other"), "scripts/other/train.py is not the file that the plan means"),
        (of_script(entry=".env"), "its file '.env' is not at the top of its files"),
        (of_script(entry="lib/util.py"), "its file 'lib/util.py' is not at the top of its files"),
        (of_script(entry=""), "its file '' is not at the top of its files"),
        (of_script(files=[]), "its file 'train.py' is not at the top of its files"),
        (
            of_script(path="/root/.ssh/id_ed25519"),
            "names a place on a host, '/root/.ssh/id_ed25519', besides its files",
        ),
        (of_script(environment=[["PATH", "/evil"]]), "environment: PATH is set by the runtime"),
        (
            lambda document: document.update(data=[{
                "name": "mnist", "format": "idx", "folder": "/root/.ssh", "image": [1, 28, 28], "classes": 10,
                "training": 1, "testing": 1, "files": [],
            }]),
            "the plan names a folder of a host, '/root/.ssh', for 'mnist'",
        ),
    ],
)  # fmt: skip
def test_a_plan_with_host_paths_is_not_loaded(bundle: Path, tmp_path: Path, change: Change, said: str) -> None:
    """A plan that names a place on the host is not loaded."""
    forged(bundle, change)

    with pytest.raises(InputError) as caught:
        kept(bundle, tmp_path / "bundles")

    assert said in str(caught.value)
    assert not (tmp_path / "bundles").exists()


def test_an_earlier_plans_script_is_not_run(bundle: Path, tmp_path: Path) -> None:
    """A plan of an earlier version is read, and its script is not run."""

    def earlier(document: dict[str, Any]) -> None:
        old = {"name": "lm", "path": "/srv/work/train.py", "metrics": [], "arguments": [], "environment": []}
        document["cells"][0]["script"] = old

    forged(bundle, earlier)
    plan = kept(bundle, tmp_path / "bundles").plan()

    assert plan.cells[0].script == Script("lm", (), path="/srv/work/train.py")
    with pytest.raises(InputError, match=r"names a place on a host, '/srv/work/train\.py'.*nothing is run"):
        frozen_files.refuse_paths(plan, "export it again")


def test_two_scripts_of_one_name_must_be_one(bundle: Path, tmp_path: Path) -> None:
    def another(document: dict[str, Any]) -> None:
        first = document["cells"][0]
        document["cells"].append({**first, "id": "small-1-cpu/x", "script": {**first["script"], "arguments": ["--x"]}})

    forged(bundle, another)

    with pytest.raises(InputError, match="script 'lm' is described twice, each time in another way"):
        kept(bundle, tmp_path / "bundles")


def test_a_frozen_script_that_was_changed_is_told(home: Path, script: Script, tmp_path: Path) -> None:
    frozen_files.freeze(tmp_path, ((script, home),))
    frozen_files.check(tmp_path, (script,))
    copy = tmp_path / "scripts" / "lm" / "train.py"
    copy.unlink()
    copy.symlink_to(home / "train.py")
    (tmp_path / "scripts" / "lm" / "lib" / "util.py").unlink()

    with pytest.raises(InputError) as caught:
        frozen_files.check(tmp_path, (script,))

    assert [message.partition(": ")[2] for message in caught.value.messages] == [
        "is not what it was when the run began; bring it back, or begin a new run"
    ] * 2


def test_scripts_of_a_plan_are_each_named_once(script: Script) -> None:
    plan = a_plan(script)

    assert frozen_files.scripts_of(replace(plan, cells=plan.cells * 3)) == (script,)
