"""`plan`, `build` and `run` where a plan came in a bundle."""

import hashlib
import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from docker.errors import ImageNotFound

from orchestrator.bundles.read.registry import register
from orchestrator.bundles.returns.collect import collect
from orchestrator.devices import host_facts, inventory
from orchestrator.domain import Mode, Workload
from orchestrator.results.records import BundleOrigin, plan_to_json
from orchestrator.results.results_folder import runs
from orchestrator.results.store import Run
from orchestrator.runtimes import BundledImage, not_on_engine
from orchestrator.user_files import Script, ScriptFile
from orchestrator.workflows import build
from orchestrator.workflows.inputs import bundle_plans
from orchestrator.workflows.measure import runtime
from tests.envelopes import data_of
from tests.unit.bundles.read.carried_bundle import FILES, PLAN, a_record, opened
from tests.unit.bundles.returns.returning_runs import a_run
from tests.unit.cli.conftest import Program
from tests.unit.reporting import synthetic as s

CELL = PLAN.cells[0].id


@pytest.fixture
def loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A host on which a bundle was loaded, and whose engine does not answer."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/no.sock")
    folder = tmp_path / "data" / "framework-bench" / "bundles"
    register(folder, a_record(), opened())
    return folder


def test_a_bundles_plan_is_shown_by_name(loaded: Path, command: Program) -> None:
    code, shown, said = command("plan", "--plan", "carried")

    assert (code, said) == (0, "")
    assert CELL in shown
    assert "nothing is built, the images came with the bundle" in shown


@pytest.mark.parametrize("name", ["plan", "build", "run"])
def test_a_loaded_bundle_is_never_taken_unasked(loaded: Path, command: Program, tmp_path: Path, name: str) -> None:
    code, shown, said = command(name)

    assert (code, shown) == (2, "")
    assert said == (
        "no matrix.yaml here, and none is named: --file FILE takes a matrix; "
        f"for the plan of the loaded bundle: orchestrator {name} --plan carried\n"
    )
    assert not (tmp_path / "results").exists()


def test_of_several_bundles_the_error_names_each(loaded: Path, command: Program) -> None:
    register(loaded, a_record(name="later", loaded_at="2026-11-22T00:00:00+00:00"), opened())

    code, _, said = command("run")

    assert code == 2
    assert said.endswith("the plan of a loaded bundle: orchestrator run --plan NAME, where NAME is carried or later\n")


def test_a_local_matrix_goes_before_a_bundle(loaded: Path, command: Program, tmp_path: Path) -> None:
    (tmp_path / "matrix.yaml").write_text("version: 1\nframeworks: [noop==1]\nmodels: [mlp]\nmodes: [infer]\n")

    assert "noop-1-cpu/mlp-infer" in command("plan")[1]
    assert CELL in command("plan", "--plan", "carried")[1]


def test_a_part_of_the_plan_can_be_selected(loaded: Path, command: Program) -> None:
    code, shown, _ = command("plan", "--plan", "carried", "--select", "torch-*", "--json")
    assert code == 0
    assert [cell["id"] for cell in data_of(shown)["cells"]] == [CELL]

    code, _, said = command("plan", "--plan", "carried", "--select", "mxnet-*")
    assert code == 2
    assert said.splitlines()[-1].startswith("--select 'mxnet-*' matches no cell; there is torch-2.13.0-cpu")


def test_its_matrix_can_be_printed(loaded: Path, command: Program) -> None:
    assert "name: carried" in command("plan", "--plan", "carried", "--long")[1]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("plan", "--plan", "other"), "no bundle 'other': loaded are carried"),
        (("plan", "--plan", "carried", "-f", "matrix.yaml"), "leave one out"),
        (
            ("run", "--plan", "carried", "--base-image", "x"),
            "--base-image: images and models came with the bundle; leave it out",
        ),
        (
            ("run", "--plan", "carried", "--models", "x"),
            "--models: images and models came with the bundle; leave it out",
        ),
        (
            ("build", "--plan", "carried", "--render", "x"),
            "--render: the images of the bundle carried are built already",
        ),
        (
            ("run", "--plan", "carried", "--runtime", "venv"),
            "--runtime venv: the plan of the bundle carried came with images",
        ),
        (
            ("run", "--plan", "carried", "--runtime", "host"),
            "--runtime host: the plan of the bundle carried came with images",
        ),
    ],
)
def test_settings_of_a_bundle_cannot_be_changed(
    loaded: Path, command: Program, tmp_path: Path, arguments: tuple[str, ...], said: str
) -> None:
    """An option that asks for something that the bundle has settled is refused."""
    code, _, errors = command(*arguments)

    assert code == 2
    assert said in errors.splitlines()[-1]
    assert not (tmp_path / "results").exists()


