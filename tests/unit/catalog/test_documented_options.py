"""docs/options.md names every option of the shipped catalog with its frameworks and default, and its example plans."""

import json
import re
from pathlib import Path

from orchestrator import catalog, matrix, planning, resources
from tests.documented import blocks

PAGE = Path(__file__).parent.parent.parent.parent / "docs" / "options.md"
ROW = re.compile(r"^\| \[`(\w+)`\]\(#(\w+)\) \| (.+?) \| `([^`]+)` \|", re.MULTILINE)
CATALOG = catalog.load(resources.IMAGES / "catalog")


def test_the_table_is_what_the_catalog_has() -> None:
    documented = {
        (option, framework, default)
        for option, _, frameworks, default in ROW.findall(PAGE.read_text("utf-8"))
        for framework in re.findall(r"`([\w-]+)`", frameworks)
    }

    assert documented == {
        (name, family, json.dumps(option.default).strip('"'))
        for family, entry in CATALOG.entries.items()
        for name, option in entry.options.items()
    }


def test_every_option_has_a_section_of_its_own() -> None:
    text = PAGE.read_text("utf-8")

    assert [
        anchor for option, anchor, *_ in ROW.findall(text) if f"\n## {option}\n" not in text or anchor != option
    ] == []


def test_the_example_plans_every_combination(tmp_path: Path) -> None:
    """The example plans every combination, and a compiler for PyTorch alone."""
    (example,) = blocks("options.md", "All of them", "yaml")
    path = tmp_path / "m.yaml"
    path.write_text(example)
    models = catalog.load_models(resources.BENCHMARKS / "models")

    found = planning.plan(matrix.load(path, CATALOG, models), CATALOG, models)

    assert (len(found.cells), len(found.skips)) == (8, 0)
    packages = {image.framework.name: image.environment.system_packages for image in found.images}
    assert packages == {"tensorflow": (), "torch": ("g++",)}


def test_a_late_option_stands_only_in_cells_of_a_matrix_that_names_it(tmp_path: Path) -> None:
    """Cells of other matrices keep the options, the ids and the checks that they had without it."""

    def planned(more: str) -> list[tuple[str, dict[str, object]]]:
        path = tmp_path / "m.yaml"
        path.write_text(f"version: 1\nframeworks: [onnxruntime==1.32.0]\nmodels: [lenet]\nmodes: [infer]\n{more}")
        models = catalog.load_models(resources.BENCHMARKS / "models")
        cells = planning.plan(matrix.load(path, CATALOG, models), CATALOG, models).cells
        return [(cell.id, dict(cell.options)) for cell in cells]

    ((cell_id, options),) = planned("")
    asked = planned("options: {onnxruntime: {quantisation: [none, static]}}")

    assert options == {"optimization": "all"}
    assert asked == [
        (cell_id, options | {"quantisation": "none"}),
        (f"{cell_id}-quantisation=static", options | {"quantisation": "static"}),
    ]
