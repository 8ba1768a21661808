"""Images on a real engine: what is built, what is not, what they hold, and what is left behind."""

import json
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import docker
import images_support as support
import pytest

from benchmarks import MEASUREMENT_VERSION
from orchestrator import resources
from orchestrator.build_settings import BuildSettings
from orchestrator.catalog import load
from orchestrator.domain import Environment, Framework, ImageSpec
from orchestrator.events import BuildFinished, BuildStarted, Event, ignore
from orchestrator.images import STOPPED, BuildFailure, Built, base_problems, build, labels, recipes
from orchestrator.images.settings import overlay, pip_files, settings_from_pip
from tests.until import until

pytestmark = pytest.mark.docker

Results = dict[str, Built | BuildFailure]
Build = Callable[..., Results]


@pytest.fixture
def settings(base_image: str, tmp_path: Path) -> BuildSettings:
    """Build from a folder that offers the tiny package, and from nowhere else."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    (folder / support.WHEEL).write_bytes(support.wheel())
    return BuildSettings(base_image=base_image, find_links=(str(folder),), no_index=True)


@pytest.fixture
def make(engine: docker.DockerClient, settings: BuildSettings, tmp_path: Path) -> Iterator[Build]:
    """Build, and remove afterwards whatever was made."""
    names: set[str] = set()

    def run(
        specs: Sequence[ImageSpec],
        settings: BuildSettings = settings,
        listener: Callable[[Event], None] = ignore,
        stop: threading.Event | None = None,
    ) -> Results:
        for recipe in recipes(specs, settings):
            names.update({recipe.alias, recipe.reference})
            names.update({recipe.environment.reference} if recipe.environment else ())
        return build(
            specs, settings, engine, jobs=2, logs=tmp_path / "logs", listener=listener, stop=stop or threading.Event()
        )

    yield run
    for name in sorted(names, key=lambda name: "environment" in name):
        try:
            engine.images.remove(name)
        except docker.errors.NotFound:
            continue


def one(results: Results) -> Built:
    (result,) = results.values()
    assert isinstance(result, Built), result
    return result


def reason(results: Results) -> str:
    (result,) = results.values()
    assert isinstance(result, BuildFailure), result
    return result.reason


def test_an_image_is_built_once_and_found_again(engine: docker.DockerClient, make: Build) -> None:
    spec = support.tiny_spec("once")
    events: list[Event] = []

    first = one(make([spec]))
    engine.images.remove("bench-test-images/noop:once-cpu")
    second = one(make([spec], listener=events.append))

    assert not first.cached
    assert (second.cached, second.image_id) == (True, first.image_id)
    assert [type(event) for event in events] == [BuildFinished]
    assert engine.images.get("bench-test-images/noop:once-cpu").id == first.image_id


def test_an_image_says_what_it_is(engine: docker.DockerClient, make: Build, base_image: str) -> None:
    built = one(make([support.tiny_spec("labels")]))
    base = engine.images.get(base_image.format(python="3.11"))
    found = engine.images.get(built.reference).labels

    assert built.versions == ((support.PACKAGE, "1.0.post1"),)
    assert built.base_digest in {base.id, *base.attrs["RepoDigests"]}
    assert found[labels.BASE_DIGEST] == built.base_digest
    assert built.reference.endswith(f"-{found[labels.CONTENT]}")
    assert (found[labels.FRAMEWORK], found[labels.IMAGE_CLASS]) == ("noop", "cpu")


def test_image_works_by_hand_as_any_user(engine: docker.DockerClient, make: Build) -> None:
    """An image works by hand as any user on a read-only root."""
    built = one(make([support.tiny_spec("hand", requirements=(f"{support.PACKAGE}==1.0.post1",))]))
    said = engine.containers.run(
        built.image_id, ["--versions"], user="12345:12345", read_only=True, network_mode="none", cap_drop=["ALL"],
        remove=True,
    )  # fmt: skip

    assert json.loads(said)["versions"] == {support.PACKAGE: "1.0.post1"}


def test_one_and_four_gpus_share_one_environment(engine: docker.DockerClient, make: Build) -> None:
    one_gpu, four_gpus = support.tiny_spec("share", "1_gpu"), support.tiny_spec("share", "4_gpu")

    results = make([one_gpu, four_gpus])
    layers = [engine.images.get(result.image_id).attrs["RootFS"]["Layers"] for result in results.values()]  # type: ignore[union-attr]

    assert layers[0][:-2] == layers[1][:-2]


def test_cuda_libraries_are_copied_from_the_donor_image(
    engine: docker.DockerClient, make: Build, tmp_path: Path
) -> None:
    donor = "bench-test-images/cuda:donor"
    (tmp_path / "Dockerfile").write_text(
        "FROM " + one(make([support.tiny_spec("donor-base")])).reference + "\n"
        "RUN mkdir -p /usr/local/cuda-11.2/targets/x86_64-linux/lib"
        " && ln -s cuda-11.2 /usr/local/cuda && ln -s targets/x86_64-linux/lib /usr/local/cuda-11.2/lib64"
        " && cd /usr/local/cuda/lib64 && echo code >libcudart.so.11.0.1 && ln -s libcudart.so.11.0.1 libcudart.so.11.0"
        " && echo code >/usr/lib/x86_64-linux-gnu/libcudnn.so.8 && echo code >/usr/local/cuda/lib64/notes.txt\n"
    )
    engine.images.build(path=str(tmp_path), tag=donor, rm=True)
    try:
        built = one(make([support.tiny_spec("cuda", "1_gpu", cuda_image=donor)]))
        listing = engine.containers.run(built.image_id, ["-lR", "/opt/cuda"], entrypoint="ls", remove=True).decode()
    finally:
        engine.images.remove(donor)

    assert "libcudart.so.11.0 -> libcudart.so.11.0.1" in listing
    assert "libcudnn.so.8" in listing
    assert "notes.txt" not in listing


def test_failed_build_has_its_reason_and_log(make: Build) -> None:
    """A failed build has its reason and log, and the other builds go on."""
    bad = support.tiny_spec("bad", requirements=("tiny-package==9",))
    good = support.tiny_spec("good")
    events: list[Event] = []

    results = make([bad, good], listener=events.append)
    failure = results[bad.name]

    assert isinstance(results[good.name], Built)
    assert isinstance(failure, BuildFailure)
    assert failure.reason.startswith("Could not find a version that satisfies the requirement tiny-package==9")
    assert failure.log is not None
    assert "tiny-package==9" in failure.log.read_text()
    assert {event.image for event in events if isinstance(event, BuildStarted)} == {bad.name, good.name}
    assert {event.image: bool(event.reason) for event in events if isinstance(event, BuildFinished)} == {
        bad.name: True, good.name: False,
    }  # fmt: skip


def test_shared_environment_spoils_both_images_once(make: Build) -> None:
    """A fault that spoils a shared environment spoils both of its images once."""
    specs = [support.tiny_spec("spoilt", name, requirements=("tiny-package==9",)) for name in ("1_gpu", "4_gpu")]
    events: list[Event] = []

    results = make(specs, listener=events.append)

    assert len({result.reason for result in results.values() if isinstance(result, BuildFailure)}) == 1
    assert [event.image for event in events if isinstance(event, BuildStarted)] == [specs[0].name]
    assert [event.image for event in events if isinstance(event, BuildFinished)] == [spec.name for spec in specs]


def test_image_of_another_version_gets_no_name(engine: docker.DockerClient, make: Build) -> None:
    """An image that holds another version than the pin gets no name."""
    spec = support.tiny_spec("other", expected_versions=((support.PACKAGE, "1.1"),))

    said = reason(make([spec]))

    assert said == "tiny-package 1.1 was asked for, 1.0.post1 is there"
    with pytest.raises(docker.errors.NotFound):
        engine.images.get("bench-test-images/noop:other-cpu")


def test_unavailable_base_image_names_the_remedy_quickly(
    engine: docker.DockerClient, make: Build, settings: BuildSettings
) -> None:
    """A base image that cannot be had costs only seconds and names the remedy."""
    absent = replace(settings, base_image="localhost:9/absent:{python}")
    began = time.perf_counter()

    said = reason(make([support.tiny_spec("baseless")], settings=absent))
    (problem,) = base_problems(engine, recipes([support.tiny_spec("baseless")], absent))

    assert time.perf_counter() - began < 20
    assert said == problem
    assert said.startswith("base image localhost:9/absent:3.11 is not on this engine and cannot be pulled: ")
    assert "build.base_image" in said


def test_stop_ends_a_build_and_leaves_no_name(engine: docker.DockerClient, make: Build, tmp_path: Path) -> None:
    folder = tmp_path / "own"
    folder.mkdir()
    base = one(make([support.tiny_spec("stop-base")])).reference
    (folder / "Dockerfile").write_text(f"FROM {base}\nLABEL bench-test=stopped\nRUN echo now-sleeping; sleep 300\n")
    spec = own_dockerfile(folder / "Dockerfile")
    stop = threading.Event()

    def when_it_sleeps() -> None:
        # Its container: the log names the step before the engine starts it.
        until(lambda: engine.containers.list(filters={"label": "bench-test=stopped"}))
        stop.set()

    threading.Thread(target=when_it_sleeps, daemon=True).start()
    began = time.perf_counter()
    events: list[Event] = []
    results = make([spec], stop=stop, listener=events.append)

    assert reason(results) == STOPPED
    assert [event.stopped for event in events if isinstance(event, BuildFinished)] == [True]
    assert time.perf_counter() - began < 60
    with pytest.raises(docker.errors.NotFound):
        engine.images.get("bench-test-images/own:own-cpu")
    until(lambda: not engine.containers.list(filters={"label": "bench-test=stopped"}))


def own_dockerfile(path: Path) -> ImageSpec:
    framework = Framework("noop", "1", dockerfile=str(path))
    return ImageSpec("bench-test-images/own", "own-cpu", "cpu", framework, Environment(builder="noop", python=""))


def test_the_users_own_image_carries_our_measuring_side(engine: docker.DockerClient, make: Build) -> None:
    own = one(make([support.tiny_spec("theirs")])).reference
    framework = Framework("noop", "1", image=own)
    spec = ImageSpec("bench-test-images/own", "image-cpu", "cpu", framework, Environment(builder="noop", python=""))

    built = one(make([spec]))

    assert built.versions == ((support.PACKAGE, "1.0.post1"),)
    image = engine.images.get(own)
    # Podman gives an image that no registry knows the digest of a manifest too.
    assert built.base_digest in {image.id, *image.attrs["RepoDigests"]}


def test_users_own_dockerfile_carries_our_measuring_side(make: Build, tmp_path: Path) -> None:
    """The user's own Dockerfile is built and carries our measuring side."""
    folder = tmp_path / "own"
    folder.mkdir()
    base = one(make([support.tiny_spec("below")])).reference
    (folder / "Dockerfile").write_text(f"FROM {base}\nCOPY extra /extra\nENV PYTHONPATH=/extra\n")
    info = folder / "extra" / "mine-3.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Name: mine\nVersion: 3.0\n\n")

    built = one(make([own_dockerfile(folder / "Dockerfile")]))

    assert dict(built.versions) == {"mine": "3.0", support.PACKAGE: "1.0.post1"}


