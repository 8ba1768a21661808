"""Recipes: the exact text images are built from, and what their names stand for."""

import os
from dataclasses import replace
from pathlib import Path

import jinja2
import pytest
from image_specs import (
    gpu_spec,
    image_spec,
    keras_spec,
    own_dockerfile_spec,
    own_image_spec,
    torch_spec,
)

from orchestrator.build_settings import BuildSettings
from orchestrator.domain import ImageSpec
from orchestrator.errors import InputError
from orchestrator.images import dockerfiles
from orchestrator.images.context import ContextFile
from orchestrator.images.recipe import Inputs, Recipe, expected_versions, gather, left_out, render
from orchestrator.images.wheels import offered

GOLDEN = Path(__file__).parents[2] / "golden" / "dockerfiles"
INPUTS = Inputs(benchmarks=(ContextFile("benchmarks/run.py", b"print()\n"),))
OWN = Inputs(INPUTS.benchmarks, dockerfile=(ContextFile("Dockerfile", b"FROM debian\nRUN true\n"),))
CORPORATE = BuildSettings(
    base_image="python:{python}-slim",
    pip_index="https://me:hunter2@pypi.corp/simple",
    extra_indexes=("https://more.corp/simple",),
    trusted_hosts=("pypi.corp",),
    ca_bundle="/etc/corp.pem",
    proxies=(("https_proxy", "http://me:hunter2@proxy.corp:3128"),),
    apt_mirror="https://apt.corp/debian/",
    registry="registry.corp/mirror",
)
WITH_CERTIFICATES = replace(INPUTS, certificates=b"-----BEGIN CERTIFICATE-----\n")


@pytest.mark.parametrize(
    ("name", "spec", "settings", "inputs"),
    [
        ("mxnet-cpu", image_spec(), BuildSettings(), INPUTS),
        ("mxnet-1_gpu", gpu_spec("1_gpu"), BuildSettings(), INPUTS),
        ("mxnet-4_gpu", gpu_spec("4_gpu"), BuildSettings(), INPUTS),
        ("mxnet-4_gpu-corporate", gpu_spec("4_gpu"), CORPORATE, WITH_CERTIFICATES),
        ("torch-cpu", torch_spec(), BuildSettings(), INPUTS),
        ("keras-on-mxnet", keras_spec(), BuildSettings(), INPUTS),
        ("own-image", own_image_spec(), CORPORATE, INPUTS),
        ("own-dockerfile", own_dockerfile_spec("Dockerfile"), BuildSettings(), OWN),
        ("nothing-to-install", image_spec(requirements=(), system_packages=()), BuildSettings(), INPUTS),
    ],
)
def test_a_recipe_is_the_golden_text(name: str, spec: ImageSpec, settings: BuildSettings, inputs: Inputs) -> None:
    """`UPDATE_GOLDEN=1 pytest …` writes the files anew; look at what changed before you commit it."""
    text = render(spec, settings, inputs).dockerfile
    path = GOLDEN / f"{name}.Dockerfile"
    if os.environ.get("UPDATE_GOLDEN") == "1":
        path.write_text(text)

    assert text == path.read_text()


def test_equal_arguments_make_equal_recipes() -> None:
    assert render(image_spec(), CORPORATE, WITH_CERTIFICATES) == render(image_spec(), CORPORATE, WITH_CERTIFICATES)


def test_source_settings_leave_the_hash_alone() -> None:
    """Settings that say where things come from do not change the hash of the content."""
    plain = render(torch_spec(), BuildSettings(base_image="python:{python}-slim"), INPUTS)
    corporate = render(torch_spec(), CORPORATE, WITH_CERTIFICATES)

    assert corporate.content == plain.content
    assert corporate.reference == f"registry.corp/mirror/{plain.reference}"
    assert corporate.alias == "registry.corp/mirror/bench/torch:2.13.0-cpu"
    assert corporate.environment is not None
    assert plain.environment is not None
    assert corporate.environment.reference == f"registry.corp/mirror/{plain.environment.reference}"


