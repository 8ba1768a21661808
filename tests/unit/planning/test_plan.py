import gc
import re
from typing import Any

import pytest
import yaml

from orchestrator import catalog, matrix, planning, resources
from orchestrator.domain import Duration, Framework, Status
from orchestrator.errors import InputError
from orchestrator.matrix import file
from orchestrator.matrix.values import generations, loads
from orchestrator.modes import OF_SUBJECTS
from orchestrator.modes.parts.sizes import AXES
from tests.unit.planning.conftest import ASSUMED


def test_the_smallest_plan_is_one_cell(plan: Any) -> None:
    """The smallest plan is one cell with everything resolved."""
    found = plan("name: small\nseed: 7\nrepeats: 2")

    assert (found.name, found.seed, found.skips, found.warnings) == ("small", 7, (), ())
    cell = found.cells[0]
    assert plan.ids(found) == ["mxnet-1.9.1-cpu/lenet-train-b200"]
    assert cell.framework == Framework("mxnet", "1.9.1", python="3.11")
    assert cell.options == (("hybridize", True),)
    assert (cell.repeats, cell.timeout_s, cell.expect, cell.duration) == (2, 600.0, Status.OK, Duration(10, 50, None))
    assert [image.name for image in found.images] == [cell.image] == ["bench/mxnet:1.9.1-cpu"]
    assert found.images[0].environment.requirements[0].startswith("mxnet>=1.9.1")


def test_a_matrix_has_the_bounds_of_every_plan(plan: Any) -> None:
    sizes = list(range(1, 102))

    with pytest.raises(InputError, match="all cells have 1,010,000 repeats together, more than 1,000,000"):
        plan(f"models: [{{name: lenet, batch_size: {sizes}}}]\nrepeats: 10000")


def test_axes_multiply_in_file_order(plan: Any) -> None:
    """Every axis of a matrix multiplies the cells, in the order of the file."""
    found = plan(
        "systems: {cpu: {cpus: 2}, wide: {cpus: 4}}\n"
        "frameworks: [mxnet==1.9.1, noop==1]\n"
        "models: [lenet, {name: mlp, batch_size: [32, 64]}]\n"
        "modes: [train, infer]\n"
        "options: {mxnet: {hybridize: [true, false]}}"
    )

    assert len(found.cells) == 2 * 3 * 2 * 2 + 2 * 3 * 2
    assert plan.ids(found)[:5] == [
        "mxnet-1.9.1-cpu/lenet-train-b200",
        "mxnet-1.9.1-cpu/lenet-train-b200-hybridize=false",
        "mxnet-1.9.1-cpu/lenet-infer-b200",
        "mxnet-1.9.1-cpu/lenet-infer-b200-hybridize=false",
        "mxnet-1.9.1-cpu/mlp-train-b32",
    ]
    assert plan.ids(found)[-1] == "noop-1-wide/mlp-infer-b64"


def test_systems_of_one_class_share_an_image(plan: Any) -> None:
    found = plan("systems: {cpu: {}, wide: {cpus: 4}, 1_gpu: {gpus: 1}, other_gpu: {gpus: 1}, 4_gpu: {gpus: 4}}")

    assert [image.name.rpartition(":")[2] for image in found.images] == ["1.9.1-cpu", "1.9.1-1_gpu", "1.9.1-4_gpu"]
    assert len(found.cells) == 5


def test_images_hold_only_what_options_need(plan: Any) -> None:
    """An image holds what an option needs only if one of its cells asks for that option."""
    torch = "frameworks: [torch==2.13.0, mxnet==1.9.1]\nsystems: {cpu: {}, 1_gpu: {gpus: 1}}\n"

    without = plan(torch)
    asked = plan(torch + "options: {torch: {layout: [auto, last]}}\nexclude: [{system: 1_gpu, layout: last}]")

    held = [("g++" in image.environment.system_packages, image.name) for image in (*without.images, *asked.images)]
    assert [name for has, name in held if has] == ["bench/torch:2.13.0-cpu"]
    assert len(held) == 8


def test_options_ask_nothing_of_own_images(plan: Any) -> None:
    """An option asks for nothing in an image of the user's own."""
    found = plan("frameworks: [{name: torch, image: own/torch}]\noptions: {torch: {layout: [last]}}")

    assert found.images[0].environment.system_packages == ()