@pytest.mark.parametrize("name", ["build", "run"])
def test_a_plan_needs_an_engine_to_run(loaded: Path, command: Program, tmp_path: Path, name: str) -> None:
    """Without an engine there is nothing to run the plan of a bundle on."""
    code, _, errors = command(name, "--plan", "carried")

    assert code == 3
    assert "no container engine answers" in errors
    assert not (tmp_path / "results").exists()


class _Engine:
    """An engine that has some images, says nothing of what it can do, and closes."""

    api = SimpleNamespace(base_url="http://engine", get=lambda _: SimpleNamespace(headers={}))

    def info(self) -> dict[str, str]:
        return {}

    def close(self) -> None:
        pass

    def version(self) -> dict[str, str]:
        return {"Version": "20.10"}


@pytest.mark.parametrize("name", ["build", "run"])
def test_missing_images_are_named_before_measuring(
    loaded: Path, command: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Images that are missing are named with the remedy before anything is measured."""
    monkeypatch.setattr(runtime, "connect", lambda _: _Engine())
    monkeypatch.setattr(build, "connect", lambda _: _Engine())
    monkeypatch.setattr(bundle_plans, "not_on_engine", lambda _, images: tuple(images))
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0, 1})  # the system has two CPUs

    code, _, errors = command(name, "--plan", "carried")

    assert code == 3
    assert errors.splitlines()[-1] == (
        "image bench/torch:2.13.0-cpu (bench/torch:2.13.0-cpu-0123) is not on this engine; "
        "it came with the bundle carried: bring it with orchestrator load BUNDLE"
    )
    assert not (tmp_path / "results").exists()


def test_a_script_on_a_host_is_never_run(loaded: Path, command: Program, tmp_path: Path) -> None:
    """A bundle of an earlier version, or a forged one: its folder would be shown to whatever the bundle brings."""
    (tmp_path / "secrets").mkdir()
    (tmp_path / "secrets" / ".env").write_text("password")
    script = Script("train", (), path=str(tmp_path / "secrets" / ".env"))
    cell = replace(PLAN.cells[0], id="torch/train-script", script=script, workload=Workload("train", Mode.SCRIPT, 1))
    document = plan_to_json(replace(PLAN, cells=(PLAN.cells[0], cell)))
    a_bundle_of(loaded, document)

    code, _, errors = command("run", "--plan", "forged")

    assert code == 2
    assert errors.splitlines()[-1] == (
        f"script train: the plan names a place on a host, '{tmp_path}/secrets/.env', and not the files themselves; "
        "nothing is run from there: export the matrix again, or leave its cells out with --exclude '*-script'"
    )
    assert not (tmp_path / "results").exists()
    assert "script train: .env (from a place on another host, never run)" in command("plan", "--plan", "forged")[2]
    assert command("run", "--plan", "forged", "--exclude", "*-script")[0] == 3, (
        "the other cells need an engine, and nothing else"
    )


def test_the_scripts_of_a_bundle_are_shown(loaded: Path, command: Program) -> None:
    text = b"print('speed 1')"
    files = (ScriptFile("train.py", len(text), hashlib.sha256(text).hexdigest()),)
    script = Script("train", (), "train.py", files)
    cell = replace(PLAN.cells[0], id="torch/train-script", script=script, workload=Workload("train", Mode.SCRIPT, 1))
    a_bundle_of(loaded, plan_to_json(replace(PLAN, cells=(cell,))), **{"scripts/train/train.py": text})

    assert "script train: train.py (16 bytes)" in command("plan", "--plan", "forged")[2]
    document = data_of(command("plan", "--plan", "forged", "--json")[1])
    assert document["scripts"] == [
        {
            "name": "train",
            "entry": "train.py",
            "files": [{"path": "train.py", "size_bytes": 16, "sha256": files[0].sha256}],
        }
    ]
    assert [cell["script"] for cell in document["cells"]] == ["train.py"]


def test_a_bundles_run_resumes_only_with_that_bundle(loaded: Path, command: Program, tmp_path: Path) -> None:
    """A run of a bundle goes on only on a host that has loaded that bundle."""
    record = s.record(PLAN)
    run = Run(tmp_path / "results" / "20260102T030405Z-abcd")
    origin = BundleOrigin(name="carried", manifest_sha256="f" * 64)
    run.write_record(record.model_copy(update={"run": run.name, "runtime": "docker", "bundle": origin, "host": {}}))

    code, _, errors = command("run", "--resume", "latest")

    assert code == 2
    assert "came with the bundle carried (manifest sha256:ffffffffffff…), which is not loaded here" in errors


def test_a_run_of_another_host_is_not_resumed(loaded: Path, command: Program, tmp_path: Path) -> None:
    run = Run(tmp_path / "results" / "20260102T030405Z-abcd")
    run.write_record(s.record(PLAN).model_copy(update={"run": run.name, "runtime": "docker"}))

    code, _, errors = command("run", "--resume", "latest")

    assert code == 2
    assert errors.startswith("20260102T030405Z-abcd was begun on bench-1 (Example CPU, not ")
    assert errors.endswith("go on there; numbers of two hosts do not mix in one run\n")


def test_a_merged_run_is_never_resumed(loaded: Path, command: Program, tmp_path: Path) -> None:
    """A run that was merged is not taken up, whatever this host is."""
    run = a_run(tmp_path / "far", host=host_facts(inventory()) | {"hostname": "far7"})
    collect([run], tmp_path / "r.tar.zst", "0.1.0")
    assert command("merge", "r.tar.zst")[0] == 0

    code, _, errors = command("run", "--resume", "latest")

    assert code == 2
    assert f"{run.name} was begun on far7 (it was merged): go on there; numbers of two hosts do not mix" in errors
    again = collect(runs(tmp_path / "results"), tmp_path / "again.tar.zst", "0.1.0")
    assert again.path.read_bytes() == (tmp_path / "r.tar.zst").read_bytes()


def test_images_are_known_by_their_id_alone() -> None:
    """Images are known by their id, whatever their names."""
    image = BundledImage("bench/x:1-cpu", "bench/x:1-cpu-0123", "sha256:config")

    def engine(*known: str) -> Any:
        def inspect(reference: str) -> dict[str, Any]:
            if reference not in known:
                raise ImageNotFound(reference)
            return {"Id": "sha256:config" if "sha256:config" in known else "sha256:other"}

        return SimpleNamespace(api=SimpleNamespace(inspect_image=inspect))

    assert not_on_engine(engine("sha256:config"), [image]) == ()
    assert not_on_engine(engine("bench/x:1-cpu-0123", "bench/x:1-cpu"), [image]) == (image,)


def a_bundle_of(folder: Path, plan: dict[str, Any], matrix: bytes = FILES["matrix.yaml"], **more: bytes) -> None:
    """Register a bundle with this plan, as a forger could write it."""
    files = {**FILES, "plan.json": json.dumps(plan).encode(), "matrix.yaml": matrix, **more}
    register(folder, a_record(files, name="forged", loaded_at="2027-01-01T00:00:00+00:00"), opened(files))


@pytest.mark.parametrize("name", ["plan", "run"])
@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"timeout_s": 1e308}, "timeout_s: 1e+308 is not above 0"),
        ({"timeout_s": -1.0}, "timeout_s: -1 is not above 0"),
        ({"repeats": 10**15}, "repeats: 1,000,000,000,000,000 is not from 1 to 10,000"),
        ({"id": "report/index.html"}, "is no id of a cell"),
    ],
)
def test_a_carried_plan_has_the_matrix_bounds(
    loaded: Path, command: Program, name: str, fields: dict[str, Any], said: str
) -> None:
    """A carried plan has the bounds of a matrix."""
    document = plan_to_json(PLAN)
    document["cells"][0] |= fields
    a_bundle_of(loaded, document)

    code, _, errors = command(name, "--plan", "forged")

    assert code == 2
    assert said in errors.splitlines()[-1]
    assert not Path("results").exists()


DATASET = "{format: idx, image: [1, 28, 28], classes: 10, training: 10, testing: 10}"


@pytest.mark.parametrize(
    ("dataset", "matrix", "said"),
    [
        ("nowhere", "{}", "no dataset is called 'nowhere'"),
        ("../../etc", f"{{../../etc: {DATASET}}}", "'../../etc' is no name of a dataset"),
        ("mine", "{mine: {format: idx}}", "datasets of the matrix: 'mine'"),
    ],
)
def test_a_carried_dataset_names_no_other_folder(
    loaded: Path, command: Program, dataset: str, matrix: str, said: str
) -> None:
    document = plan_to_json(PLAN)
    document["cells"][0]["workload"]["dataset"] = dataset
    a_bundle_of(loaded, document, f"version: 1\ndatasets: {matrix}\n".encode())

    code, _, errors = command("run", "--plan", "forged", "--data", ".")

    assert code == 2
    assert said in errors.splitlines()[-1]
    assert not Path("results").exists()
