import json
import re
from pathlib import Path

import jsonschema
import pytest
import yaml

from orchestrator import catalog, matrix, resources
from orchestrator.catalog import source
from tests.documented import whole

ROOT = Path(__file__).parent.parent.parent.parent
PUBLISHED = ROOT / "docs" / "schemas" / "matrix.schema.json"
EXAMPLES = re.findall(r"^```yaml\n(.*?)^```$", whole("matrix.md"), re.MULTILINE | re.DOTALL)


def valid(document: object) -> bool:
    return jsonschema.Draft202012Validator(matrix.schema()).is_valid(document)


def test_the_schema_is_valid_and_published() -> None:
    """The schema of a matrix is a valid JSON schema and the same as the published one."""
    jsonschema.Draft202012Validator.check_schema(matrix.schema())

    assert json.loads(PUBLISHED.read_text("utf-8")) == matrix.schema()


def test_every_key_is_described_for_editors() -> None:
    schema = matrix.schema()
    bare = [name for name, field in schema["properties"].items() if not field.get("description")]

    assert bare == []
    assert schema["title"] == "Benchmark matrix"


@pytest.mark.parametrize("example", EXAMPLES, ids=range(len(EXAMPLES)))
def test_every_example_loads_and_fits_the_schema(tmp_path: Path, example: str) -> None:
    """Every example of the page loads and fits the schema, and so does its long form."""
    path = tmp_path / "m.yaml"
    path.write_text(example, encoding="utf-8")
    (tmp_path / "wheels").mkdir()
    (tmp_path / "environments" / "torch").mkdir(parents=True)
    (tmp_path / "environments" / "torch" / "Dockerfile").touch()
    (tmp_path / "certificates.pem").touch()
    known = catalog.load(resources.IMAGES / "catalog")

    loaded = matrix.load(path, known, catalog.load_models(resources.BENCHMARKS / "models"))

    assert valid(source.read(path, "matrix").value)
    assert valid(matrix.long_form(loaded))


def test_the_page_has_examples() -> None:
    assert len(EXAMPLES) >= 8


@pytest.mark.parametrize(
    "change",
    [
        {"nam": "x"},
        {"repeats": 0},
        {"frameworks": []},
        {"frameworks": [{"version": "1"}]},
        {"models": [{"name": "lenet", "batch_size": []}]},
        {"modes": ["trian"]},
        {"timeout": "soon"},
        {"systems": {"cpu": {"memory": "8q"}}},
        {"build": {"proxi": "x"}},
    ],
)
def test_the_schema_refuses_what_loading_refuses(change: dict[str, object]) -> None:
    document = {"version": 1, "frameworks": ["mxnet==1.9.1"], "models": ["lenet"]}

    assert valid(document)
    assert not valid(document | change)


def test_the_default_matrix_loads_and_fits_the_schema() -> None:
    known = catalog.load(resources.IMAGES / "catalog")
    models = catalog.load_models(resources.BENCHMARKS / "models")

    default = matrix.load(resources.DEFAULT_MATRIX, known, models)

    assert valid(yaml.safe_load(resources.DEFAULT_MATRIX.read_text("utf-8")))
    assert {axes.name for axes in default.frameworks} == {"mxnet", "tensorflow", "torch", "keras-mxnet"}