def test_ids_show_values_off_their_default(plan: Any) -> None:
    """Ids show the Python, the packages and the backend that are off their default."""
    found = plan(
        "frameworks: [{name: torch, version: 2.13.0, python: ['3.11', '3.12'], packages: {numpy: [2.2.0, 2.3.0]}},"
        " keras-mxnet==2.2.4.3 on mxnet==1.5.1]"
    )

    assert [cell_id.partition("/")[0] for cell_id in plan.ids(found)] == [
        "torch-2.13.0-numpy=2.2.0-cpu",
        "torch-2.13.0-numpy=2.3.0-cpu",
        "torch-2.13.0-python=3.12-numpy=2.2.0-cpu",
        "torch-2.13.0-python=3.12-numpy=2.3.0-cpu",
        "keras-mxnet-2.2.4.3-on-mxnet-1.5.1-cpu",
    ]
    assert [image.name for image in found.images][-2:] == [
        "bench/torch:2.13.0-python3.12-numpy2.3.0-cpu",
        "bench/keras-mxnet:2.2.4.3-on-mxnet-1.5.1-cpu",
    ]
    assert {cell.framework.python for cell in found.cells} == {"3.11", "3.12", "3.6"}


def test_an_entrys_option_wins_over_all_others(plan: Any) -> None:
    """An option of an entry wins over those of the flavour, of the family and of everyone."""

    def chosen(framework: str, options: str) -> list[object]:
        return [
            dict(cell.options)["hybridize"] for cell in plan(f"frameworks: [{framework}]\noptions: {options}").cells
        ]

    everyone = "'*': {hybridize: [true, false]}"
    assert chosen("mxnet==1.9.1", "{}") == [True]
    assert chosen("mxnet==1.9.1", f"{{{everyone}}}") == [True, False]
    assert chosen("mxnet-mkl==1.6.0", f"{{{everyone}, mxnet: {{hybridize: false}}}}") == [False]
    assert chosen("mxnet-mkl==1.6.0", "{mxnet-mkl: {hybridize: true}, mxnet: {hybridize: false}}") == [True]
    assert chosen("{name: mxnet, version: 1.9.1, options: {hybridize: true}}", "{mxnet: {hybridize: false}}") == [True]


def test_an_option_skips_frameworks_that_lack_it(plan: Any) -> None:
    """An option that everyone is asked for skips the cells of frameworks that lack it."""
    found = plan("frameworks: [mxnet==1.9.1, noop==1]\noptions: {'*': {hybridize: [false]}}")

    assert plan.ids(found) == ["mxnet-1.9.1-cpu/lenet-train-b200-hybridize=false"]
    assert plan.skips(found) == {"noop-1-cpu/lenet-train-b200-hybridize=false": "noop has no option hybridize=false"}


def test_impossible_cells_are_skipped_with_reasons(plan: Any) -> None:
    """Cells that the catalog cannot make are skipped one by one, each with its reason."""
    found = plan(
        "systems: {cpu: {}, 1_gpu: {gpus: 1}}\n"
        "frameworks: [mxnet==1.9.1, mxnet==2.0.0, noop==1, {name: mxnet, version: 1.5.1, python: 3.13}]"
    )

    assert plan.ids(found) == [
        "mxnet-1.9.1-cpu/lenet-train-b200",
        "mxnet-1.9.1-1_gpu/lenet-train-b200",
        "noop-1-cpu/lenet-train-b200",
    ]
    reasons = plan.skips(found)
    assert reasons["mxnet-2.0.0-cpu/lenet-train-b200"].startswith("the catalog knows mxnet >=1.2,<1.10")
    assert reasons["noop-1-1_gpu/lenet-train-b200"].startswith("the catalog has no GPU build of noop 1")
    assert reasons["mxnet-1.5.1-python=3.13-cpu/lenet-train-b200"].startswith("mxnet 1.5.1 does not run on Python 3.13")
    assert len(found.cells) + len(found.skips) == 2 * 4


def test_own_images_are_cells_on_every_system(plan: Any) -> None:
    """The user's own image is a cell like any other, on every system."""
    plan.path.with_name("D").touch()
    found = plan(
        "systems: {cpu: {}, 1_gpu: {gpus: 1}}\n"
        "frameworks: [{name: noop, image: 'registry.example:5000/own/noop:2.1'}, {name: noop, dockerfile: D}]"
    )

    assert plan.ids(found) == [
        "noop-2.1-image-cpu/lenet-train-b200",
        "noop-2.1-image-1_gpu/lenet-train-b200",
        "noop-local-dockerfile-cpu/lenet-train-b200",
        "noop-local-dockerfile-1_gpu/lenet-train-b200",
    ]
    assert found.cells[0].framework.image == "registry.example:5000/own/noop:2.1"
    assert found.images[0].environment.requirements == ()


