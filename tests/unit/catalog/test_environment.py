import pytest
from packaging.requirements import Requirement
from packaging.version import Version

from orchestrator import resources
from orchestrator.catalog import Catalog, UnsupportedError, load, requirement
from orchestrator.catalog.versions import united
from orchestrator.domain import Environment, Framework

MXNET = Framework("mxnet", "1.9.1")
KERAS = Framework("keras-mxnet", "2.2.4.3", backend=Framework("mxnet", "1.5.1"))


def reason(known: Catalog, framework: Framework, gpus: int = 0) -> str:
    with pytest.raises(UnsupportedError) as caught:
        known.environment(framework, gpus)
    return caught.value.reason


def test_an_environment_holds_release_pins_and_python(known: Catalog) -> None:
    """An environment holds the release, its pins and the first Python of the catalog."""
    assert known.environment(MXNET, 0) == Environment(
        builder="mxnet",
        python="3.11",
        requirements=("mxnet>=1.9.1,<=1.9.1.post9999", "numpy<1.24"),
        system_packages=("libgomp1",),
        expected_versions=(("mxnet", "1.9.1"),),
    )


@pytest.mark.parametrize(
    ("pinned", "candidate", "admitted"),
    [
        ("1.7.0", "1.7.0", True),
        ("1.7.0", "1.7.0.post2", True),
        ("1.7.0", "1.7.0.1", False),
        ("1.7.0", "1.7.1", False),
        ("1.7.0", "1.7.0rc1", False),
        ("2.13.0", "2.13.0+cpu", True),
        ("2.13.0+cpu", "2.13.0+cpu", True),
        ("2.13.0+cpu", "2.13.0+cu130", False),
        ("1.7.0.post2", "1.7.0.post2", True),
        ("1.7.0.post2", "1.7.0.post1", False),
        ("2.0.0rc1", "2.0.0rc1", True),
        ("2.0.0rc1", "2.0.0", False),
        ("1.9", "1.9.0", True),
    ],
)
def test_a_pin_admits_only_release_and_post_releases(pinned: str, candidate: str, admitted: bool) -> None:
    line = Requirement(requirement("mxnet", pinned))

    assert line.specifier.contains(Version(candidate)) is admitted


def test_a_flavour_has_its_own_distribution(known: Catalog) -> None:
    """A flavour is its own distribution with the same builder."""
    environment = known.environment(Framework("mxnet-mkl", "1.6.0"), 0)

    assert environment.builder == "mxnet"
    assert environment.requirements[0] == "mxnet-mkl>=1.6.0,<=1.6.0.post9999"
    assert environment.expected_versions == (("mxnet-mkl", "1.6.0"),)


def test_packages_of_the_matrix_replace_catalog_pins(known: Catalog) -> None:
    """Packages of the matrix replace the catalog's pin, whatever their spelling."""
    environment = known.environment(Framework("mxnet", "1.9.1", packages=(("NumPy", "1.21.6"), ("six", "1.16.0"))), 0)

    assert environment.requirements == (
        "mxnet>=1.9.1,<=1.9.1.post9999",
        "NumPy>=1.21.6,<=1.21.6.post9999",
        "six>=1.16.0,<=1.16.0.post9999",
    )
    assert environment.expected_versions == (("mxnet", "1.9.1"), ("NumPy", "1.21.6"), ("six", "1.16.0"))


def test_keras_takes_the_pins_of_both_packages(known: Catalog) -> None:
    """Keras on a backend takes both pins, one line per package, and a Python that both run on."""
    environment = known.environment(KERAS, 0)

    assert environment.builder == "keras_mxnet"
    assert environment.python == "3.6"
    assert environment.requirements == (
        "keras-mxnet>=2.2.4.3,<=2.2.4.3.post9999",
        "mxnet>=1.5.1,<=1.5.1.post9999",
        "numpy<1.17,<1.24",
        "h5py<3",
    )
    assert environment.expected_versions == (("keras-mxnet", "2.2.4.3"), ("mxnet", "1.5.1"))


def test_keras_takes_its_backends_gpu_build(known: Catalog) -> None:
    """Keras on a GPU takes the GPU build of its backend."""
    environment = known.environment(KERAS, 1)

    assert "mxnet-cu112>=1.5.1,<=1.5.1.post9999" in environment.requirements
    assert environment.cuda_image == "cuda:11.2"


def test_a_pair_without_common_python_is_unsupported(known: Catalog) -> None:
    """A front end and a backend without a common Python are unsupported."""
    framework = Framework("keras-mxnet", "2.3.0", backend=Framework("mxnet", "1.5.1"))

    assert "share no Python: 3.9 against 3.11, 3.8, 3.6" in reason(known, framework)


def test_a_gpu_system_changes_package_and_requirements(known: Catalog) -> None:
    """A GPU system renames the package, and adds CUDA and requirements."""
    environment = known.environment(MXNET, 4)

    assert environment.requirements == ("mxnet-cu112>=1.9.1,<=1.9.1.post9999", "numpy<1.24", "nvidia-ml-py")
    assert environment.cuda_image == "cuda:11.2"
    assert environment.expected_versions == (("mxnet-cu112", "1.9.1"),)


