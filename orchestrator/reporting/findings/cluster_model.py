"""The nodes of a run on a cluster, as values of its report."""

from dataclasses import dataclass

Facts = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class NodeReport:
    """A node with what is known of it."""

    name: str
    facts: Facts
    """Title and text, in one order for all nodes; `–` where it is unknown."""
    parts: int
    """That count with its figures."""


@dataclass(frozen=True, slots=True)
class PartOnNode:
    """A part of the run with the node whose figures count."""

    name: str
    node: str
    """Empty for a part that no node has begun."""
    folder: str
    """Of its run, relative to that of the whole; empty as `node` is."""
    cells: tuple[str, ...]
    """Their ids."""
    end: str = ""
    """The end of its last job, if a repeat is left without an outcome."""


@dataclass(frozen=True, slots=True)
class CellOverNodes:
    """A cell that several nodes have measured."""

    cell_id: str
    label: str
    nodes: int
    samples_per_s: float
    """Geometric mean over the nodes."""
    low: float | None
    """Lower end of the interval over nodes, each of which counts once; None for one node."""
    high: float | None
    within: float | None
    """Standard deviation of the logarithm from repeat to repeat on a node; None if no node has two."""
    between: float | None
    """The same from node to node, beyond what repeats scatter."""


@dataclass(frozen=True, slots=True)
class NodeRanking:
    """The ranking of a group on one node."""

    node: str
    labels: tuple[str, ...]
    """The measured cells, the best first."""


@dataclass(frozen=True, slots=True)
class GroupOverNodes:
    """A group that several nodes have measured. Cells are ranked on each node by itself."""

    label: str
    rankings: tuple[NodeRanking, ...]
    cells: tuple[CellOverNodes, ...]
    holds: bool | None
    """False if a pair is decided one way on one node and the other way on another; None with one node."""
    sentence: str
    per_s: str = "samples/s"
    """The unit of throughput."""


@dataclass(frozen=True, slots=True)
class ClusterReport:
    """The nodes of a run, what differs between them, and which part of the run each has measured."""

    nodes: tuple[NodeReport, ...]
    notes: tuple[str, ...]
    """Sentences on what differs, to read before the figures."""
    parts: tuple[PartOnNode, ...]
    groups: tuple[GroupOverNodes, ...] = ()
    """Of a run whose parts were measured by several nodes each."""

    @property
    def folders(self) -> dict[str, str]:
        """The folder of the run that each cell's figures are of, by the id of the cell."""
        return {cell_id: part.folder for part in self.parts for cell_id in part.cells}

    @property
    def node_of(self) -> dict[str, str]:
        """The node that each cell's figures are of, by the id of the cell."""
        return {cell_id: part.node for part in self.parts for cell_id in part.cells}
