"""`plan`, `build` and `run` where a plan came in a bundle."""

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from docker.errors import ImageNotFound

from orchestrator.brought import Script
from orchestrator.bundles.collect import collect
from orchestrator.bundles.loaded import register
from orchestrator.cli import build, carried, runtime
from orchestrator.devices import host_facts, inventory
from orchestrator.domain import Mode, Workload
from orchestrator.results.plans import plan_to_json
from orchestrator.results.store import Run, runs
from orchestrator.runtimes import GivenImage, absent
from tests.unit.bundles.carried_bundle import FILES, PLAN, a_record, opened
from tests.unit.bundles.returning_runs import a_run
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


def test_without_a_matrix_the_plan_of_the_loaded_bundle_is_meant_and_it_is_said(loaded: Path, command: Program) -> None:
    code, shown, said = command("plan")

    assert code == 0
    assert CELL in shown
    assert "nothing is built, the images came with the bundle" in shown
    assert "this is the plan of the bundle carried, loaded 2026-11-21T15:30:00+00:00" in said


def test_of_several_bundles_the_one_loaded_last_is_meant(loaded: Path, command: Program) -> None:
    register(loaded, a_record(name="later", loaded_at="2026-11-22T00:00:00+00:00"), opened())

    _, _, said = command("plan")

    assert "the plan of the bundle later" in said
    assert "--plan takes another: carried" in said


def test_a_matrix_that_is_here_goes_before_a_bundle(loaded: Path, command: Program, tmp_path: Path) -> None:
    (tmp_path / "matrix.yaml").write_text("version: 1\nframeworks: [noop==1]\nmodels: [mlp]\nmodes: [infer]\n")

    assert "noop-1-cpu/mlp-infer" in command("plan")[1]
    assert CELL in command("plan", "--plan", "carried")[1]


def test_a_part_of_the_plan_can_be_asked_for(loaded: Path, command: Program) -> None:
    code, shown, _ = command("plan", "--select", "torch-*", "--json")
    assert code == 0
    assert [cell["id"] for cell in json.loads(shown)["cells"]] == [CELL]

    code, _, said = command("plan", "--select", "mxnet-*")
    assert code == 2
    assert said.splitlines()[-1].startswith("--select 'mxnet-*' matches no cell; there is torch-2.13.0-cpu")


def test_its_matrix_can_be_printed(loaded: Path, command: Program) -> None:
    assert "name: carried" in command("plan", "--long")[1]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("plan", "--plan", "other"), "no bundle 'other': loaded are carried"),
        (("plan", "--plan", "carried", "-f", "matrix.yaml"), "leave one out"),
        (("run", "--base-image", "x"), "--base-image: images and models came with the bundle; leave it out"),
        (("run", "--models", "x"), "--models: images and models came with the bundle; leave it out"),
        (("build", "--render", "x"), "--render: the images of the bundle carried are built already"),
        (("run", "--runtime", "venv"), "--runtime venv: the plan of the bundle carried came with images"),
        (("run", "--runtime", "host"), "--runtime host: the plan of the bundle carried came with images"),
    ],
)
def test_what_a_bundle_has_settled_cannot_be_asked_for(
    loaded: Path, command: Program, tmp_path: Path, arguments: tuple[str, ...], said: str
) -> None:
    code, _, errors = command(*arguments)

    assert code == 2
    assert said in errors.splitlines()[-1]
    assert not (tmp_path / "results").exists()


@pytest.mark.parametrize("name", ["build", "run"])
def test_without_an_engine_there_is_nothing_to_run_it_on(
    loaded: Path, command: Program, tmp_path: Path, name: str
) -> None:
    code, _, errors = command(name)

    assert code == 3
    assert "no container engine answers" in errors
    assert not (tmp_path / "results").exists()


class _Engine:
    """An engine that has some images, and closes."""

    def close(self) -> None:
        pass

    def version(self) -> dict[str, str]:
        return {"Version": "20.10"}


