"""`site.yaml`: its values, and every mistake in it at once."""

from pathlib import Path

import pytest

from orchestrator.clusters.site import (
    Executor,
    GpuRequest,
    ImagesFrom,
    NodeImages,
    Pods,
    Program,
    Site,
    TimeLimits,
)
from orchestrator.clusters.site.loading import load
from orchestrator.errors import InputError

WHOLE = """\
version: 1
executor: slurm
partition: gpu
account: bench
constraint: icelake
reservation: quiet
nodes_at_once: 4
replicate: 2
time: {margin: 2, shortest: 5m, longest: 12h}
sbatch: {qos: low, nice: 10, contiguous: true}
setup: [module load docker, export A=1]
images: {pushed: images.json}
results: shared
program: {wheel: bench.whl, find_links: wheels, python: python3.11}
gpus: gpus-per-node
gpu_types: {'*H100*': h100}
"""


def loaded(folder: Path, text: str) -> Site:
    (folder / "site.yaml").write_text(text)
    return load(folder / "site.yaml")


def mistakes(folder: Path, text: str) -> list[str]:
    with pytest.raises(InputError) as caught:
        loaded(folder, text)
    return [message.removeprefix(str(folder / "site.yaml:")) for message in caught.value.messages]


def test_a_whole_site_becomes_values(tmp_path: Path) -> None:
    site = loaded(tmp_path, WHOLE)

    assert (site.executor, site.partition, site.nodes_at_once, site.replicate) == (Executor.SLURM, "gpu", 4, 2)
    assert (site.time.margin, site.time.shortest_s, site.time.longest_s) == (2, 300, 43_200)
    assert site.sbatch == (("contiguous", ""), ("nice", "10"), ("qos", "low"))
    assert site.setup == ("module load docker", "export A=1")
    assert site.images == NodeImages(ImagesFrom.REGISTRY, str(tmp_path / "images.json"))
    assert site.results == str(tmp_path / "shared")
    assert site.program == Program("", str(tmp_path / "bench.whl"), str(tmp_path / "wheels"), "python3.11")
    assert (site.gpus, site.gpu_types) == (GpuRequest.GPUS_PER_NODE, (("*H100*", "h100"),))


def test_the_smallest_site_has_the_defaults(tmp_path: Path) -> None:
    assert loaded(tmp_path, "version: 1\nexecutor: local\n") == Site()


def test_short_forms_mean_the_same(tmp_path: Path) -> None:
    """A path is a program, `build` is a way of images, and one line of setup needs no list."""
    site = loaded(tmp_path, "version: 1\nexecutor: slurm\nprogram: /opt/o\nimages: build\nsetup: module load x\n")

    assert (site.program, site.images, site.setup) == (Program("/opt/o"), NodeImages(), ("module load x",))


def test_all_mistakes_are_reported_at_once(tmp_path: Path) -> None:
    text = (
        "version: 1\nexecutor: slrum\npartition: a b\nnodes_at_one: 3\nnodes_at_once: 0\n"
        "sbatch: {qso: low, time: 5, contiguous: 1, qos: true}\nimages: pull\nprogram: {python: python3}\n"
    )

    assert mistakes(tmp_path, text) == [
        "2:11: executor: should be 'local', 'slurm' or 'kubernetes', not 'slrum'; did you mean 'slurm'?",
        "3:12: partition: 'a b' should be a word of letters, digits, '.', '_', '+' and '-'",
        "4:1: unknown key 'nodes_at_one'; did you mean 'nodes_at_once'?",
        "5:16: nodes_at_once: should be at least 1, not 0",
        "6:10: sbatch: unknown option of sbatch 'qso'; did you mean 'qos'?",
        "6:20: sbatch: sbatch's 'time' is set by this program, from its own keys and from the plan; drop it",
        "6:41: sbatch.contiguous: is a switch: write true, or drop the key",
        "6:49: sbatch.qos: needs a value; true is for switches",
        "7:9: images: should be build, or a mapping with pushed or bundle, not 'pull'",
        "8:10: program: needs a path or a wheel, one of the two",
    ]


def test_another_cluster_is_no_option(tmp_path: Path) -> None:
    """`squeue`, `scancel` and `sacct` would ask this one about its jobs."""
    (mistake,) = mistakes(tmp_path, "version: 1\nexecutor: slurm\nsbatch: {clusters: other}\n")

    assert mistake.startswith("3:10: sbatch: sbatch's 'clusters' submits to another cluster, which nothing else here")
    assert mistake.endswith("with the SLURM_CONF of that cluster")


def test_a_job_has_no_more_nodes_than_a_run(tmp_path: Path) -> None:
    (mistake,) = mistakes(tmp_path, "version: 1\nexecutor: slurm\nnodes_at_once: 2\nreplicate: 3\n")

    assert mistake == (
        "4:12: replicate: each job has 3 nodes, and `nodes_at_once: 2` allows fewer; lower it, or raise the other"
    )