def test_two_images_of_one_name_are_refused(plan: Any) -> None:
    """Two images that would share a name are refused unless a version distinguishes them."""
    both = "frameworks: [{name: noop, image: 'one:2.1'}, {name: noop, image: 'other:2.1'VERSION}]"

    assert "noop 2.1 (one:2.1) and noop 2.1 (other:2.1) would share the image bench/noop:2.1-image-cpu" in plan.refusal(
        both.replace("VERSION", "")
    )
    assert len(plan(both.replace("VERSION", ", version: other-2.1")).cells) == 2


def test_two_cells_of_one_id_are_refused(plan: Any) -> None:
    """Two cells of one id are refused with a message that names both."""
    message = plan.refusal(
        "frameworks: [{name: mxnet, version: 1.9.1, python: '3.11'}, mxnet==1.9.1]\noptions: {mxnet: {hybridize: true}}"
    )

    assert "would share the id mxnet-1.9.1-cpu/lenet-train-b200" in message


def test_ids_and_images_are_safe_names_and_unique(plan: Any) -> None:
    many = ", ".join(f"package-{n}: 1.0.{n}" for n in range(30))
    found = plan(
        f"frameworks: [{{name: torch, version: '2.13.0+cpu', packages: {{{many}}}}}, torch==2.13.0, noop==1]\n"
        "systems: {cpu: {}, a-b.c_d: {}}"
    )

    for cell in found.cells:
        parts = cell.id.split("/")
        assert len(parts) == 2
        assert all(re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._=+-]{0,199}", part) for part in parts)
    for image in found.images:
        assert re.fullmatch(r"bench/[a-z0-9-]+:[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}", image.name)
    assert len({cell.id for cell in found.cells}) == len(found.cells) == 6
    assert len({image.name for image in found.images}) == 3


def test_a_plan_is_the_same_every_time(plan: Any) -> None:
    text = "frameworks: [mxnet==1.9.1, torch==2.13.0]\nmodels: [mlp, lenet]\noptions: {'*': {hybridize: [true, false]}}"

    assert plan(text) == plan(text)


def test_a_matrix_that_expands_to_nothing_says_why(plan: Any) -> None:
    assert plan.refusal("exclude:\n  - {model: lenet}") == (
        "m.yaml: expands to nothing: all 1 cells are left out: excluded by m.yaml:2:5"
    )


def test_a_matrix_over_the_limit_is_only_counted(plan: Any) -> None:
    """A matrix beyond the limit is counted and refused, and is not expanded."""
    versions = ", ".join(f"1.{n}" for n in range(1000))
    packages = ", ".join(f"{name}: [{versions}]" for name in ("a", "b", "c", "d"))

    assert plan.refusal(f"frameworks: [{{name: mxnet, version: 1.9.1, packages: {{{packages}}}}}]") == (
        "m.yaml: expands to 1000000000000 cells, more than the limit of 10000; "
        "shorten an axis, or raise it with --limit 1000000000000"
    )


def test_the_count_is_what_expanding_gives(plan: Any) -> None:
    text = (
        "systems: {cpu: {}, 1_gpu: {gpus: 1}}\nmodes: [train, infer]\n"
        "frameworks: [mxnet==1.9.1, noop==1, {name: torch, version: [2.1, 2.2], python: ['3.11', '3.12']}]\n"
        "models: [lenet, {name: mlp, batch_size: [1, 2, 3]}]\noptions: {'*': {hybridize: [true, false]}}\n"
        "exclude: [{system: 1_gpu}]\n"
        "include: [{framework: mxnet==1.8.0, system: cpu, model: lenet, batch_size: [1, 2]}]"
    )
    total = (2 + 2 + 8) * 2 * 2 * 4 + 2 * 2 * 2
    found = plan(text, limit=total)

    assert len(found.cells) + len(found.skips) == total
    assert f"expands to {total} cells" in plan.refusal(text, limit=total - 1)


def test_the_default_matrix_takes_five_minutes() -> None:
    """The default matrix skips only what it excludes and takes about five minutes."""
    known = catalog.load(resources.IMAGES / "catalog")
    models = catalog.load_models(resources.BENCHMARKS / "models")
    found = planning.plan(matrix.load(resources.DEFAULT_MATRIX, known, models), known, models)

    assert [skip.cell_id for skip in found.skips if not skip.reason.startswith("excluded by ")] == []
    assert found.warnings == ()
    assert {cell.framework.name for cell in found.cells} == {"mxnet", "tensorflow", "torch", "keras-mxnet"}
    # `plan` shows whole minutes: from 330 s on it would say 6.
    assert planning.estimate(found, known, planning.Known(models, catalog.DATASETS, ASSUMED)).run_s < 330


