"""The Jobs of a run on Kubernetes, one for each part, from its plan and a site.

A pod is a whole node: it asks for all that a node has for pods, in the class `Guaranteed`, and none of ours joins it.
Kueue admits the Jobs, which are suspended until then.
"""

from collections.abc import Iterable, Iterator
from typing import Any

import yaml

from orchestrator.clusters.arrays import Wanted, minutes
from orchestrator.clusters.parts import Part
from orchestrator.clusters.site.model import Pods, Site
from orchestrator.wording import counted

QUEUE_LABEL = "kueue.x-k8s.io/queue-name"
NAME = "framework-bench"
HOST_LABEL = "kubernetes.io/hostname"
NAME_LABEL, RUN_LABEL, PART_LABEL = "app.kubernetes.io/name", f"{NAME}/run", f"{NAME}/part"
GRACE_S = 90
"""Time for a repeat to end after the pod was asked to stop."""
RESULTS = "/results"
HOME, TMP, SHM = "/home/bench", "/tmp", "/dev/shm"  # noqa: S108 - the pod's own
NODE_VARIABLE = "ORCHESTRATOR_NODE"
"""Names the node to the program, which sees the name of its pod as that of the host."""


def lacking(parts: Iterable[Part], pods: Pods) -> Iterator[str]:
    """Yield a sentence for each part that needs more than a node of the site has."""
    for part in parts:
        if part.needs.cpus > pods.cpus:
            needed, has = counted(part.needs.cpus, "CPU"), counted(pods.cpus, "CPU")
            yield f"part {part.name} needs {needed}, and kubernetes.cpus says {has}: leave its cells out with --exclude"
        if part.needs.gpus > pods.gpus:
            needed, has = counted(part.needs.gpus, "GPU"), counted(pods.gpus, "GPU")
            yield f"part {part.name} needs {needed}, and kubernetes.gpus says {has}: leave its cells out with --exclude"


def text(run: str, jobs: Iterable[dict[str, Any]]) -> str:
    """Return the file of the Jobs of a run. Their names are made by the cluster, so they are created, not applied."""
    head = f"# The Jobs of run {run}: kubectl create -f FILE\n"
    return head + yaml.safe_dump_all(jobs, sort_keys=False, explicit_start=True, width=120)


def job(wanted: Wanted, run: str, site: Site, pods: Pods, *, retry_failed: bool = False) -> dict[str, Any]:
    """Return the Job of a part."""
    part = wanted.part
    labels = {NAME_LABEL: NAME, RUN_LABEL: run, PART_LABEL: part.name}
    metadata = {
        "generateName": f"bench-{run}-{part.name}-".lower(),
        **({"namespace": pods.namespace} if pods.namespace else {}),
        "labels": {**labels, QUEUE_LABEL: pods.queue},
    }
    again = ["--retry-failed"] if retry_failed else []
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": metadata,
        "spec": {
            "suspend": True,  # until Kueue admits it
            "parallelism": wanted.nodes,
            "completions": wanted.nodes,
            # A pod that fails ends by itself, and not the others. A later rendering tries again with what is left.
            "completionMode": "Indexed",
            "backoffLimitPerIndex": 0,
            "activeDeadlineSeconds": 60 * minutes(part.seconds, site.time),
            "template": {
                "metadata": {"labels": labels},
                "spec": _pod(wanted, pods, run, ["run", "--part", f"{RESULTS}/{run}/parts/{part.name}", *again]),
            },
        },
    }


def _pod(wanted: Wanted, pods: Pods, run: str, arguments: list[str]) -> dict[str, Any]:
    selector = {"nodeSelector": dict(pods.node_selector)} if pods.node_selector else {}
    tolerations = [{"key": key, "operator": "Exists"} for key in pods.tolerations]
    apart = {"labelSelector": {"matchLabels": {NAME_LABEL: NAME}}, "topologyKey": HOST_LABEL}
    return {
        "restartPolicy": "Never",
        "terminationGracePeriodSeconds": GRACE_S,
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        **selector,
        **({"tolerations": tolerations} if tolerations else {}),
        "affinity": {
            "podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [apart]},
            **_nodes(wanted),
        },
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": pods.user,
            "runAsGroup": pods.user,
            "fsGroup": pods.user,
            "fsGroupChangePolicy": "OnRootMismatch",
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "containers": [_container(pods, run, arguments)],
        "volumes": [
            {"name": "results", "persistentVolumeClaim": {"claimName": pods.claim}},
            {"name": "home", "emptyDir": {}},
            {"name": "tmp", "emptyDir": {"sizeLimit": "2Gi"}},
            {"name": "shm", "emptyDir": {"medium": "Memory", "sizeLimit": "1Gi"}},
        ],
    }


def _nodes(wanted: Wanted) -> dict[str, Any]:
    """Return the affinity to nodes that have not measured a part, and best to those that have begun it.

    A pod that had to come to one of those would wait for ever if that node has gone.
    """
    affinity: dict[str, Any] = {}
    if wanted.measured_on:
        others = _named("NotIn", wanted.measured_on)
        affinity["requiredDuringSchedulingIgnoredDuringExecution"] = {"nodeSelectorTerms": [others]}
    if wanted.begun_on:
        same = {"weight": 100, "preference": _named("In", wanted.begun_on)}
        affinity["preferredDuringSchedulingIgnoredDuringExecution"] = [same]
    return {"nodeAffinity": affinity} if affinity else {}


def _named(operator: str, nodes: tuple[str, ...]) -> dict[str, Any]:
    return {"matchExpressions": [{"key": HOST_LABEL, "operator": operator, "values": list(nodes)}]}


def _container(pods: Pods, run: str, arguments: list[str]) -> dict[str, Any]:
    node = {"name": NODE_VARIABLE, "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}}
    fixed = {"HOME": HOME, "ORCHESTRATOR_LOCK_FOLDER": TMP, **dict(pods.variables)}
    amounts = {"cpu": str(pods.cpus), "memory": pods.memory}
    if pods.gpus:
        amounts[pods.gpu_resource] = str(pods.gpus)
    return {
        "name": "part",
        "image": pods.image,
        "command": ["orchestrator"],
        "args": arguments,
        "workingDir": HOME,
        "env": [node, *({"name": name, "value": value} for name, value in fixed.items())],
        # Equal amounts make the class Guaranteed. Where the node's policy is static, whole CPUs are then the pod's own.
        "resources": {"requests": dict(amounts), "limits": dict(amounts)},
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "privileged": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        },
        "volumeMounts": [
            # No other run of the claim is seen.
            {"name": "results", "mountPath": f"{RESULTS}/{run}", "subPath": run},
            {"name": "home", "mountPath": HOME},
            {"name": "tmp", "mountPath": TMP},
            {"name": "shm", "mountPath": SHM},
        ],
    }