@pytest.mark.parametrize(
    ("time", "mistake"),
    [
        ("longest: 299", "'longest' should be at least 5m: a job is asked to stop 90 s before its time limit"),
        ("longest: 10m, shortest: 11m", "'shortest' is above 'longest'; lower one or raise the other"),
    ],
)
def test_a_time_limit_leaves_time_to_measure(tmp_path: Path, time: str, mistake: str) -> None:
    text = f"version: 1\nexecutor: slurm\ntime: {{{time}}}\n"

    assert mistakes(tmp_path, text) == [f"3:7: time: {mistake}"]


def test_the_shortest_time_gives_way_to_the_longest(tmp_path: Path) -> None:
    site = loaded(tmp_path, "version: 1\nexecutor: slurm\ntime: {longest: 6m}\n")

    assert site.time == TimeLimits(shortest_s=360, longest_s=360)


def test_ways_of_images_and_results_have_mistakes_too(tmp_path: Path) -> None:
    text = "version: 1\nexecutor: slurm\nimages: {pushed: a, bundle: b}\nresults: {on_nodes: scratch, folders: r}\n"

    assert mistakes(tmp_path, text) == [
        "3:9: images: has pushed and bundle; keep one",
        "4:21: results.on_nodes: should be an absolute path, which is the same on every node, not 'scratch'",
        "4:30: results: unknown key 'folders'; did you mean 'folder'?",
    ]


def test_results_have_a_folder_and_places_on_nodes(tmp_path: Path) -> None:
    site = loaded(tmp_path, "version: 1\nexecutor: slurm\nresults: {folder: here, on_nodes: /local/bench}\n")

    assert (site.results, site.on_nodes) == (str(tmp_path / "here"), "/local/bench")


def test_results_on_nodes_mean_nothing_locally(tmp_path: Path) -> None:
    text = "version: 1\nexecutor: local\nresults: {on_nodes: /local/bench}\n"

    assert mistakes(tmp_path, text) == ["3:11: results: 'on_nodes' is of no use to `executor: local`; drop it"]


def test_pods_leave_no_results_on_nodes(tmp_path: Path) -> None:
    text = f"version: 1\nexecutor: kubernetes\n{PODS}results: {{on_nodes: /local/bench}}\n"

    assert mistakes(tmp_path, text) == ["4:11: results: 'on_nodes' is of no use to `executor: kubernetes`; drop it"]


def test_keys_of_slurm_mean_nothing_locally(tmp_path: Path) -> None:
    text = "version: 1\nexecutor: local\npartition: gpu\n"

    assert mistakes(tmp_path, text) == ["3:1: 'partition' is of no use to `executor: local`; drop it"]


PODS = "kubernetes: {image: 'r.example/o:1', claim: results, queue: bench, cpus: 62, memory: 240Gi}\n"


def test_a_site_with_kubernetes_has_pods(tmp_path: Path) -> None:
    text = PODS.replace("}", ", gpus: 8, node_selector: {pool: bench}, tolerations: [gpu], variables: {A: b}}")
    site = loaded(tmp_path, f"version: 1\nexecutor: kubernetes\nreplicate: 2\nresults: shared\n{text}")

    assert (site.executor, site.replicate, site.results) == (Executor.KUBERNETES, 2, str(tmp_path / "shared"))
    assert site.kubernetes == Pods(
        "r.example/o:1", "results", "bench", 62, "240Gi", gpus=8, node_selector=(("pool", "bench"),),
        tolerations=("gpu",), variables=(("A", "b"),),
    )  # fmt: skip


def test_mistakes_about_pods_come_at_once(tmp_path: Path) -> None:
    wrong = (
        "kubernetes: {image: 'a b', claim: Results, queu: q, cpus: 1.5, memory: 1GB, user: 0, variables: {HOME: x}}\n"
    )

    found = mistakes(tmp_path, f"version: 1\nexecutor: kubernetes\npartition: gpu\nsetup: x\n{wrong}")
    assert [line.partition(":")[0] for line in found] == ["3", "4", *["5"] * 8]
    assert sum("'queue' is missing" in line or "did you mean 'queue'" in line for line in found) == 2
    assert "'HOME' is set by this program; drop it" in "\n".join(found)


def test_pods_go_with_kubernetes_alone(tmp_path: Path) -> None:
    assert mistakes(tmp_path, f"version: 1\nexecutor: slurm\n{PODS}") == [
        "3:1: 'kubernetes' is of no use to `executor: slurm`; drop it"
    ]
    (missing,) = mistakes(tmp_path, "version: 1\nexecutor: kubernetes\n")
    assert missing.endswith("'kubernetes' is missing, which `executor: kubernetes` needs")


@pytest.mark.parametrize("value", ["a#b", "'a\"b'", "'a\\nb'"])
def test_a_value_never_leaves_its_line(tmp_path: Path, value: str) -> None:
    """A comment sign or a quote would change the meaning of an `#SBATCH` line."""
    text = f"version: 1\nexecutor: slurm\nsbatch:\n  comment: {value}\n"

    (mistake,) = mistakes(tmp_path, text)
    assert mistake.startswith("4:12: sbatch.comment: ")


def test_a_newer_version_is_refused(tmp_path: Path) -> None:
    assert mistakes(tmp_path, "version: 2\nexecutor: local\n") == [
        "1:10: version: 2 is newer than this orchestrator reads (1): upgrade it"
    ]