def test_a_local_wheel_saves_the_index_download(tmp_path: Path) -> None:
    """A wheel at hand saves the download from the framework's own index and leaves the hash alone."""
    (tmp_path / "torch-2.13.0+cpu-cp311-cp311-manylinux_2_28_x86_64.whl").write_bytes(b"not opened as long as broken")
    at_hand = replace(INPUTS, wheels=offered([str(tmp_path)], "3.11"))

    with_wheel = render(torch_spec(), BuildSettings(), at_hand)

    assert "pip download" in render(torch_spec(), BuildSettings(), INPUTS).dockerfile
    assert "pip download" not in with_wheel.dockerfile
    assert with_wheel.content == render(torch_spec(), BuildSettings(), INPUTS).content


@pytest.mark.parametrize(
    "changed",
    [
        render(image_spec(requirements=("mxnet==1.9.0",)), BuildSettings(), INPUTS),
        render(image_spec(system_packages=()), BuildSettings(), INPUTS),
        render(image_spec(builder="noop"), BuildSettings(), INPUTS),
        render(image_spec(), BuildSettings(base_image="debian"), INPUTS),
        render(image_spec(), BuildSettings(), Inputs((ContextFile("benchmarks/run.py", b"print(1)\n"),))),
    ],
    ids=["requirements", "system packages", "builder", "base image", "benchmarks"],
)
def test_whatever_the_image_holds_is_in_its_hash(changed: Recipe) -> None:
    assert changed.content != render(image_spec(), BuildSettings(), INPUTS).content


def test_a_change_to_the_benchmarks_keeps_the_environment() -> None:
    before = render(image_spec(), BuildSettings(), INPUTS)
    after = render(image_spec(), BuildSettings(), Inputs((ContextFile("benchmarks/run.py", b"print(1)\n"),)))

    assert before.environment == after.environment


def test_one_and_four_gpus_share_an_environment() -> None:
    """The images of systems with one and with four GPUs differ but stand on the same environment."""
    one, four = (render(gpu_spec(name), BuildSettings(), INPUTS) for name in ("1_gpu", "4_gpu"))

    assert one.environment == four.environment
    assert one.reference != four.reference


def test_credentials_travel_only_in_the_discarded_stage() -> None:
    """Credentials travel only in the files of the stage that is discarded."""
    recipe = render(image_spec(), CORPORATE, WITH_CERTIFICATES)
    assert recipe.environment is not None
    holding = [file.name for file in recipe.files if isinstance(file.content, bytes) and b"hunter2" in file.content]
    install, environment = recipe.environment.files[0].content.decode().split("AS environment")  # type: ignore[union-attr]

    assert holding == ["build/pip.conf"]
    assert "COPY build /opt/build" in install
    assert "/opt/build" not in environment


def test_the_pip_configuration_says_what_the_settings_say() -> None:
    recipe = render(torch_spec(), CORPORATE, WITH_CERTIFICATES)
    files = {file.name: file.content for file in recipe.files}

    assert files["build/pip.conf"] == (
        b"[global]\n"
        b"index-url = https://me:hunter2@pypi.corp/simple\n"
        b"extra-index-url = https://more.corp/simple\n"
        b"find-links = /opt/build/wheels\n"
        b"trusted-host = pypi.corp\n"
        b"cert = /opt/build/ca.pem\n"
    )
    assert files["build/own-index.conf"] == (
        b"[global]\n"
        b"index-url = https://download.pytorch.org/whl/cpu\n"
        b"find-links = /opt/build/wheels\n"
        b"trusted-host = pypi.corp\n"
        b"cert = /opt/build/ca.pem\n"
        b"timeout = 5\n"
        b"retries = 1\n"
    )


def test_an_apt_mirror_with_a_password_is_refused() -> None:
    """An apt mirror with a password is refused because the password would stay in the image."""
    with pytest.raises(InputError, match=r"build\.apt_mirror: holds a credential.*build\.proxy"):
        render(image_spec(), BuildSettings(apt_mirror="https://me:hunter2@apt.corp/debian"), INPUTS)


