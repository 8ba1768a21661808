"""The catalog that ships: every release that was seen to train makes a recipe, for CPU and where it can for GPU."""

import pytest

from orchestrator.build_settings import BuildSettings
from orchestrator.catalog import load
from orchestrator.domain import Framework, ImageSpec
from orchestrator.images import Inputs, render
from orchestrator.images.context import ContextFile
from orchestrator.resources import IMAGES
from tests.seen_backends import seen_backends

CATALOG = load(IMAGES / "catalog")
INPUTS = Inputs(benchmarks=(ContextFile("benchmarks/run.py", b""),))


def dockerfile(framework: Framework, gpus: int) -> str:
    image_class = f"{gpus}_gpu" if gpus else "cpu"
    spec = ImageSpec("bench/x", f"x-{image_class}", image_class, framework, CATALOG.environment(framework, gpus))
    return render(spec, BuildSettings(), INPUTS).dockerfile


@pytest.mark.parametrize(
    ("name", "version", "gpus", "installed"),
    [
        ("mxnet", "1.9.1", 0, "mxnet>=1.9.1,"),
        ("mxnet", "1.9.1", 1, "mxnet-cu112>=1.9.1,"),
        ("mxnet", "1.5.1", 4, "mxnet-cu101>=1.5.1,"),
        ("mxnet-mkl", "1.6.0", 0, "mxnet-mkl>=1.6.0,"),
        ("mxnet-mkl", "1.6.0", 1, "mxnet-cu101mkl>=1.6.0,"),
        ("tensorflow", "2.21.0", 0, "tensorflow-cpu>=2.21.0,"),
        ("tensorflow", "2.21.0", 1, "tensorflow[and-cuda]>=2.21.0,"),
        ("torch", "2.13.0", 0, "torch>=2.13.0,"),
        ("torch", "2.13.0", 4, "torch>=2.13.0,"),
        ("jax", "0.12.0.1", 0, "jax>=0.12.0.1,"),
        ("jax", "0.12.0.1", 1, "jax[cuda12]>=0.12.0.1,"),
    ],
)
def test_a_system_decides_the_installed_distribution(name: str, version: str, gpus: int, installed: str) -> None:
    """A release is installed from the distribution of its system."""
    text = dockerfile(Framework(name, version), gpus)

    assert f"'{installed}" in text
    assert ("nvidia-ml-py" in text) == bool(gpus)


def test_noop_asks_gpus_on_gpu_systems_alone() -> None:
    """A cell of no framework reads its GPUs as any other does, and its CPU image holds NumPy alone."""
    noop = Framework("noop", "1")

    assert CATALOG.environment(noop, 1).requirements == ("numpy", "nvidia-ml-py")
    assert CATALOG.environment(noop, 0).requirements == ("numpy",)


def test_keras_on_mxnet_holds_both_with_pins() -> None:
    """Keras on MXNet holds both, and the pins of both."""
    text = dockerfile(Framework("keras-mxnet", "2.2.4.3", backend=Framework("mxnet", "1.5.1")), 0)

    parts = ("'keras-mxnet>=2.2.4.3,", "'mxnet>=1.5.1,", "'numpy<1.17,<1.24'", "libquadmath0")
    assert all(part in text for part in parts)


def test_only_cpu_systems_ask_the_cpu_index() -> None:
    """Only CPU systems ask the index of CPU builds."""
    assert "own-index.conf" in dockerfile(Framework("torch", "2.13.0"), 0)
    assert "own-index.conf" not in dockerfile(Framework("torch", "2.13.0"), 1)


def test_mxnet_releases_since_1_2_share_a_python() -> None:
    """Every release of MXNet from 1.2 on shares a Python with every other."""
    known = [version for version in CATALOG.entries["mxnet"].known if version >= "1.2"]
    offered = [set(CATALOG.pythons(Framework("mxnet", version))) for version in known]

    assert len(known) == 13
    assert set.intersection(*offered) >= {"3.7"}


def test_every_release_seen_to_train_has_a_range() -> None:
    """Every release that was seen to train is in a range."""
    for name, entry in CATALOG.entries.items():
        flavours = [flavour for flavour in entry.packages if flavour == name]
        for flavour in flavours:
            for version in CATALOG.seen(name):
                backend = next(iter(seen_backends(CATALOG, name, version)), None)
                framework = Framework(flavour, version, backend=backend)
                assert CATALOG.environment(framework, 0).python == CATALOG.default_python(framework)
