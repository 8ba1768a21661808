"""A matrix of two parts that measure nothing, for a fake cluster."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from orchestrator.clusters.folder import ClusterRun
from orchestrator.clusters.site import Executor, Site
from orchestrator.events import Event, Notice
from orchestrator.workflows.cluster.options import ClusterOptions
from orchestrator.workflows.cluster.part import PartOptions, measure_part
from orchestrator.workflows.host.host import Host
from orchestrator.workflows.option_values import RuntimeName

MATRIX = "version: 1\nname: small\nframeworks: [noop==1]\nmodels: [lenet, mlp]\nsteps: 10\nrepeats: 1\nparity: false\n"
SLURM = Site(Executor.SLURM)
LENET, MLP = "noop-1-cpu/lenet-train-b200", "noop-1-cpu/mlp-train-b32"


@dataclass
class SmallCluster:
    """A folder that all nodes see, with a matrix, and what its submitter heard."""

    folder: Path
    programs: Mapping[str, str] = field(default_factory=dict)
    events: list[Event] = field(default_factory=list)

    def __post_init__(self) -> None:
        (self.folder / "matrix.yaml").write_text(MATRIX)

    def options(self, **changes: object) -> ClusterOptions:
        settings: dict[str, object] = {"file": self.folder / "matrix.yaml", **changes}
        return ClusterOptions(results=self.folder / "results", runtime=RuntimeName.HOST, idle_wait_s=0, **settings)  # type: ignore[arg-type]

    def resumed(self, **changes: object) -> ClusterOptions:
        return self.options(file=None, **changes)

    def host(self, node: str = "") -> Host:
        own = {"HOME": str(self.folder), "ORCHESTRATOR_LOCK_FOLDER": str(self.folder), "PATH": "/usr/bin:/bin"}
        named = {"SLURMD_NODENAME": node} if node else {}
        return Host({**own, **self.programs, **named}, self.events.append)

    def measure(self, cluster: ClusterRun, part: str, node: str) -> None:
        """Measure a part as its job does."""
        measure_part(PartOptions(part=cluster.part_folder(part)), self.host(node))

    @property
    def said(self) -> list[str]:
        return [event.message for event in self.events if isinstance(event, Notice)]


def waits(*steps: Callable[[], object]) -> tuple[list[float], Callable[[float], bool]]:
    """Return a list of the seconds that were waited for, and a wait that takes no time and does one step each time.

    After the last step it says that all must end.
    """
    waited: list[float] = []
    left = iter(steps)

    def pause(seconds: float) -> bool:
        waited.append(seconds)
        step = next(left, None)
        if step is None:
            return True
        step()
        return False

    return waited, pause
