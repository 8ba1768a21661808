from typing import Any

import pytest

from orchestrator.domain import Duration, Status


def test_an_excluded_cells_skip_names_the_line(plan: Any) -> None:
    """An excluded cell is a skip whose reason names the line of the rule."""
    found = plan(
        "exclude:\n"
        "  - {model: mlp, batch_size: 64, hybridize: false}\n"
        "  - {framework: 'mxnet<1.9'}\n"
        "frameworks: [mxnet==1.5.1, mxnet==1.9.1]\n"
        "models: [{name: mlp, batch_size: [32, 64]}]\n"
        "options: {mxnet: {hybridize: [true, false]}}"
    )

    assert plan.ids(found) == [
        "mxnet-1.9.1-cpu/mlp-train-b32",
        "mxnet-1.9.1-cpu/mlp-train-b32-hybridize=false",
        "mxnet-1.9.1-cpu/mlp-train-b64",
    ]
    assert plan.skips(found) == {
        "mxnet-1.5.1-cpu/mlp-train-b32": "excluded by m.yaml:3:5",
        "mxnet-1.5.1-cpu/mlp-train-b32-hybridize=false": "excluded by m.yaml:3:5",
        "mxnet-1.5.1-cpu/mlp-train-b64": "excluded by m.yaml:3:5",
        "mxnet-1.5.1-cpu/mlp-train-b64-hybridize=false": "excluded by m.yaml:2:5",
        "mxnet-1.9.1-cpu/mlp-train-b64-hybridize=false": "excluded by m.yaml:2:5",
    }
    assert found.warnings == ()


def test_a_skip_gives_the_reason_of_its_entry(plan: Any) -> None:
    found = plan(
        "exclude:\n"
        "  - {model: mlp, reason: no such script was published}\n"
        "frameworks: [mxnet==1.9.1]\n"
        "models: [mlp, lenet]"
    )

    assert plan.skips(found) == {
        "mxnet-1.9.1-cpu/mlp-train-b32": "no such script was published (excluded by m.yaml:2:5)"
    }


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
def test_a_rule_matches_by_every_axis(plan: Any, rule: str, left: int) -> None:
    """A rule matches by every axis, and by the defaults of options too."""
    found = plan(
        f"systems: {{cpu: {{}}, wide: {{cpus: 4}}}}\nmodes: [train, infer]\nexclude: [{rule}]\n"
        "frameworks: [mxnet==1.9.1, noop==1, keras-mxnet==2.2.4.3 on mxnet==1.5.1]"
    )

    assert len(found.cells) == left
    assert len(found.warnings) == (left == 12)


def test_an_entry_without_a_match_is_a_warning(plan: Any) -> None:
    """An exclude or include entry that matches nothing is a warning with its line."""
    found = plan("exclude:\n  - {batch_size: 7}\ninclude:\n  - {mode: infer, repeats: 2}")

    assert [warning.partition("m.yaml:")[2] for warning in found.warnings] == [
        "2:5: exclude: this entry matches nothing",
        "4:5: include: this entry matches nothing",
    ]


def test_later_and_nearer_settings_win(plan: Any) -> None:
    """Settings come from the matrix, then the model, then an include, then a later include."""
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


def test_a_full_include_restores_excluded_cells(plan: Any) -> None:
    """An include that names cells wholly adds them and brings back excluded ones."""
    found = plan(
        "systems: {cpu: {}, 1_gpu: {gpus: 1}}\n"
        "exclude: [{system: 1_gpu}]\n"
        "include:\n"
        "  - {framework: mxnet==1.9.1, system: 1_gpu, model: lenet, batch_size: [200, 4096], expect: oom_device}\n"
        "  - {framework: torch==2.13.0, system: cpu, model: mlp, mode: infer, layout: last, python: '3.12'}\n"
    )

    assert plan.ids(found) == [
        "mxnet-1.9.1-cpu/lenet-train-b200",
        "mxnet-1.9.1-1_gpu/lenet-train-b200",
        "mxnet-1.9.1-1_gpu/lenet-train-b4096",
        "torch-2.13.0-python=3.12-cpu/mlp-infer-b32-layout=last",
    ]
    assert [cell.expect for cell in found.cells] == [Status.OK, Status.OOM_DEVICE, Status.OOM_DEVICE, Status.OK]
    assert (found.skips, found.warnings) == ((), ())
    assert {cell.image for cell in found.cells} == {image.name for image in found.images}


def test_an_include_leaves_open_what_the_matrix_says(plan: Any) -> None:
    found = plan(
        "frameworks: [{name: mxnet, version: [1.5.1, 1.9.1], packages: {numpy: 1.21.6}}]\n"
        "options: {mxnet: {hybridize: [true, false]}}\n"
        "exclude: [{framework: mxnet==1.5.1}]\n"
        "include: [{framework: mxnet==1.5.1, system: cpu, model: lenet}]"
    )

    assert plan.ids(found)[2:] == [
        "mxnet-1.5.1-numpy=1.21.6-cpu/lenet-train-b200",
        "mxnet-1.5.1-numpy=1.21.6-cpu/lenet-train-b200-hybridize=false",
    ]


def test_an_include_of_keras_needs_its_backend(plan: Any) -> None:
    assert plan.refusal("include:\n  - {framework: keras-mxnet==2.2.4.3, system: cpu, model: lenet}") == (
        "m.yaml:2:5: include: 'keras-mxnet' needs a backend: keras-mxnet==2.2.4.3 on mxnet==VERSION"
    )