def test_planning_leaves_the_garbage_collector_as_it_was(plan: Any) -> None:
    was = gc.isenabled()
    plan("")

    assert gc.isenabled() is was


def test_cells_share_their_parts(plan: Any) -> None:
    found = plan("models: [lenet, mlp]\nmodes: [train, infer]\nframeworks: [mxnet==1.9.1, mxnet==1.5.1]")
    first, second = found.cells[:2]

    assert first.framework is second.framework
    assert first.duration is second.duration
    assert first.options is second.options


RELEASES = """\
name: all
systems: {cpu: {cpus: 2}, free: }
frameworks:
  - {name: mxnet, version: [1.9.1, 1.4.0], packages: {NumPy: [1.16.0, 1.15.0]}, options: {hybridize: [true, false]}}
  - {name: keras-mxnet, version: 2.2.4.3, backend: [mxnet==1.5.1, mxnet-mkl==1.5.1]}
  - {name: mxnet, version: 3, expect: timeout}
  - {name: noop, image: own}
models: [lenet, {name: mlp, epochs: 2}]
exclude: [{framework: noop, model: mlp}]
include: [{framework: mxnet==1.4.0, repeats: 9}]
"""


def test_the_long_form_plans_the_same(plan: Any) -> None:
    """The long form of a matrix spells out every field and plans the same."""
    short = plan(RELEASES)
    document = matrix.long_form(matrix.load(plan.path, plan.known, plan.models))

    assert [entry["python"] for entry in document["frameworks"]] == [["3.11"], ["3.6"], ["3.6"], None, None]
    assert document["frameworks"][1] == {
        "name": "mxnet",
        "version": ["1.4.0"],
        "backend": None,
        "python": ["3.6"],
        "packages": {"numpy": ["1.16.0", "1.15.0"]},
        "options": {"hybridize": [True, False]},
        "image": None,
        "dockerfile": None,
        "expect": None,
    }
    assert document["systems"]["free"] == {"cpus": None, "gpus": 0, "memory": None}
    only_where_set = {
        "blocks",
        "latency_steps",
        "evaluate_every_epoch",
        "parity_batch",
        "feed",
        "workers",
        "scaling",
        "file",
        "dimensions",
        "inputs",
        *loads.KEYS,
        *generations.KEYS,
        "size",
        *AXES,
        *OF_SUBJECTS,
    }
    assert set(document["models"][0]) == set(file.ModelEntry.model_fields) - only_where_set
    assert set(document) == set(file.MatrixFile.model_fields) - only_where_set
    assert set(document["build"]) == set(file.BuildEntry.model_fields) - {"base_images", "cuda_images"}

    long = plan(yaml.safe_dump(document, sort_keys=False))

    assert [(cell.id, cell) for cell in long.cells] == [(cell.id, cell) for cell in short.cells]
    assert long.images == short.images
    assert [skip.cell_id for skip in long.skips] == [skip.cell_id for skip in short.skips]


def test_ids_normalize_package_names(plan: Any) -> None:
    """A package has one name in ids, however it is written in the matrix."""
    found = plan("frameworks: [{name: noop, version: 1, packages: {NumPy: 1.26.0, zope_interface: 6}}]")

    assert plan.ids(found) == ["noop-1-numpy=1.26.0-zope-interface=6-cpu/lenet-train-b200"]


def test_another_spelling_adds_no_second_cell(plan: Any) -> None:
    """An include that spells a release otherwise adds no second cell of it."""
    found = plan(
        "frameworks: [noop==1.0]\ninclude: [{framework: noop==1, system: cpu, model: lenet, batch_size: [200, 3]}]"
    )

    assert plan.ids(found) == ["noop-1.0-cpu/lenet-train-b200", "noop-1.0-cpu/lenet-train-b3"]


def test_environment_variables_are_an_axis_of_any_framework(plan: Any) -> None:
    found = plan("frameworks: [noop==1]\noptions: {'*': {env.MALLOC_ARENA_MAX: [1, '4']}}")

    assert plan.ids(found) == [
        "noop-1-cpu/lenet-train-b200-env.MALLOC_ARENA_MAX=1",
        "noop-1-cpu/lenet-train-b200-env.MALLOC_ARENA_MAX=4",
    ]
    assert found.skips == ()
    assert len(found.images) == 1
