"""The pods of a site with Kubernetes, as they are written in `site.yaml`."""

from typing import Annotated

from pydantic import AfterValidator, Field, StrictInt

from orchestrator.clusters.site.model import Pods
from orchestrator.matrix.values.kinds import IMAGE, VARIABLE, Text
from orchestrator.matrix.values.shapes import Shape

DNS_NAME = r"^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$"
LABEL_KEY = r"^([a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?/)?[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?$"
LABEL_VALUE = r"^([A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?)?$"
QUANTITY = r"^[1-9][0-9]{0,17}(Ki|Mi|Gi|Ti|k|M|G|T)?$"
_OWN = frozenset({"HOME", "ORCHESTRATOR_LOCK_FOLDER", "ORCHESTRATOR_NODE"})

DnsName = Annotated[Text, Field(pattern=DNS_NAME)]
LabelKey = Annotated[Text, Field(pattern=LABEL_KEY, max_length=317)]
LabelValue = Annotated[Text, Field(pattern=LABEL_VALUE)]


def _free(name: str) -> str:
    if name in _OWN:
        raise ValueError(f"{name!r} is set by this program; drop it")
    return name


Variable = Annotated[Text, Field(pattern=VARIABLE), AfterValidator(_free)]


class KubernetesEntry(Shape):
    """The pods that measure the parts. Each asks for a whole node."""

    image: Annotated[Text, Field(pattern=IMAGE)] = Field(
        description="Image of the orchestrator, with a Python for each environment; best by digest."
    )
    claim: DnsName = Field(description="Volume claim that holds the results folder.")
    queue: DnsName = Field(description="Local queue of Kueue.")
    namespace: DnsName | None = Field(None, description="Namespace of the Jobs; left out: that of kubectl.")
    cpus: Annotated[StrictInt, Field(ge=1, le=10_000)] = Field(
        description="CPUs that a node has for pods, so that nothing else fits next to one."
    )
    memory: Annotated[Text, Field(pattern=QUANTITY)] = Field(description="Memory that a node has for pods, as 240Gi.")
    gpus: Annotated[StrictInt, Field(ge=0, le=64)] = Field(0, description="GPUs of a node.")
    gpu_resource: LabelKey = Field("nvidia.com/gpu", description="The cluster's name of GPUs.")
    node_selector: dict[LabelKey, LabelValue] = Field({}, description="Labels that choose nodes of one kind.")
    tolerations: list[LabelKey] = Field([], description="Keys of taints that the pods tolerate.")
    user: Annotated[StrictInt, Field(ge=1, le=2**31 - 1)] = Field(
        10_001, description="Id of the user and of the group, who may write to the claim; not root."
    )
    variables: dict[Variable, Annotated[Text, Field(max_length=2000)]] = Field(
        {}, description="Further variables of the pods, such as PIP_INDEX_URL. They are no place for secrets."
    )


def pods(entry: KubernetesEntry) -> Pods:
    """Return the values of an entry."""
    return Pods(
        image=entry.image,
        claim=entry.claim,
        queue=entry.queue,
        namespace=entry.namespace or "",
        cpus=entry.cpus,
        memory=entry.memory,
        gpus=entry.gpus,
        gpu_resource=entry.gpu_resource,
        node_selector=tuple(sorted(entry.node_selector.items())),
        tolerations=tuple(entry.tolerations),
        user=entry.user,
        variables=tuple(sorted(entry.variables.items())),
    )
