import json
from dataclasses import replace
from typing import Any

import pytest

from orchestrator.build_settings import BuildSettings
from orchestrator.bundles.describe import provenance
from orchestrator.domain import Environment, Framework, ImageSpec
from orchestrator.engine.images import ImageFacts
from orchestrator.images import Inputs, labels, render

SPEC = ImageSpec(
    repository="bench/noop",
    alias="1-cpu",
    image_class="cpu",
    framework=Framework("noop", "1", python="3.11"),
    environment=Environment("noop", "3.11", requirements=("thing==1.0",), system_packages=("libgomp1",)),
)
SETTINGS = BuildSettings(
    pip_index="https://user:secret@index.example/simple?token=secret#secret",
    extra_indexes=("https://secret@other.example/simple", "file:///srv/index"),
    find_links=("/srv/wheels",),
    cuda_images=(("10.1", "corp/cuda:10.1"),),
)
LABELS = {
    labels.BASE_DIGEST: "python@sha256:" + "01" * 32,
    labels.DOCKERFILE: "23" * 32,
    labels.ORCHESTRATOR: "0.0.9",
}
FACTS = ImageFacts("sha256:" + "ab" * 32, "", LABELS, ("bench/noop:1-cpu",), "2026-01-02T03:04:05Z", 1)


def told(facts: ImageFacts = FACTS) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(provenance.statement(render(SPEC, SETTINGS, Inputs(())), facts, SETTINGS))
    return document


def test_statement_names_the_image_by_its_digest() -> None:
    document = told()

    assert (document["_type"], document["predicateType"]) == (provenance.STATEMENT, provenance.PREDICATE)
    (subject,) = document["subject"]
    assert subject["name"].startswith("bench/noop:1-cpu-")
    assert subject["digest"] == {"sha256": "ab" * 32}


def test_statement_has_time_and_version_of_build() -> None:
    """A statement has the time and the version of the image's build, not those of the export."""
    run = told()["predicate"]["runDetails"]

    assert run["metadata"] == {"finishedOn": "2026-01-02T03:04:05Z"}
    assert run["builder"]["version"] == {"orchestrator": "0.0.9"}


def test_statement_names_its_bases_by_digest() -> None:
    """A statement says by digest what the image stands on."""
    definition = told()["predicate"]["buildDefinition"]

    assert definition["resolvedDependencies"] == [{"name": "python", "digest": {"sha256": "01" * 32}}]
    assert definition["internalParameters"]["dockerfile_sha256"] == "23" * 32
    assert definition["externalParameters"]["requirements"] == ["thing==1.0"]


def test_base_without_registry_takes_the_recipes_name() -> None:
    """A base from no registry has its name from the recipe."""
    facts = replace(
        FACTS, labels={labels.BASE_DIGEST: "sha256:" + "45" * 32, labels.CUDA_DIGEST: "sha256:" + "67" * 32}
    )

    assert told(facts)["predicate"]["buildDefinition"]["resolvedDependencies"] == [
        {"name": "python:3.11-slim-bookworm", "digest": {"sha256": "45" * 32}},
        {"name": "cuda", "digest": {"sha256": "67" * 32}},
    ]


@pytest.mark.parametrize("label", [labels.DOCKERFILE, labels.ORCHESTRATOR])
def test_facts_an_image_lacks_are_not_invented(label: str) -> None:
    facts = replace(FACTS, labels={name: value for name, value in LABELS.items() if name != label})

    assert provenance.NOT_RECORDED in json.dumps(told(facts)["predicate"])


def test_places_of_packages_are_told_without_credentials() -> None:
    sources = told()["predicate"]["buildDefinition"]["internalParameters"]["package_sources"]

    assert "secret" not in json.dumps(told())
    assert sources["index"] == "https://index.example/simple"
    assert sources["extra_indexes"] == ["https://other.example/simple", "file:///srv/index"]
    assert sources["find_links"] == ["/srv/wheels"]
    assert sources["cuda_images"] == {"10.1": "corp/cuda:10.1"}


def test_equal_images_have_equal_statements() -> None:
    assert json.dumps(told()) == json.dumps(told())