@pytest.mark.parametrize("name", ["build", "run"])
def test_images_that_are_missing_are_named_with_the_remedy_before_anything_is_measured(
    loaded: Path, command: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(runtime, "connect", lambda _: _Engine())
    monkeypatch.setattr(build, "connect", lambda _: _Engine())
    monkeypatch.setattr(carried, "absent", lambda _, images: tuple(images))

    code, _, errors = command(name)

    assert code == 3
    assert errors.splitlines()[-1] == (
        "image bench/torch:2.13.0-cpu (bench/torch:2.13.0-cpu-0123) is not on this engine; "
        "it came with the bundle carried: bring it with orchestrator load BUNDLE"
    )
    assert not (tmp_path / "results").exists()


def test_a_script_that_is_not_on_this_host_is_named_before_anything_is_measured(
    loaded: Path, command: Program, tmp_path: Path
) -> None:
    script = Script("train", "/srv/scripts/train.py", ())
    cell = replace(PLAN.cells[0], id="torch/train-script", script=script, workload=Workload("train", Mode.SCRIPT, 1))
    files = {**FILES, "plan.json": json.dumps(plan_to_json(replace(PLAN, cells=(cell,)))).encode()}
    register(loaded, a_record(files, name="scripts", loaded_at="2027-01-01T00:00:00+00:00"), opened(files))

    code, _, errors = command("run")

    assert code == 3
    assert "script /srv/scripts/train.py: is not here" in errors


def test_a_run_of_a_bundle_goes_on_only_where_that_bundle_is(loaded: Path, command: Program, tmp_path: Path) -> None:
    record = s.record(PLAN)
    run = Run(tmp_path / "results" / "20260102T030405Z-abcd")
    origin = carried.BundleOrigin(name="carried", manifest_sha256="f" * 64)
    run.write_record(record.model_copy(update={"run": run.name, "runtime": "docker", "bundle": origin, "host": {}}))

    code, _, errors = command("run", "--resume", "latest")

    assert code == 2
    assert "came with the bundle carried (manifest sha256:ffffffffffff…), which is not loaded here" in errors


def test_a_run_of_another_host_is_not_taken_up_here(loaded: Path, command: Program, tmp_path: Path) -> None:
    run = Run(tmp_path / "results" / "20260102T030405Z-abcd")
    run.write_record(s.record(PLAN).model_copy(update={"run": run.name, "runtime": "docker"}))

    code, _, errors = command("run", "--resume", "latest")

    assert code == 2
    assert errors.startswith("20260102T030405Z-abcd was begun on bench-1 (Example CPU, not ")
    assert errors.endswith("go on there; numbers of two hosts do not mix in one run\n")


def test_a_run_that_was_merged_is_not_taken_up_whatever_this_host_is(
    loaded: Path, command: Program, tmp_path: Path
) -> None:
    run = a_run(tmp_path / "far", host=host_facts(inventory()) | {"hostname": "far7"})
    collect([run], tmp_path / "r.tar.zst", "0.1.0")
    assert command("merge", "r.tar.zst")[0] == 0

    code, _, errors = command("run", "--resume", "latest")

    assert code == 2
    assert f"{run.name} was begun on far7 (it was merged): go on there; numbers of two hosts do not mix" in errors
    again = collect(runs(tmp_path / "results"), tmp_path / "again.tar.zst", "0.1.0")
    assert again.path.read_bytes() == (tmp_path / "r.tar.zst").read_bytes()


def test_images_are_known_by_their_id_whatever_their_names() -> None:
    image = GivenImage("bench/x:1-cpu", "bench/x:1-cpu-0123", "sha256:config")

    def engine(*known: str) -> Any:
        def inspect(reference: str) -> dict[str, Any]:
            if reference not in known:
                raise ImageNotFound(reference)
            return {"Id": "sha256:config" if "sha256:config" in known else "sha256:other"}

        return SimpleNamespace(api=SimpleNamespace(inspect_image=inspect))

    assert absent(engine("sha256:config"), [image]) == ()
    assert absent(engine("bench/x:1-cpu-0123", "bench/x:1-cpu"), [image]) == (image,)
