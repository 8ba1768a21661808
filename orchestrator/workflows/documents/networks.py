"""The document of a network that was made anonymous."""

from typing_extensions import TypedDict

from orchestrator.documents import DocumentKind, Envelope
from orchestrator.networks.roles import StoredTensor
from orchestrator.workflows.networks.anonymise import TOLERANCE, AnonymiseResult


class StoredTensorData(TypedDict):
    """A tensor of the original."""

    name: str
    shape: list[int]
    why: str
    """The place or the values by which it is learned or not."""


class KeptAttributeData(TypedDict):
    """A value of an attribute of an operator, which stays."""

    operator: str
    name: str
    value: str
    nodes: int
    """The number of nodes that have it."""


class ProvedSpeedData(TypedDict):
    """The throughput of the new network over that of the original."""

    engine: str
    run: str
    ratio: float | None
    """None if a side has no result."""
    low: float | None
    high: float | None
    """Ends of the 95 % interval."""
    verdict: str | None
    """`same` if the interval lies within the tolerance."""
    tolerance: float


class AnonymisedNetworkData(TypedDict):
    """A network without what was learned."""

    file: str
    replaced: list[StoredTensorData]
    kept: list[StoredTensorData]
    attributes: list[KeptAttributeData]
    inputs: dict[str, str]
    """Former name of each input → its name now."""
    outputs: dict[str, str]
    axes: dict[str, str]
    shapes: int
    """Values whose shapes were inferred, and are those of the original."""
    values: int
    """All values that the nodes of the network make."""
    speed: ProvedSpeedData | None
    """None if it was not asked for."""


ANONYMISED_NETWORK = DocumentKind("anonymised-network", 1, AnonymisedNetworkData)


def anonymised_document(result: AnonymiseResult) -> Envelope:
    """Return the document of a network that was written."""
    data: AnonymisedNetworkData = {
        "file": str(result.file),
        "replaced": [_tensor(each) for each in result.anonymised.replaced],
        "kept": [_tensor(each) for each in result.anonymised.kept],
        "attributes": [
            {"operator": each.operator, "name": each.name, "value": each.value, "nodes": each.nodes}
            for each in result.anonymised.attributes
        ],
        "inputs": dict(result.anonymised.inputs),
        "outputs": dict(result.anonymised.outputs),
        "axes": dict(result.anonymised.axes),
        "shapes": result.shapes,
        "values": result.values,
        "speed": _speed(result) if result.engine else None,
    }
    return ANONYMISED_NETWORK.envelope(data)


def _tensor(stored: StoredTensor) -> StoredTensorData:
    return {"name": stored.name, "shape": list(stored.tensor.dims), "why": stored.why}


def _speed(result: AnonymiseResult) -> ProvedSpeedData:
    speed = result.speed
    return {
        "engine": result.engine,
        "run": result.run,
        "ratio": speed.ratio if speed else None,
        "low": speed.low if speed else None,
        "high": speed.high if speed else None,
        "verdict": speed.verdict.value if speed else None,
        "tolerance": TOLERANCE,
    }
