"""The cluster that the tests with Slurm share."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
import slurm_cluster
from bench_folder import BenchFolder
from slurm_cluster import SlurmCluster

from tests.required import missing


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave tests with a cluster to `make test-slurm` and `make test-all`, unless there has to be one.

    Then only those that their file calls slow are left to these.
    """
    if os.environ.get("BENCH_REQUIRE_SLURM") == "1":
        return
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session")
def _cluster_of_two(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SlurmCluster]:
    reason = slurm_cluster.missing()
    if reason:
        missing(reason, "BENCH_REQUIRE_SLURM")
    cluster = SlurmCluster(tmp_path_factory.mktemp("slurm"))
    cluster.start()
    yield cluster
    cluster.stop()


@pytest.fixture
def cluster(_cluster_of_two: SlurmCluster) -> Iterator[SlurmCluster]:
    """A cluster of two nodes without jobs."""
    yield _cluster_of_two
    _cluster_of_two.clear()


@pytest.fixture
def bench(cluster: SlurmCluster, tmp_path: Path) -> Iterator[BenchFolder]:
    """A folder that all nodes see, with a matrix and a site file."""
    folder = BenchFolder(tmp_path, cluster)
    yield folder
    folder.end_programs()