def test_compiled_files_from_below_are_not_ours(engine: docker.DockerClient, make: Build, tmp_path: Path) -> None:
    """Files that an image below has compiled do not pass for ours."""
    folder = tmp_path / "own"
    folder.mkdir()
    base = one(make([support.tiny_spec("older")])).reference
    older = "sed 's/MEASUREMENT_VERSION = ./MEASUREMENT_VERSION = 0/' $file >/older && touch -r $file /older"
    (folder / "Dockerfile").write_text(
        f"FROM {base}\nRUN file=/opt/bench/benchmarks/__init__.py && {older} && cp -p /older $file"
        " && python3 -m compileall -q -f /opt/bench/benchmarks\n"
    )

    built = one(make([own_dockerfile(folder / "Dockerfile")]))

    asks = ["-c", "import benchmarks; print(benchmarks.MEASUREMENT_VERSION)"]
    said = engine.containers.run(built.image_id, asks, entrypoint="python3", remove=True)
    assert int(said) == MEASUREMENT_VERSION


def test_package_is_installed_with_hosts_pip_configuration(make: Build, base_image: str) -> None:
    """A real package is installed with the pip configuration of this host."""
    catalog = load(resources.IMAGES / "catalog")
    framework = Framework("noop", "1", python="3.11")
    environment = catalog.environment(framework, 0)
    # One package more, so that it shares no environment with anybody's own images.
    own = replace(environment, requirements=(*environment.requirements, "iniconfig"))
    spec = ImageSpec("bench-test-images/noop", "real-cpu", "cpu", framework, own)
    host = settings_from_pip(os.environ, pip_files(os.environ, Path.home(), Path(sys.prefix)))

    built = one(make([spec], settings=overlay(BuildSettings(base_image=base_image), host)))

    assert {name for name, _ in built.versions} == {"numpy", "iniconfig"}
