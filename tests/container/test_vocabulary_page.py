"""The models that docs/models.md shows are models, and its table names every call that there is."""

import importlib
import inspect
import pkgutil
import re
from pathlib import Path

import pytest

from benchmarks import models, own_models
from benchmarks.vocabulary import counting, graph
from benchmarks.vocabulary.layers import Net
from tests.documented import blocks, whole

PAGE = whole("models.md")
MODELS = [*blocks("models.md", "A model", "python"), *blocks("models.md", "The vocabulary", "python")]


@pytest.mark.parametrize("text", MODELS)
def test_a_model_on_the_page_is_one(tmp_path: Path, text: str) -> None:
    (tmp_path / "shown.py").write_text(text)

    model = own_models.load(str(tmp_path / "shown.py"), "shown")
    recorded = tuple(own_models.record(model).layers)

    assert recorded[-1].output_shape == (model.CLASSES,)
    assert counting.parameters(recorded) > 1000
    assert graph.is_stack(recorded) == ("add" not in {layer.kind for layer in recorded})


def test_the_page_lists_every_model_with_its_facts() -> None:
    """By the files themselves: parameters, multiply-adds, batch and optimizer."""
    rows = re.findall(r"^\| (?:W\d+|–) \| (.*) \|$", PAGE, re.MULTILINE)
    shown = {row.split(" | ")[0].strip("`"): tuple(row.split(" | ")[2:6]) for row in rows}

    facts = {}
    for each in pkgutil.iter_modules(models.__path__):
        if each.ispkg:
            continue
        model = importlib.import_module(f"benchmarks.models.{each.name}")
        recorded = tuple(own_models.record(model).layers)
        counts = [
            format(count(recorded), ",").replace(",", " ") for count in (counting.parameters, counting.multiply_adds)
        ]
        optimizer = f"{model.OPTIMIZER['name']} {model.OPTIMIZER['learning_rate']:g}"
        facts[each.name] = (*counts, str(model.BATCH_SIZE), optimizer)
    assert shown == facts


def test_the_table_has_every_call_with_its_parameters() -> None:
    shown = dict(re.findall(r"`(\w+)\(([^`]*)\)`", PAGE.split("## The vocabulary")[1].split("\n## ")[0]))

    calls = {name: value for name, value in inspect.getmembers(Net, inspect.isfunction) if not name.startswith("_")}
    assert set(shown) == set(calls)
    for name, call in calls.items():
        parameters = list(inspect.signature(call).parameters.values())[1:]
        assert shown[name] == ", ".join(str(parameter).replace("'", '"') for parameter in parameters)
