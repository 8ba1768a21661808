"""The Jobs of Kubernetes: their text, what the published schema says of them, and how they are confined."""

import copy
import hashlib
import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from orchestrator.clusters.arrays import Wanted
from orchestrator.clusters.kubernetes import QUEUE_LABEL, job, lacking, text
from orchestrator.clusters.parts import NodeNeeds, Part
from orchestrator.clusters.site import Executor, Pods, Site, TimeLimits
from orchestrator.clusters.site.pods import DNS_NAME, LABEL_KEY, LABEL_VALUE

GOLDEN = Path(__file__).parents[2] / "golden" / "kubernetes"
PUBLISHED = Path(__file__).parent / "kubernetes" / "job-batch-v1.schema.json"
SCHEMA = Draft202012Validator(json.loads(PUBLISHED.read_text()))
RUN = "20260102T030405Z-abcd"
SMALL = Pods("registry.example/bench/orchestrator:1", "results", "bench", 62, "240Gi")
LARGE = Pods(
    "registry.example/bench/orchestrator@sha256:0123", "results", "gpus", 126, "960Gi", gpus=8, namespace="research",
    node_selector=(("gpu", "h100"), ("pool", "bench")), tolerations=("nvidia.com/gpu",), user=2000,
    variables=(("PIP_INDEX_URL", "https://index.example/simple"),),
)  # fmt: skip
PARTS = (
    Part("000", ("lenet-train-b200 on cpu",), 6, 20.0, NodeNeeds(cpus=2)),
    Part("001", ("resnet50-train-b64 on 8_gpu",), 6, 4000.0, NodeNeeds(gpus=8)),
)


def site(pods: Pods) -> Site:
    return Site(Executor.KUBERNETES, time=TimeLimits(longest_s=7200), kubernetes=pods)


def jobs(pods: Pods, **of_each: Any) -> list[dict[str, Any]]:
    return [job(Wanted(part, **of_each), RUN, site(pods), pods) for part in PARTS]


FILES = {"small": jobs(SMALL)[:1], "large": jobs(LARGE, nodes=2, measured_on=("node7",), begun_on=("node8",))}


@pytest.mark.parametrize("name", FILES)
def test_a_file_is_the_golden_text(name: str) -> None:
    written = text(RUN, FILES[name])

    path = GOLDEN / f"{name}.yaml"
    if os.environ.get("UPDATE_GOLDEN"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(written)
    assert written == path.read_text()


@pytest.mark.parametrize("name", FILES)
def test_a_job_is_as_kubernetes_publishes(name: str) -> None:
    documents = list(yaml.safe_load_all(text(RUN, FILES[name])))

    assert documents == FILES[name]
    assert [error.message for document in documents for error in SCHEMA.iter_errors(document)] == []


def test_the_published_schema_is_the_one_named() -> None:
    page = (PUBLISHED.parent / "README.md").read_text()

    assert f"`{PUBLISHED.name}` | `{hashlib.sha256(PUBLISHED.read_bytes()).hexdigest()}`" in page


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("spec", "suspended"), True),
        (("spec", "parallelism"), "1"),
        (("spec", "template", "spec", "containers", 0, "securityContext", "readOnlyRootFilesytem"), True),
        (("spec", "template", "spec", "containers", 0, "resources", "limits"), []),
        (("spec", "template", "spec", "volumes", 1, "emptyDir"), "2Gi"),
    ],
)
def test_the_published_schema_finds_mistakes(path: tuple[str | int, ...], value: object) -> None:
    document = copy.deepcopy(FILES["small"][0])
    inner: Any = document
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = value

    assert list(SCHEMA.iter_errors(document))


def pod_of(document: dict[str, Any]) -> dict[str, Any]:
    pod: dict[str, Any] = document["spec"]["template"]["spec"]
    return pod


@pytest.mark.parametrize("document", [each for name in FILES for each in FILES[name]])
def test_a_pod_is_guaranteed_and_confined(document: dict[str, Any]) -> None:
    """The class is Guaranteed if every container has equal amounts of CPUs and memory. Whole CPUs can be its own."""
    pod = pod_of(document)
    (container,) = pod["containers"]
    amounts = container["resources"]

    assert amounts["requests"] == amounts["limits"]
    assert {"cpu", "memory"} <= set(amounts["limits"])
    assert amounts["limits"]["cpu"].isdecimal()
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False, "privileged": False, "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }  # fmt: skip
    assert pod["securityContext"]["runAsNonRoot"]
    assert pod["securityContext"]["runAsUser"] > 0
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert pod["automountServiceAccountToken"] is False
    assert not {"hostNetwork", "hostPID", "hostIPC", "initContainers"} & set(pod)
    assert {key for volume in pod["volumes"] for key in volume} == {"name", "emptyDir", "persistentVolumeClaim"}


@pytest.mark.parametrize("document", [each for name in FILES for each in FILES[name]])
def test_kueue_admits_a_job(document: dict[str, Any]) -> None:
    assert document["spec"]["suspend"] is True
    assert document["metadata"]["labels"][QUEUE_LABEL]


@pytest.mark.parametrize("document", [each for name in FILES for each in FILES[name]])
def test_names_and_labels_are_of_kubernetes(document: dict[str, Any]) -> None:
    """A cluster adds five characters to a name, which then has 63 at most."""
    name = document["metadata"]["generateName"]
    labels = document["metadata"]["labels"] | document["spec"]["template"]["metadata"]["labels"]

    assert re.fullmatch(DNS_NAME, f"{name}x7k2p")
    assert all(re.fullmatch(LABEL_KEY, key) and re.fullmatch(LABEL_VALUE, value) for key, value in labels.items())


def test_time_limits_come_from_the_estimate() -> None:
    assert [each["spec"]["activeDeadlineSeconds"] for each in jobs(SMALL)] == [600, 7200]


def test_every_replicate_has_a_node() -> None:
    """No two pods of ours share a node.

    Nodes that have measured the part are left to others, and one that has begun it is preferred.
    """
    (document, _) = FILES["large"]
    affinity = pod_of(document)["affinity"]

    assert (document["spec"]["parallelism"], document["spec"]["completions"]) == (2, 2)
    (apart,) = affinity["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    assert apart["topologyKey"] == "kubernetes.io/hostname"
    assert apart["labelSelector"]["matchLabels"].items() <= document["spec"]["template"]["metadata"]["labels"].items()
    (term,) = affinity["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    assert term["matchExpressions"] == [{"key": "kubernetes.io/hostname", "operator": "NotIn", "values": ["node7"]}]
    (same,) = affinity["nodeAffinity"]["preferredDuringSchedulingIgnoredDuringExecution"]
    begun = {"key": "kubernetes.io/hostname", "operator": "In", "values": ["node8"]}
    assert same == {"weight": 100, "preference": {"matchExpressions": [begun]}}


def test_what_no_node_has_is_named() -> None:
    parts = (Part("003", (), 1, 1.0, NodeNeeds(cpus=64)), Part("004", (), 1, 1.0, NodeNeeds(gpus=1)), PARTS[0])

    assert list(lacking(parts, SMALL)) == [
        "part 003 needs 64 CPUs, and kubernetes.cpus says 62 CPUs: leave its cells out with --exclude",
        "part 004 needs 1 GPU, and kubernetes.gpus says 0 GPUs: leave its cells out with --exclude",
    ]
    assert list(lacking(PARTS, LARGE)) == []