def test_an_index_in_a_local_folder_is_skipped() -> None:
    """An index that is a folder of this host is left out of the build, and a message says so."""
    settings = BuildSettings(pip_index="https://a.corp/simple", extra_indexes=("file:///srv/simple",))
    (message,) = left_out(settings)
    files = {file.name: file.content for file in render(image_spec(), settings, INPUTS).files}

    assert message.startswith("package index file:///srv/simple exists on this host only")
    assert b"file:" not in files["build/pip.conf"]  # type: ignore[operator]


def test_a_missing_ca_bundle_is_one_clear_error() -> None:
    with pytest.raises(InputError, match=r"build\.ca_bundle: /no/such\.pem: No such file or directory; name a PEM"):
        gather(image_spec(), BuildSettings(ca_bundle="/no/such.pem"))


def test_local_cpu_wheels_stay_out_of_gpu_images(tmp_path: Path) -> None:
    """A CPU build that is at hand on this host stays out of a GPU image."""
    (tmp_path / "mxnet_cu112-1.9.1+cpu-py3-none-any.whl").write_bytes(b"")
    (tmp_path / "mxnet_cu112-1.9.1-py3-none-any.whl").write_bytes(b"")
    inputs = gather(gpu_spec("1_gpu"), BuildSettings(find_links=(str(tmp_path),)))

    assert [one.path.name for one in inputs.wheels] == ["mxnet_cu112-1.9.1-py3-none-any.whl"]


def test_a_users_dockerfile_builds_from_its_own_folder(tmp_path: Path) -> None:
    """A user's Dockerfile is built from its folder as Docker would build it, .dockerignore included."""
    folder = tmp_path / "torch"
    folder.mkdir()
    (folder / "Dockerfile").write_text("FROM debian\nCOPY kept /\n")
    (folder / "kept").write_text("kept")
    (folder / "secret.key").write_text("secret")
    (folder / ".dockerignore").write_text("# comment\n*.key\n")
    spec = own_dockerfile_spec(str(folder / "Dockerfile"))

    before = render(spec, BuildSettings(), gather(spec, BuildSettings()))
    (folder / "kept").write_text("changed")
    after = render(spec, BuildSettings(), gather(spec, BuildSettings()))

    assert before.environment is not None
    assert {file.name for file in before.environment.files} == {"Dockerfile", "kept", ".dockerignore"}
    assert before.reference != after.reference


def test_a_missing_dockerfile_is_one_clear_error(tmp_path: Path) -> None:
    spec = own_dockerfile_spec(str(tmp_path / "Dockerfile"))

    with pytest.raises(InputError, match=r"Dockerfile: cannot be built from: No such file or directory"):
        gather(spec, BuildSettings())


def test_an_illegal_version_still_makes_a_legal_tag() -> None:
    """A version that is no legal tag still makes one."""
    spec = replace(image_spec(), alias="2.13.0+cpu-cpu")

    assert render(spec, BuildSettings(), INPUTS).alias == "bench/mxnet:2.13.0-cpu-cpu"


def test_expected_versions_leave_out_extras() -> None:
    """The extras of a requirement are no part of the versions that an image must report."""
    spec = image_spec(expected_versions=(("tensorflow[and-cuda]", "2.21.0"),))

    assert expected_versions(spec) == (("tensorflow", "2.21.0"),)


def test_a_template_that_names_what_nobody_gives_fails(tmp_path: Path) -> None:
    (tmp_path / "image.j2").write_text("FROM {{ belwo }}")

    with pytest.raises(jinja2.UndefinedError, match="belwo"):
        dockerfiles.image_text(image_spec(), "base", (), templates=tmp_path)


def test_one_line_names_all_local_indexes() -> None:
    """All indexes that exist on this host alone are reported in one line."""
    settings = BuildSettings(
        pip_index="file:///srv/one", extra_indexes=("https://mirror.example/simple", "file:///srv/two")
    )

    (line,) = left_out(settings)

    assert line.startswith("package index file:///srv/one, file:///srv/two exists on this host only")
    assert left_out(BuildSettings(pip_index="https://mirror.example/simple")) == ()
