"""Whatever a matrix holds: ids are unique and safe as paths, and images have legal names."""

import random
import re
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bench.robustness.mutations import corpus, mutated
from orchestrator import matrix, planning
from orchestrator.catalog import shipped_catalog, shipped_models
from orchestrator.domain import Framework, Plan, System
from orchestrator.errors import InputError
from orchestrator.planning import ids
from tests.effort import examples

QUICK = settings(max_examples=examples(200), derandomize=True, database=None, suppress_health_check=list(HealthCheck))
MATRICES = corpus()
TAG = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}")
REPOSITORY = re.compile(r"bench/[a-z0-9]+([._-]+[a-z0-9]+)*")
TEXT = st.text(max_size=300)


def planned(path: Path, content: bytes) -> Plan | None:
    path.write_bytes(content)
    models = shipped_models()
    try:
        loaded = matrix.load(path, shipped_catalog(), models)
        return planning.plan(loaded, shipped_catalog(), models)
    except InputError:
        return None


def is_safe(cell_ids: Sequence[str]) -> bool:
    """Assert that each is two plain names below a folder, and no two are one, on file systems that fold case too."""
    parts = [PurePosixPath(cell_id).parts for cell_id in cell_ids]
    plain = all(re.fullmatch(r"[A-Za-z0-9._=+-]{1,200}", part) and part.strip(".") for two in parts for part in two)
    return plain and all(len(two) == 2 for two in parts) and len(set(cell_ids)) == len(cell_ids)


@QUICK
@given(generator=st.randoms(use_true_random=False))
def test_mutated_matrices_give_safe_unique_names(
    tmp_path_factory: pytest.TempPathFactory, generator: random.Random
) -> None:
    """The ids and images of a mutated matrix have names that are safe and unique."""
    plan = planned(tmp_path_factory.getbasetemp() / "names.yaml", mutated(generator, MATRICES))
    if plan is None:
        return

    assert is_safe([cell.id for cell in plan.cells])
    assert len({image.name for image in plan.images}) == len(plan.images)
    for image in plan.images:
        assert TAG.fullmatch(f"{image.alias}-{'0' * 12}"), image.alias
        assert REPOSITORY.fullmatch(image.repository)


@QUICK
@given(TEXT, TEXT, TEXT, st.dictionaries(TEXT, TEXT, max_size=3))
def test_no_text_makes_an_unsafe_id_or_tag(name: str, version: str, image: str, packages: dict[str, str]) -> None:
    """No text in a matrix makes an unsafe part of an id or an illegal tag of an image."""
    framework = Framework(f"a{name}", version, python="3.11", packages=tuple(packages.items()), image=image or None)
    special = ids.environment(framework, "3.12")
    first = ids.first_part(framework, special, System("cpu"))
    second = ids.second_part(f"m{name}-train-b1", f"-{image}={version}")
    _, alias = ids.image(framework, f"v{special}", System("cpu"))

    assert is_safe([f"{first}/{second}"])
    assert TAG.fullmatch(f"{alias}-{'0' * 12}")


@QUICK
@given(st.text(min_size=190, max_size=260), st.text(min_size=190, max_size=260))
def test_cut_names_stay_distinct(one: str, other: str) -> None:
    """A long name that is cut to the limit still differs from all others."""
    cut = [ids.bounded(text, ids.MAX_PART) for text in (one, other)]

    assert all(len(text) <= ids.MAX_PART for text in cut)
    assert (cut[0] == cut[1]) == (one == other)
