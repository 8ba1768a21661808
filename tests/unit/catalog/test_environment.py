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


def test_an_environment_holds_the_release_its_pins_and_the_first_python(known: Catalog) -> None:
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
def test_a_pin_admits_its_release_and_post_releases_only(pinned: str, candidate: str, admitted: bool) -> None:
    line = Requirement(requirement("mxnet", pinned))

    assert line.specifier.contains(Version(candidate)) is admitted


def test_a_flavour_is_its_own_distribution_with_the_same_builder(known: Catalog) -> None:
    environment = known.environment(Framework("mxnet-mkl", "1.6.0"), 0)

    assert environment.builder == "mxnet"
    assert environment.requirements[0] == "mxnet-mkl>=1.6.0,<=1.6.0.post9999"
    assert environment.expected_versions == (("mxnet-mkl", "1.6.0"),)


def test_packages_of_the_matrix_replace_the_catalogs_pin_whatever_their_spelling(known: Catalog) -> None:
    environment = known.environment(Framework("mxnet", "1.9.1", packages=(("NumPy", "1.21.6"), ("six", "1.16.0"))), 0)

    assert environment.requirements == (
        "mxnet>=1.9.1,<=1.9.1.post9999",
        "NumPy>=1.21.6,<=1.21.6.post9999",
        "six>=1.16.0,<=1.16.0.post9999",
    )
    assert environment.expected_versions == (("mxnet", "1.9.1"), ("NumPy", "1.21.6"), ("six", "1.16.0"))


def test_keras_on_a_backend_takes_both_pins_one_line_per_package_and_a_python_both_run_on(known: Catalog) -> None:
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


def test_keras_on_a_gpu_takes_the_gpu_build_of_its_backend(known: Catalog) -> None:
    environment = known.environment(KERAS, 1)

    assert "mxnet-cu112>=1.5.1,<=1.5.1.post9999" in environment.requirements
    assert environment.cuda_image == "cuda:11.2"


def test_front_end_and_backend_without_a_common_python_are_unsupported(known: Catalog) -> None:
    framework = Framework("keras-mxnet", "2.3.0", backend=Framework("mxnet", "1.5.1"))

    assert "share no Python: 3.9 against 3.11, 3.8, 3.6" in reason(known, framework)


def test_a_gpu_system_renames_the_package_and_adds_cuda_and_requirements(known: Catalog) -> None:
    environment = known.environment(MXNET, 4)

    assert environment.requirements == ("mxnet-cu112>=1.9.1,<=1.9.1.post9999", "numpy<1.24", "nvidia-ml-py")
    assert environment.cuda_image == "cuda:11.2"
    assert environment.expected_versions == (("mxnet-cu112", "1.9.1"),)


def test_a_gpu_build_that_is_an_extra_is_expected_under_its_bare_name(known: Catalog) -> None:
    environment = known.environment(Framework("tensorflow", "2.21.0"), 1)

    assert environment.requirements == ("tensorflow[and-cuda]>=2.21.0,<=2.21.0.post9999",)
    assert environment.expected_versions == (("tensorflow", "2.21.0"),)


def test_a_range_may_have_another_distribution_than_its_entry(known: Catalog) -> None:
    assert known.environment(Framework("tensorflow", "1.8.0"), 0).expected_versions == (("tensorflow", "1.8.0"),)


def test_an_index_of_cpu_builds_is_for_cpu_systems_only(known: Catalog) -> None:
    torch = Framework("torch", "2.13.0")

    assert known.environment(torch, 0).package_index == "https://wheels.example/cpu"
    assert known.environment(torch, 1).package_index is None
    assert known.environment(torch, 0).variables == (("TORCH_HOME", "/tmp"),)


def test_a_framework_that_costs_nothing_installs_nothing_of_its_own(known: Catalog) -> None:
    environment = known.environment(Framework("noop", "1"), 0)

    assert (environment.requirements, environment.expected_versions) == (("numpy",), ())


@pytest.mark.parametrize("own", [{"image": "registry.example/torch:2.1"}, {"dockerfile": "/there/Dockerfile"}])
def test_the_users_own_image_needs_our_builder_and_nothing_else(known: Catalog, own: dict[str, str]) -> None:
    assert known.environment(Framework("torch", "2.1", **own), 1) == Environment(builder="torch", python="")  # type: ignore[arg-type]


def test_a_release_without_a_gpu_build_is_unsupported_there(known: Catalog) -> None:
    assert "no GPU build of mxnet 1.2.0" in reason(known, Framework("mxnet", "1.2.0"), 1)


def test_a_flavour_without_a_gpu_build_is_unsupported_there(known: Catalog) -> None:
    assert "no GPU build of mxnet-mkl 1.6.0" in reason(known, Framework("mxnet-mkl", "1.6.0"), 1)


def test_a_version_in_no_range_names_the_ranges_and_the_way_out(known: Catalog) -> None:
    assert reason(known, Framework("mxnet", "2.0.0")) == (
        "the catalog knows mxnet >=1.2,<1.10, not 2.0.0; add a line to images/catalog/mxnet.yaml"
    )


def test_a_python_that_a_release_does_not_run_on_is_unsupported(known: Catalog) -> None:
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
def test_a_flavour_that_a_range_does_not_have_is_refused_with_what_to_name_instead(version: str) -> None:
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
