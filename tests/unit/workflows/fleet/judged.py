"""A report of a fleet check with a node of every kind."""

from orchestrator.analysis.fleet import Likeness, NodeFinding
from orchestrator.workflows.fleet.findings import CellOverFleet, FleetReport

CELLS = (
    CellOverFleet(
        "noop-1-cpu/lenet-train-b200", 8, 0.985, 1.0152,
        (
            NodeFinding("node1", Likeness.LIKE, 1.002, 0.998, 1.006),
            NodeFinding("node2", Likeness.UNDECIDED, 0.984, 0.978, 0.990),
            NodeFinding("node3", Likeness.UNLIKE, 0.951, 0.946, 0.956),
        ),
        ("node4",),
    ),
    CellOverFleet("noop-1-cpu/mlp-train-b32", 0, None, None, (), ("node1", "node2", "node3", "node4")),
)  # fmt: skip
JUDGED = FleetReport(
    run="20260102T030405Z-abcd",
    nodes=("node1", "node2", "node3", "node4"),
    rounds=8,
    cells=CELLS,
    unlike=("node3",),
    undecided=("node2",),
    sentence="Of 3 nodes, node3 is unlike its sisters.",
    notes=("Within a round, nodes began up to 5.00 s apart.",),
)
