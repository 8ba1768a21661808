import re
from pathlib import Path

import pytest

from orchestrator import catalog, matrix, planning, resources
from orchestrator.domain import Cell, Duration, Framework, Plan, Skip, Status
from orchestrator.errors import InputError
from orchestrator.planning import Selection

Models = dict[str, catalog.ModelInfo]


class Planner:
    """Plans a matrix from the lines that matter; the rest is as small as can be."""

    def __init__(self, folder: Path, known: catalog.Catalog, models: Models) -> None:
        self.path, self.known, self.models = folder / "m.yaml", known, models

    def __call__(
        self, text: str, *, limit: int = 10_000, select: tuple[str, ...] = (), exclude: tuple[str, ...] = ()
    ) -> Plan:
        given = {line.split(":")[0] for line in text.splitlines()}
        rest = {"version": "1", "frameworks": "[mxnet==1.9.1]", "models": "[lenet]"}
        text += "".join(f"\n{key}: {value}" for key, value in rest.items() if key not in given)
        self.path.write_text(text, encoding="utf-8")
        loaded = matrix.load(self.path, self.known, self.models)
        return planning.plan(loaded, self.known, self.models, Selection(select, exclude), limit)

    def refusal(self, text: str, **arguments: object) -> str:
        with pytest.raises(InputError) as caught:
            self(text, **arguments)  # type: ignore[arg-type]
        return str(caught.value).replace(f"{self.path}", "m.yaml")


@pytest.fixture
def plan(tmp_path: Path, known: catalog.Catalog, models: Models) -> Planner:
    return Planner(tmp_path, known, models)


def ids(found: Plan) -> list[str]:
    return [cell.id for cell in found.cells]


def skips(found: Plan) -> dict[str, str]:
    return {skip.cell_id: re.sub(r"\S*/m\.yaml", "m.yaml", skip.reason) for skip in found.skips}


def test_the_smallest_plan_is_one_cell_with_everything_resolved(plan: Planner) -> None:
    found = plan("name: small\nseed: 7\nrepeats: 2")

    assert (found.name, found.seed, found.skips, found.warnings) == ("small", 7, (), ())
    cell = found.cells[0]
    assert ids(found) == ["mxnet-1.9.1-cpu/lenet-train-b200"]
    assert cell.framework == Framework("mxnet", "1.9.1", python="3.11")
    assert cell.options == (("hybridize", True),)
    assert (cell.repeats, cell.timeout_s, cell.expect, cell.duration) == (2, 600.0, Status.OK, Duration(10, 50, None))
    assert [image.name for image in found.images] == [cell.image] == ["bench/mxnet:1.9.1-cpu"]
    assert found.images[0].environment.requirements[0].startswith("mxnet>=1.9.1")


def test_every_axis_multiplies_in_the_order_of_the_file(plan: Planner) -> None:
    found = plan(
        "systems: {cpu: {cpus: 2}, wide: {cpus: 4}}\n"
        "frameworks: [mxnet==1.9.1, noop==1]\n"
        "models: [lenet, {name: mlp, batch_size: [32, 64]}]\n"
        "modes: [train, infer]\n"
        "options: {mxnet: {hybridize: [true, false]}}"
    )

    assert len(found.cells) == 2 * 3 * 2 * 2 + 2 * 3 * 2
    assert ids(found)[:5] == [
        "mxnet-1.9.1-cpu/lenet-train-b200",
        "mxnet-1.9.1-cpu/lenet-train-b200-hybridize=false",
        "mxnet-1.9.1-cpu/lenet-infer-b200",
        "mxnet-1.9.1-cpu/lenet-infer-b200-hybridize=false",
        "mxnet-1.9.1-cpu/mlp-train-b32",
    ]
    assert ids(found)[-1] == "noop-1-wide/mlp-infer-b64"


