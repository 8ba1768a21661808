"""`push` and `run --images`, as far as they go without an engine."""

import json
from pathlib import Path
from typing import Any

import pytest

from orchestrator import images
from orchestrator.build_settings import BuildSettings
from orchestrator.bundles.format.streams import TransferStoppedError
from orchestrator.engine.registry_errors import NoRegistryError
from orchestrator.errors import HostError, InputError
from orchestrator.images.registries.pushed_file import image_source
from orchestrator.images.registries.source import ImageSource, wanted_by
from orchestrator.workflows.host.host import Host
from orchestrator.workflows.inputs.planned_matrix import MatrixOptions, plan_matrix
from orchestrator.workflows.measure import pulled_images
from orchestrator.workflows.measure.runtime import Needed, choose
from orchestrator.workflows.option_values import RuntimeName
from orchestrator.workflows.ship import push as workflow
from orchestrator.workflows.ship.push import PushOptions
from tests.unit.images.registries.registry_fake import FakeRegistryEngine

MATRIX = "version: 1\nname: two\nframeworks: [noop==1, torch==2.13.0]\nmodels: [mlp]\n"


class _Engine(FakeRegistryEngine):
    """An engine that says what it is built for."""

    def version(self) -> dict[str, str]:
        return {"Arch": "amd64"}

    def close(self) -> None:
        pass


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "two.yaml"
    path.write_text(MATRIX)
    return path


@pytest.fixture
def host(tmp_path: Path) -> Host:
    return Host({"HOME": str(tmp_path), "PIP_CONFIG_FILE": "/dev/null"})


@pytest.fixture
def recipes(file: Path, host: Host) -> dict[str, images.Recipe]:
    """The recipes of both images by name."""
    planned = plan_matrix(MatrixOptions(file=file), host)
    return {recipe.spec.name: recipe for recipe in images.recipes(planned.plan.images, planned.settings)}


@pytest.fixture
def engine(recipes: dict[str, images.Recipe], monkeypatch: pytest.MonkeyPatch) -> _Engine:
    """An engine that has the image of `noop` alone."""
    engine = _Engine()
    noop = recipes["bench/noop:1-cpu"]
    engine.add(noop.reference, noop.content, 1)
    monkeypatch.setattr(workflow, "connect", lambda environment, timeout_s: engine)
    return engine


def test_images_that_are_there_are_pushed(
    engine: _Engine, file: Path, host: Host, recipes: dict[str, images.Recipe], tmp_path: Path
) -> None:
    """Images of the engine are pushed and listed, and those that it lacks are named."""
    output = tmp_path / "images.json"
    result = workflow.push(PushOptions(file=file, registry="registry:5000/team/", output=output), host)

    reference = recipes["bench/noop:1-cpu"].reference
    (digest,) = engine.remote
    assert digest.startswith("registry:5000/team/bench/noop@sha256:")
    assert [(image.name, image.reference, image.digest) for image in result.images] == [
        ("bench/noop:1-cpu", reference, digest)
    ]
    assert (result.missing, result.remedy) == (("bench/torch:2.13.0-cpu",), "orchestrator build")
    assert image_source(output) == ImageSource(str(output), {reference: digest})
    assert json.loads(output.read_text())["data"]["missing"] == ["bench/torch:2.13.0-cpu"]


def test_only_selected_images_are_pushed(engine: _Engine, file: Path, host: Host) -> None:
    result = workflow.push(PushOptions(file=file, registry="registry:5000", select=["torch-*"]), host)

    assert (result.images, result.missing, engine.calls) == ((), ("bench/torch:2.13.0-cpu",), [])


def test_a_refusal_writes_no_file(engine: _Engine, file: Path, host: Host, tmp_path: Path) -> None:
    engine.refusal = "dial tcp: lookup registry: no such host"

    with pytest.raises(NoRegistryError):
        workflow.push(PushOptions(file=file, registry="registry:5000", output=tmp_path / "images.json"), host)

    assert not (tmp_path / "images.json").exists()


def test_a_stopped_push_writes_no_file(engine: _Engine, file: Path, host: Host, tmp_path: Path) -> None:
    host.stop.set()

    result = workflow.push(PushOptions(file=file, registry="registry:5000", output=tmp_path / "images.json"), host)

    assert (result.stopped, result.images) == (True, ())
    assert engine.remote == {}
    assert not (tmp_path / "images.json").exists()


def test_mistakes_come_before_the_engine(file: Path, host: Host, tmp_path: Path) -> None:
    """A wrong registry or file is refused before an engine is asked."""
    for options, said in (
        (PushOptions(file=file, registry="team"), "is no host"),
        (PushOptions(file=file, registry="registry:5000", output=tmp_path), "is a folder"),
    ):
        with pytest.raises(InputError, match=said):
            workflow.push(options, host)


@pytest.mark.parametrize("runtime", [RuntimeName.VENV, RuntimeName.HOST])
def test_a_runtime_without_images_is_refused(host: Host, runtime: RuntimeName) -> None:
    needed = Needed((), selects=True, source=ImageSource("images.json", {}))

    with pytest.raises(InputError, match=f"--images: --runtime {runtime} runs no images"):
        choose(runtime, needed, BuildSettings(), host)


def test_images_need_an_engine(host: Host, tmp_path: Path) -> None:
    """With images of a registry, no virtual environments are made where no engine answers."""
    needed = Needed((), selects=True, source=ImageSource("images.json", {}))
    without = Host({**host.environment, "DOCKER_HOST": f"unix://{tmp_path}/no.sock"})

    with pytest.raises(HostError, match="no container engine answers"):
        choose(RuntimeName.AUTO, needed, BuildSettings(), without)


def test_missing_images_of_a_matrix_are_pulled(
    engine: _Engine, file: Path, host: Host, recipes: dict[str, images.Recipe]
) -> None:
    torch = recipes["bench/torch:2.13.0-cpu"]
    digest = f"registry:5000/bench/torch@sha256:{2:064x}"
    engine.remote[digest] = f"sha256:{2:064x}"
    engine.contents[f"sha256:{2:064x}"] = torch.content
    planned = plan_matrix(MatrixOptions(file=file), host)
    client: Any = engine

    wanted = pulled_images.of_matrix(client, planned.plan.images, planned.settings)
    source = ImageSource("images.json", {torch.reference: digest})
    pulled_images.pull_missing(client, source, wanted, host)

    assert engine.calls == [f"pull {digest}"]
    assert engine.names[torch.reference] == f"sha256:{2:064x}"


def test_a_stop_ends_the_pulls(engine: _Engine, recipes: dict[str, images.Recipe], host: Host) -> None:
    torch = recipes["bench/torch:2.13.0-cpu"]
    digest = f"registry:5000/bench/torch@sha256:{2:064x}"
    engine.remote[digest] = f"sha256:{2:064x}"
    host.stop.set()
    client: Any = engine

    with pytest.raises(TransferStoppedError):
        pulled_images.pull_missing(client, ImageSource("", {torch.reference: digest}), wanted_by([torch]), host)
