"""A site as values, frozen with every run."""

from dataclasses import dataclass
from enum import StrEnum


class Executor(StrEnum):
    """The one that starts the parts of a run."""

    LOCAL = "local"
    """This host, one part after the other."""
    SLURM = "slurm"
    KUBERNETES = "kubernetes"
    """Kueue, which admits the Jobs that `render k8s` writes. Nothing here submits them."""


class ImagesFrom(StrEnum):
    """The way by which images come to a node."""

    BUILD = "build"
    REGISTRY = "registry"
    BUNDLE = "bundle"


class GpuRequest(StrEnum):
    """The option by which a job asks for its GPUs."""

    GRES = "gres"
    GPUS_PER_NODE = "gpus-per-node"
    NONE = "none"
    """None, on a cluster that does not hand out GPUs."""


@dataclass(frozen=True, slots=True)
class NodeImages:
    """The place that the images of a part come from."""

    kind: ImagesFrom = ImagesFrom.BUILD
    place: str = ""
    """The file that `push` wrote, or the bundle; empty for images that the node builds."""


@dataclass(frozen=True, slots=True)
class Program:
    """The orchestrator of a node. One of the two is set."""

    path: str = ""
    """An installed one, which every node sees at this path."""
    wheel: str = ""
    """A wheel in the shared folder, from which the first node installs it for all."""
    find_links: str = ""
    """Folder with the wheels that it needs; empty for the package index of the node."""
    python: str = "python3"
    """The Python of the node that it is installed for."""


@dataclass(frozen=True, slots=True)
class TimeLimits:
    """The time limit of a job, as a function of the estimate of its part."""

    margin: float = 3.0
    """Factor on the estimate."""
    shortest_s: float = 600.0
    longest_s: float | None = None
    """None for the limit of the partition, which the scheduler enforces."""


@dataclass(frozen=True, slots=True)
class Pods:
    """The pods of a cluster with Kubernetes, each of which has a whole node."""

    image: str
    """Of the orchestrator."""
    claim: str
    """The volume claim that holds the results folder."""
    queue: str
    """The local queue of Kueue."""
    cpus: int
    memory: str
    """A quantity of Kubernetes, such as `240Gi`."""
    gpus: int = 0
    gpu_resource: str = "nvidia.com/gpu"
    namespace: str = ""
    """Empty for that of whoever creates them."""
    node_selector: tuple[tuple[str, str], ...] = ()
    tolerations: tuple[str, ...] = ()
    """Keys of taints."""
    user: int = 10_001
    """Id of their user and group."""
    variables: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Site:
    """The cluster, or the host, that the parts of a run are measured on."""

    executor: Executor = Executor.LOCAL
    partition: str | None = None
    account: str | None = None
    constraint: str | None = None
    reservation: str | None = None
    nodes_at_once: int | None = None
    """The most nodes of one run at a time; None leaves that to the scheduler."""
    replicate: int = 1
    """The number of nodes that measure each part."""
    time: TimeLimits = TimeLimits()
    sbatch: tuple[tuple[str, str], ...] = ()
    """Further options of `sbatch` with their values, which are empty for a switch."""
    setup: tuple[str, ...] = ()
    """Lines of shell that run on a node before the program."""
    images: NodeImages = NodeImages()
    results: str | None = None
    """The results folder, which every node sees at this path; None takes that of the command."""
    on_nodes: str = ""
    """The folder of each node by itself that results are left in; empty if nodes see the results folder."""
    program: Program | None = None
    """None takes the program that submits, which every node then must see at the same path."""
    gpus: GpuRequest = GpuRequest.GRES
    gpu_types: tuple[tuple[str, str], ...] = ()
    """The name that the scheduler has for GPUs, by the `gpu` or `mig` of a system."""
    kubernetes: Pods | None = None
    """Set if, and only if, the executor is Kubernetes."""

    def on_node(self, run: str) -> str:
        """Return the folder of a run on each node by itself, by the name of the run."""
        return f"{self.on_nodes}/{run}"


def too_many_nodes(replicate: int, at_once: int) -> str:
    """Return the mistake of a job that has more nodes than the run may have at a time."""
    return f"each job has {replicate} nodes, and `nodes_at_once: {at_once}` allows fewer; lower it, or raise the other"
