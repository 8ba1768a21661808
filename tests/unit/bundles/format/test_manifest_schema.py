"""The published schema is that of a bundle's manifest."""

import json
from pathlib import Path

import jsonschema

from orchestrator.bundles.format.manifest import manifest_schema
from tests.unit.bundles.small_bundles import an_engine, exported

PUBLISHED = Path(__file__).parents[4] / "docs" / "schemas" / "manifest.schema.json"


def test_the_published_schema_is_that_of_the_program() -> None:
    assert json.loads(PUBLISHED.read_text()) == manifest_schema(), (
        "run: orchestrator schema manifest > docs/schemas/manifest.schema.json"
    )


def test_a_manifest_is_what_its_schema_says(tmp_path: Path) -> None:
    engine = an_engine("1", "2")
    exported(engine, tmp_path / "first", ["1"])
    exported(engine, tmp_path / "second", ["1", "2"], since=tmp_path / "first")
    validator = jsonschema.Draft202012Validator(manifest_schema())

    for name in ("first", "second"):
        document = json.loads((tmp_path / name / "manifest.json").read_text())
        assert list(validator.iter_errors(document)) == []
    assert list(validator.iter_errors({**document, "schema": 2}))
