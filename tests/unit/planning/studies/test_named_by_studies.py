"""The models and releases that published studies name, against the page of models and against the catalog."""

import re
from collections.abc import Iterator
from functools import cache

from orchestrator import matrix, planning
from orchestrator.catalog import load, load_models
from orchestrator.domain import Framework, Plan
from orchestrator.resources import BENCHMARKS, IMAGES, ROOT
from tests.documented import whole
from tests.seen_backends import seen_backends

STUDIES = {
    "S1": "sktelecom-2018",
    "S2": "anu-2019",
    "S3": "smartia-2019",
    "S4": "keras-backends-2017",
    "S5": "tuberlin-2020",
}
"""Their names on the page of models."""
OF_KERAS = {"gru", "vgg16", "xception"}
"""Benchmarks of Keras itself, which a study took over without publishing figures of them."""
CATALOG = load(IMAGES / "catalog")
UNSEEN: dict[str, str] = {}
"""Releases that a study pins for CPUs and that were not seen to train, each with the reason."""


@cache
def _planned(name: str) -> Plan:
    models = load_models(BENCHMARKS / "models")
    loaded = matrix.load(ROOT / "studies" / f"{name}.yaml", CATALOG, models)
    return planning.plan(loaded, CATALOG, models)


def test_the_page_says_which_study_has_a_model() -> None:
    page = whole("models.md")
    shown = dict(re.findall(r"^\| W\d+ \| `(\w+)` \| ([^|]+) \|", page, re.MULTILINE))

    planned = {key: {cell.workload.model for cell in _planned(name).cells} for key, name in STUDIES.items()}
    assert shown == {
        model: "Keras" if model in OF_KERAS else ", ".join(key for key in STUDIES if model in planned[key])
        for model in shown
    }


def _measured_on_cpus() -> Iterator[Framework]:
    for name in STUDIES.values():
        yield from dict.fromkeys(cell.framework for cell in _planned(name).cells if not cell.system.gpus)


def _is_seen(framework: Framework) -> bool:
    if framework.backend is None:
        return framework.version in CATALOG.seen(framework.name)
    return framework.backend in seen_backends(CATALOG, framework.name, framework.version)


def test_every_study_release_was_seen_to_train() -> None:
    """Every release that a study measures on CPUs was seen to train, except those listed here."""
    unseen = {each.label for each in _measured_on_cpus() if not _is_seen(each)}

    assert unseen == set(UNSEEN), "train it, and add it to `known` or `known_backends` of its catalog file"