def test_an_extra_is_expected_under_its_bare_name(known: Catalog) -> None:
    """A GPU build that is an extra of a package is expected under its bare name."""
    environment = known.environment(Framework("tensorflow", "2.21.0"), 1)

    assert environment.requirements == ("tensorflow[and-cuda]>=2.21.0,<=2.21.0.post9999",)
    assert environment.expected_versions == (("tensorflow", "2.21.0"),)


def test_a_range_may_have_its_own_distribution(known: Catalog) -> None:
    """A range may have another distribution than its entry."""
    assert known.environment(Framework("tensorflow", "1.8.0"), 0).expected_versions == (("tensorflow", "1.8.0"),)


def test_only_cpu_systems_use_the_cpu_index(known: Catalog) -> None:
    """An index of CPU builds is for CPU systems only."""
    torch = Framework("torch", "2.13.0")

    assert known.environment(torch, 0).package_index == "https://wheels.example/cpu"
    assert known.environment(torch, 1).package_index is None
    assert known.environment(torch, 0).variables == (("TORCH_HOME", "/tmp"),)


def test_noop_installs_nothing_of_its_own(known: Catalog) -> None:
    """A framework that costs nothing installs nothing of its own."""
    environment = known.environment(Framework("noop", "1"), 0)

    assert (environment.requirements, environment.expected_versions) == (("numpy",), ())


@pytest.mark.parametrize("own", [{"image": "registry.example/torch:2.1"}, {"dockerfile": "/there/Dockerfile"}])
def test_an_own_image_needs_only_the_builder(known: Catalog, own: dict[str, str]) -> None:
    """The user's own image needs our builder and nothing else."""
    assert known.environment(Framework("torch", "2.1", **own), 1) == Environment(builder="torch", python="")  # type: ignore[arg-type]


def test_a_release_without_gpu_build_is_unsupported(known: Catalog) -> None:
    """A release without a GPU build is unsupported on a system with GPUs."""
    assert "no GPU build of mxnet 1.2.0" in reason(known, Framework("mxnet", "1.2.0"), 1)


def test_a_flavour_without_gpu_build_is_unsupported(known: Catalog) -> None:
    """A flavour without a GPU build is unsupported on a system with GPUs."""
    assert "no GPU build of mxnet-mkl 1.6.0" in reason(known, Framework("mxnet-mkl", "1.6.0"), 1)


def test_an_unknown_version_names_the_known_ranges(known: Catalog) -> None:
    """The error for a version in no range names the ranges and the way out."""
    assert reason(known, Framework("mxnet", "2.0.0")) == (
        "the catalog knows mxnet >=1.2,<1.10, not 2.0.0; add a line to images/catalog/mxnet.yaml"
    )


def test_an_unfit_python_of_a_release_is_unsupported(known: Catalog) -> None:
    """A Python that a release does not run on is unsupported."""
    assert reason(known, Framework("mxnet", "1.9.1", python="3.13")) == (
        "mxnet 1.9.1 does not run on Python 3.13; the catalog has 3.11, 3.8, 3.6"
    )


def test_a_word_that_is_no_version_is_unsupported(known: Catalog) -> None:
    assert reason(known, Framework("mxnet", "latest")) == "'latest' is no version of mxnet"


def test_names_hold_frameworks_and_flavours(known: Catalog) -> None:
    assert known.names() == ("keras-mxnet", "mxnet", "mxnet-mkl", "noop", "tensorflow", "torch")
    assert known.entry("mxnet-mkl") is known.entry("mxnet")
    assert known.entry("nothing") is None
    assert set(known.options("mxnet-mkl")) == {"hybridize"}
    assert known.default_python(KERAS) == "3.6"
    assert known.size_mb(KERAS) == 250


@pytest.mark.parametrize("version", ["1.7.0", "1.9.1"])
def test_a_missing_flavour_names_its_replacement(version: str) -> None:
    """A flavour that a range does not have is refused with the name to use instead."""
    shipped = load(resources.IMAGES / "catalog")

    assert reason(shipped, Framework("mxnet-mkl", version)) == (
        f"there is no mxnet-mkl {version}: from 1.7 on mxnet itself holds oneDNN; name mxnet instead"
    )
    assert shipped.environment(Framework("mxnet", version), 0).builder == "mxnet"
    assert (shipped.newest_known("mxnet"), shipped.newest_known("mxnet-mkl")) == ("1.9.1", "1.6.0")


def test_only_ranges_that_meet_are_joined() -> None:
    assert list(united([">=1.8,<1.10", ">=1.7,<1.8", ">=1.5,<1.6"])) == [">=1.7,<1.10", ">=1.5,<1.6"]
    assert list(united([">=2", ">=1,<2", "==0.9"])) == [">=1", "==0.9"]
    assert list(united([])) == []