def test_systems_of_one_class_share_an_image(plan: Planner) -> None:
    found = plan("systems: {cpu: {}, wide: {cpus: 4}, 1_gpu: {gpus: 1}, other_gpu: {gpus: 1}, 4_gpu: {gpus: 4}}")

    assert [image.name.rpartition(":")[2] for image in found.images] == ["1.9.1-cpu", "1.9.1-1_gpu", "1.9.1-4_gpu"]
    assert len(found.cells) == 5


def test_ids_show_python_packages_and_backend_that_are_off_their_default(plan: Planner) -> None:
    found = plan(
        "frameworks: [{name: torch, version: 2.13.0, python: ['3.11', '3.12'], packages: {numpy: [2.2.0, 2.3.0]}},"
        " keras-mxnet==2.2.4.3 on mxnet==1.5.1]"
    )

    assert [cell_id.partition("/")[0] for cell_id in ids(found)] == [
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


def test_an_option_of_an_entry_wins_over_flavour_family_and_everyone(plan: Planner) -> None:
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


def test_an_option_that_everyone_is_asked_for_skips_the_frameworks_that_lack_it(plan: Planner) -> None:
    found = plan("frameworks: [mxnet==1.9.1, noop==1]\noptions: {'*': {hybridize: [false]}}")

    assert ids(found) == ["mxnet-1.9.1-cpu/lenet-train-b200-hybridize=false"]
    assert skips(found) == {"noop-1-cpu/lenet-train-b200-hybridize=false": "noop has no option hybridize=false"}


def test_what_the_catalog_cannot_make_is_skipped_with_its_reason_cell_by_cell(plan: Planner) -> None:
    found = plan(
        "systems: {cpu: {}, 1_gpu: {gpus: 1}}\n"
        "frameworks: [mxnet==1.9.1, mxnet==2.0.0, noop==1, {name: mxnet, version: 1.5.1, python: 3.13}]"
    )

    assert ids(found) == [
        "mxnet-1.9.1-cpu/lenet-train-b200",
        "mxnet-1.9.1-1_gpu/lenet-train-b200",
        "noop-1-cpu/lenet-train-b200",
    ]
    reasons = skips(found)
    assert reasons["mxnet-2.0.0-cpu/lenet-train-b200"].startswith("the catalog knows mxnet >=1.5,<1.10")
    assert reasons["noop-1-1_gpu/lenet-train-b200"].startswith("the catalog has no GPU build of noop 1")
    assert reasons["mxnet-1.5.1-python=3.13-cpu/lenet-train-b200"].startswith("mxnet 1.5.1 does not run on Python 3.13")
    assert len(found.cells) + len(found.skips) == 2 * 4


def test_an_excluded_cell_is_a_skip_that_names_the_line(plan: Planner) -> None:
    found = plan(
        "exclude:\n"
        "  - {model: mlp, batch_size: 64, hybridize: false}\n"
        "  - {framework: 'mxnet<1.9'}\n"
        "frameworks: [mxnet==1.5.1, mxnet==1.9.1]\n"
        "models: [{name: mlp, batch_size: [32, 64]}]\n"
        "options: {mxnet: {hybridize: [true, false]}}"
    )

    assert ids(found) == [
        "mxnet-1.9.1-cpu/mlp-train-b32",
        "mxnet-1.9.1-cpu/mlp-train-b32-hybridize=false",
        "mxnet-1.9.1-cpu/mlp-train-b64",
    ]
    assert skips(found) == {
        "mxnet-1.5.1-cpu/mlp-train-b32": "excluded by m.yaml:3",
        "mxnet-1.5.1-cpu/mlp-train-b32-hybridize=false": "excluded by m.yaml:3",
        "mxnet-1.5.1-cpu/mlp-train-b64": "excluded by m.yaml:3",
        "mxnet-1.5.1-cpu/mlp-train-b64-hybridize=false": "excluded by m.yaml:2",
        "mxnet-1.9.1-cpu/mlp-train-b64-hybridize=false": "excluded by m.yaml:2",
    }
    assert found.warnings == ()


@pytest.mark.parametrize(
    ("rule", "left"),
    [
        ("{system: cpu}", 6),
        ("{mode: infer}", 6),
        ("{dataset: synthetic, mode: [train, infer], system: wide}", 6),
        ("{python: '3.6'}", 8),
        ("{framework: keras-mxnet on mxnet==1.5.1}", 8),
        ("{framework: keras-mxnet on mxnet==1.9.1}", 12),
        ("{framework: [noop, mxnet]}", 4),
        ("{hybridize: true}", 8),
        ("{hybridize: false}", 12),
    ],
)
def test_a_rule_matches_by_every_axis_defaults_of_options_included(plan: Planner, rule: str, left: int) -> None:
    found = plan(
        f"systems: {{cpu: {{}}, wide: {{cpus: 4}}}}\nmodes: [train, infer]\nexclude: [{rule}]\n"
        "frameworks: [mxnet==1.9.1, noop==1, keras-mxnet==2.2.4.3 on mxnet==1.5.1]"
    )

    assert len(found.cells) == left
    assert len(found.warnings) == (left == 12)


def test_an_entry_that_matches_nothing_is_a_warning_with_its_line(plan: Planner) -> None:
    found = plan("exclude:\n  - {batch_size: 7}\ninclude:\n  - {mode: infer, repeats: 2}")

    assert [warning.partition("m.yaml:")[2] for warning in found.warnings] == [
        "2: exclude: this entry matches nothing",
        "4: include: this entry matches nothing",
    ]


def test_settings_come_from_matrix_then_model_then_include_then_later_include(plan: Planner) -> None:
    found = plan(
        "steps: 20\ntimeout: 60\n"
        "frameworks: [{name: mxnet, version: 1.9.1, expect: timeout}, noop==1]\n"
        "models: [lenet, {name: mlp, epochs: 3, repeats: 9, warmup_steps: 1}]\n"
        "include:\n"
        "  - {model: mlp, timeout: 70, repeats: 4}\n"
        "  - {framework: mxnet, repeats: 5, expect: oom_device}\n"
        "  - {framework: noop, model: lenet, steps: 7}\n"
    )
    seen = {cell.id: (cell.duration, cell.timeout_s, cell.repeats, cell.expect) for cell in found.cells}

    assert seen == {
        "mxnet-1.9.1-cpu/lenet-train-b200": (Duration(10, 20), 60.0, 5, Status.OOM_DEVICE),
        "mxnet-1.9.1-cpu/mlp-train-b32": (Duration(1, None, 3), 70.0, 5, Status.OOM_DEVICE),
        "noop-1-cpu/lenet-train-b200": (Duration(10, 7), 60.0, 3, Status.OK),
        "noop-1-cpu/mlp-train-b32": (Duration(1, None, 3), 70.0, 4, Status.OK),
    }


def test_an_include_that_names_cells_wholly_adds_them_and_brings_back_excluded_ones(plan: Planner) -> None:
    found = plan(
        "systems: {cpu: {}, 1_gpu: {gpus: 1}}\n"
        "exclude: [{system: 1_gpu}]\n"
        "include:\n"
        "  - {framework: mxnet==1.9.1, system: 1_gpu, model: lenet, batch_size: [200, 4096], expect: oom_device}\n"
        "  - {framework: torch==2.13.0, system: cpu, model: mlp, mode: infer, layout: last, python: '3.12'}\n"
    )

    assert ids(found) == [
        "mxnet-1.9.1-cpu/lenet-train-b200",
        "mxnet-1.9.1-1_gpu/lenet-train-b200",
        "mxnet-1.9.1-1_gpu/lenet-train-b4096",
        "torch-2.13.0-python=3.12-cpu/mlp-infer-b32-layout=last",
    ]
    assert [cell.expect for cell in found.cells] == [Status.OK, Status.OOM_DEVICE, Status.OOM_DEVICE, Status.OK]
    assert (found.skips, found.warnings) == ((), ())
    assert {cell.image for cell in found.cells} == {image.name for image in found.images}


def test_an_include_leaves_open_what_the_matrix_says(plan: Planner) -> None:
    found = plan(
        "frameworks: [{name: mxnet, version: [1.5.1, 1.9.1], packages: {numpy: 1.21.6}}]\n"
        "options: {mxnet: {hybridize: [true, false]}}\n"
        "exclude: [{framework: mxnet==1.5.1}]\n"
        "include: [{framework: mxnet==1.5.1, system: cpu, model: lenet}]"
    )

    assert ids(found)[2:] == [
        "mxnet-1.5.1-numpy=1.21.6-cpu/lenet-train-b200",
        "mxnet-1.5.1-numpy=1.21.6-cpu/lenet-train-b200-hybridize=false",
    ]


def test_an_include_of_keras_needs_its_backend(plan: Planner) -> None:
    assert plan.refusal("include:\n  - {framework: keras-mxnet==2.2.4.3, system: cpu, model: lenet}") == (
        "m.yaml:2: include: 'keras-mxnet' needs a backend: keras-mxnet==2.2.4.3 on mxnet==VERSION"
    )


def test_the_users_own_image_is_a_cell_like_any_other_on_every_system(plan: Planner) -> None:
    found = plan(
        "systems: {cpu: {}, 1_gpu: {gpus: 1}}\n"
        "frameworks: [{name: noop, image: 'registry.example:5000/own/noop:2.1'}, {name: noop, dockerfile: D}]"
    )

    assert ids(found) == [
        "noop-2.1-image-cpu/lenet-train-b200",
        "noop-2.1-image-1_gpu/lenet-train-b200",
        "noop-local-dockerfile-cpu/lenet-train-b200",
        "noop-local-dockerfile-1_gpu/lenet-train-b200",
    ]
    assert found.cells[0].framework.image == "registry.example:5000/own/noop:2.1"
    assert found.images[0].environment.requirements == ()


def test_two_images_of_one_name_are_told_apart_or_refused(plan: Planner) -> None:
    both = "frameworks: [{name: noop, image: 'one:2.1'}, {name: noop, image: 'other:2.1'VERSION}]"

    assert "noop 2.1 (one:2.1) and noop 2.1 (other:2.1) would share the image bench/noop:2.1-image-cpu" in plan.refusal(
        both.replace("VERSION", "")
    )
    assert len(plan(both.replace("VERSION", ", version: other-2.1")).cells) == 2


def test_two_cells_of_one_id_are_refused_with_both_named(plan: Planner) -> None:
    message = plan.refusal(
        "frameworks: [{name: mxnet, version: 1.9.1, python: '3.11'}, mxnet==1.9.1]\noptions: {mxnet: {hybridize: true}}"
    )

    assert "would share the id mxnet-1.9.1-cpu/lenet-train-b200" in message


def test_ids_and_images_are_safe_names_and_unique(plan: Planner) -> None:
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


def test_a_plan_is_the_same_every_time(plan: Planner) -> None:
    text = "frameworks: [mxnet==1.9.1, torch==2.13.0]\nmodels: [mlp, lenet]\noptions: {'*': {hybridize: [true, false]}}"

    assert plan(text) == plan(text)


def test_a_matrix_that_expands_to_nothing_says_why(plan: Planner) -> None:
    assert plan.refusal("exclude:\n  - {model: lenet}") == (
        "m.yaml: expands to nothing: all 1 cells are left out: excluded by m.yaml:2"
    )


def test_a_matrix_beyond_the_limit_is_counted_and_not_expanded(plan: Planner) -> None:
    versions = ", ".join(f"1.{n}" for n in range(1000))
    packages = ", ".join(f"{name}: [{versions}]" for name in ("a", "b", "c", "d"))

    assert plan.refusal(f"frameworks: [{{name: mxnet, version: 1.9.1, packages: {{{packages}}}}}]") == (
        "m.yaml: expands to 1000000000000 cells, more than the limit of 10000; "
        "shorten an axis, or raise it with --limit 1000000000000"
    )


def test_the_count_is_what_expanding_gives(plan: Planner) -> None:
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


def test_a_selection_keeps_cells_images_and_skips_that_match(plan: Planner) -> None:
    found = plan(
        "frameworks: [mxnet==1.9.1, mxnet==2.0.0, torch==2.13.0]\nmodels: [lenet, mlp]",
        select=("mxnet-*",),
        exclude=("mlp-*",),
    )

    assert ids(found) == ["mxnet-1.9.1-cpu/lenet-train-b200"]
    assert list(skips(found)) == ["mxnet-2.0.0-cpu/lenet-train-b200"]
    assert [image.name for image in found.images] == ["bench/mxnet:1.9.1-cpu"]


@pytest.mark.parametrize(
    ("glob", "matched"),
    [
        ("*", 4),
        ("mxnet-1.9.1-cpu", 2),
        ("mxnet-1.9.1-cpu/lenet-train-b200", 1),
        ("lenet-*", 2),
        ("*-b32", 2),
        ("torch-*/mlp-*", 1),
        ("[mt]*-cpu/lenet-train-b???", 2),
    ],
)
def test_a_glob_speaks_of_the_whole_id_or_of_either_part(plan: Planner, glob: str, matched: int) -> None:
    found = plan("frameworks: [mxnet==1.9.1, torch==2.13.0]\nmodels: [lenet, mlp]", select=(glob,))

    assert len(found.cells) == matched


@pytest.mark.parametrize(
    ("globs", "message"),
    [
        (("mxnt-1.9.1-cpu",), "--select 'mxnt-1.9.1-cpu' matches no cell; did you mean 'mxnet-1.9.1-cpu'?"),
        (("lenet",), "--select 'lenet' matches no cell as a whole; did you mean '*lenet*'?"),
        (("X", "Y"), "--select 'X' matches no cell; there is mxnet-1.9.1-cpu, lenet-train-b200\n--select 'Y'"),
        (
            ("mxnet-2*",),
            "--select 'mxnet-2*' matches only what the plan leaves out: mxnet-2.0.0-cpu/lenet-train-b200: ",
        ),
    ],
)
def test_a_selection_that_matches_nothing_is_a_mistake_with_a_hint(
    plan: Planner, globs: tuple[str, ...], message: str
) -> None:
    assert plan.refusal("frameworks: [mxnet==1.9.1, mxnet==2.0.0]", select=globs).startswith(message)


def test_excluding_globs_warn_where_they_match_nothing_and_refuse_where_they_leave_nothing(plan: Planner) -> None:
    assert plan("", exclude=("torch-*",)).warnings == ("--exclude 'torch-*' matches nothing",)
    assert plan.refusal("", exclude=("*",)) == (
        "--exclude leaves nothing to run of what is selected; drop one of its globs"
    )


def test_the_default_matrix_plans_without_a_skip_in_less_than_four_minutes() -> None:
    known = catalog.load(resources.IMAGES / "catalog")
    models = catalog.load_models(resources.BENCHMARKS / "models")
    found = planning.plan(matrix.load(resources.DEFAULT_MATRIX, known, models), known, models)

    assert (found.skips, found.warnings) == ((), ())
    assert {cell.framework.name for cell in found.cells} == {"mxnet", "tensorflow", "torch", "keras-mxnet"}
    assert planning.estimate(found, known).run_s <= 240


def test_planning_leaves_the_garbage_collector_as_it_was(plan: Planner) -> None:
    import gc

    was = gc.isenabled()
    plan("")

    assert gc.isenabled() is was


def test_cells_share_their_parts(plan: Planner) -> None:
    found = plan("models: [lenet, mlp]\nmodes: [train, infer]\nframeworks: [mxnet==1.9.1, mxnet==1.5.1]")
    first, second = found.cells[:2]

    assert first.framework is second.framework
    assert first.duration is second.duration
    assert first.options is second.options
    assert isinstance(first, Cell)
    assert all(not isinstance(skip, Skip) for skip in found.cells)
