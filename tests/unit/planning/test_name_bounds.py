"""Names of a plan from anywhere: only such as a matrix can give."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from orchestrator.catalog import Catalog, ModelInfo
from orchestrator.domain import Environment, Mode, Plan, Workload
from orchestrator.errors import InputError
from orchestrator.planning.bounds import plan as bounds
from orchestrator.results.records import plan_from_json, plan_to_json
from orchestrator.user_files import ModelDefinition, ModelFile, MountedData, PrintedMetric, Script, ScriptFile, Workdir
from tests.unit.planning.conftest import Planner
from tests.unit.reporting import synthetic as s

SUM = "0" * 64
HOSTILE = ("../../../etc", "\x1b[31m\n", "x" * 100_000)
Change = Callable[[dict[str, Any]], None]


def _plan() -> Plan:
    """A plan that has every kind of name."""
    metric = PrintedMetric("rate", r"rate (\d+)", "samples/s", PrintedMetric.Better.HIGHER, file="log.csv")
    files = (ScriptFile("lm.py", 1, SUM),)
    script = Script("lm", (metric,), "lm.py", files, ("--fast",), (("A", "b"),), workdir=Workdir.COPY)
    scripted = replace(s.cell(s.MXNET, Workload("lm", Mode.SCRIPT, 1)), script=script)
    modelled = replace(
        s.cell(s.KERAS), definition=SUM, options=(("env.A", "b"), ("layout", "auto")), image="bench/keras-mxnet:x"
    )
    framework = replace(modelled.framework, packages=(("numpy", "1.23.5"),), image="mine:1")
    data = MountedData("own", "idx", "/data", (1, 28, 28), 10, 1, 1, ())
    plan = s.plan([replace(modelled, framework=framework), scripted])
    return replace(
        plan,
        images=tuple(replace(image, environment=Environment("mxnet", "3.11")) for image in plan.images),
        models=(ModelFile("lenet", "", SUM),),
        definitions=(ModelDefinition("lenet", "mxnet", "", SUM),),
        data=(data,),
    )


def _refusal(change: Change) -> list[str]:
    document = plan_to_json(_plan())
    change(document)
    with pytest.raises(InputError) as caught:
        plan_from_json(json.loads(json.dumps(document)))
    return list(caught.value.messages)


def _set(path: str, value: object) -> Change:
    """Set what lies at a path such as `cells.0.options.0.1`."""

    def change(document: Any) -> None:
        *outer, last = (int(part) if part.isdecimal() else part for part in path.split("."))
        for part in outer:
            document = document[part]
        document[last] = value

    return change


def test_plans_with_all_name_kinds_are_read() -> None:
    """A stored plan with every kind of name is read back as it was."""
    assert plan_from_json(json.loads(json.dumps(plan_to_json(_plan())))) == _plan()


@pytest.mark.parametrize("value", [*HOSTILE, ""], ids=["path", "escape", "long", "empty"])
@pytest.mark.parametrize(
    "path",
    [
        "name", "cells.0.framework.name", "cells.0.framework.version", "cells.0.framework.backend.name",
        "cells.0.framework.backend.version", "cells.0.framework.packages.0.0", "cells.0.framework.packages.0.1",
        "cells.0.framework.image", "cells.0.system.name", "cells.0.workload.model", "cells.0.workload.dataset",
        "cells.0.image", "cells.0.options.1.0", "images.0.repository", "images.0.alias", "images.0.image_class",
        "images.0.framework.name", "cells.1.script.metrics.0.name", "models.0.name", "models.0.sha256",
        "definitions.0.model", "definitions.0.builder", "definitions.0.sha256", "data.0.name",
    ],
)  # fmt: skip
def test_a_name_that_no_matrix_gives_is_refused(path: str, value: str) -> None:
    found = _refusal(_set(path, value))

    assert all(line.isprintable() and len(line) < 600 for line in found)


@pytest.mark.parametrize("value", HOSTILE, ids=["path", "escape", "long"])
@pytest.mark.parametrize("path", ["cells.0.definition", "cells.0.framework.python"])
def test_a_name_that_may_be_empty_is_bounded(path: str, value: str) -> None:
    assert _refusal(_set(path, value))


@pytest.mark.parametrize("value", HOSTILE[1:], ids=["escape", "long"])
@pytest.mark.parametrize(
    "path",
    ["cells.1.script.metrics.0.unit", "cells.1.script.arguments.0", "cells.0.options.1.1", "cells.0.options.0.1"],
)
def test_escapes_and_endless_texts_are_refused(path: str, value: str) -> None:
    """A text of a stored plan with an escape character or without end is refused."""
    assert _refusal(_set(path, value))


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        ("cells.0.options.0.0", "env.HOME", "HOME is set by the runtime"),
        ("cells.0.options.0.0", "env.OMP_NUM_THREADS", "OMP_NUM_THREADS is set by the runtime"),
        ("cells.0.options.0.0", "env.", "is no name of an environment variable"),
        ("cells.0.options.0.0", "env.A=B\0", "is no name of an environment variable"),
        ("cells.0.options.0.1", "a\0b", "env.A takes one line of text"),
        ("cells.0.options.0.1", True, "env.A takes text"),
        ("cells.0.options.0.1", 10**40, "is a number of more than 30 digits"),
        ("cells.1.script.metrics.0.pattern", "(", "is no regular expression"),
        ("cells.1.script.metrics.0.pattern", "(a)(b)", "has 2 groups"),
        ("cells.1.script.metrics.0.pattern", "", "is empty"),
        ("cells.1.script.metrics.0.pattern", "x" * 1001, "is longer than 1,000 characters"),
        ("cells.1.script.metrics.0.unit", "", "unit: ''"),
        ("cells.1.script.metrics.0.file", "../log", "leads out of the working directory"),
        ("cells.1.script.metrics.0.file", "/etc/passwd", "leads out of the working directory"),
        ("cells.1.script.metrics.0.file", "lm.py", "is one of the script's own files"),
        ("cells.1.script.workdir", "read-only", "needs `workdir: copy` too"),
        ("cells.0.framework.image", "mine:1\nRUN true", "own image"),
        ("cells.0.framework.image", "-v", "own image"),
        ("cells.0.framework.dockerfile", "a\nb", "Dockerfile"),
        ("images.0.image_class", "65_gpu", "image class"),
        ("cells.0.image", "bench/other:1-cpu", "is none of the plan's images"),
    ],
)
def test_a_mistake_is_named(path: str, value: object, said: str) -> None:
    found = _refusal(_set(path, value))

    assert any(said in line for line in found), found
    assert all(line.isprintable() for line in found)


def test_names_that_planning_really_makes_are_read(
    tmp_path: Path, known: Catalog, models: dict[str, ModelInfo]
) -> None:
    """Post-releases, packages, digests, tags that begin with `_`, a file with a long name, a Dockerfile."""
    (tmp_path / "Döckerfile x").write_text("FROM scratch\n")
    plan = Planner(tmp_path, known, models)
    plan.path = tmp_path / f"{'m' * 240}.yaml"
    frameworks = [
        "{name: mxnet, version: 1.9.1, packages: {numpy: 1.21.6+local.1}}",
        "{name: torch, image: 'localhost:5000/ml/torch:_2.1-Beta'}",
        f"{{name: torch, image: 'registry.example/torch@sha256:{'a' * 64}'}}",
        f"{{name: torch, image: 'torch:{'t' * 128}'}}",
        "{name: torch, version: 2.1, dockerfile: Döckerfile x}",
    ]
    made = plan(f"frameworks: [{', '.join(frameworks)}]\noptions: {{'*': {{env.A: ['', 'b\tc', 1.5]}}}}")

    assert len(made.cells) == 15
    assert list(bounds.problems(plan_from_json(json.loads(json.dumps(plan_to_json(made)))))) == []


@pytest.mark.parametrize("image", ["a b", "a\\nRUN true", "-v", "a" * 600])
def test_an_impossible_image_name_is_refused(plan: Planner, image: str) -> None:
    """A matrix cannot name an image that an engine cannot have."""
    said = plan.refusal(f'frameworks: [{{name: torch, image: "{image}"}}]')

    assert said.startswith("m.yaml:1:")


def test_the_framework_of_an_image_is_checked_too() -> None:
    assert _refusal(_set("images.1.framework.version", "a b")) == [
        "the stored plan is not readable: framework 'mxnet': 'a b' is no version: letters, digits and . _ + -"
    ]


def test_a_backend_has_no_backend() -> None:
    def nest(document: Any) -> None:
        backend = document["cells"][0]["framework"]["backend"]
        backend["backend"] = dict(backend)

    assert any("its backend has a backend" in said for said in _refusal(nest))
