"""Parity checks of a plan: one for each image, model and set of options, and none where nothing can be checked."""

from dataclasses import replace
from typing import Any

from orchestrator.planning import check_id, checks


def test_settings_of_one_model_share_a_check(plan: Any) -> None:
    """Batch sizes, modes, datasets and repeats share a parity check, and models have their own."""
    found = plan("models: [{name: lenet, batch_size: [32, 64]}, mlp]\nmodes: [train, infer]\nrepeats: 4")

    assert [check.id for check in checks(found)] == [
        "mxnet-1.9.1-cpu/lenet-hybridize=true",
        "mxnet-1.9.1-cpu/mlp-hybridize=true",
    ]
    assert {check_id(cell) for cell in found.cells} == {check.id for check in checks(found)}


def test_options_images_and_system_classes_separate_checks(plan: Any) -> None:
    """Options, images and system classes have parity checks of their own, and CPU systems share one."""
    found = plan(
        "systems: {small: {cpus: 1}, large: {cpus: 4}, 1_gpu: {gpus: 1}}\n"
        "frameworks: [mxnet==1.9.1, mxnet==1.5.1]\noptions: {mxnet: {hybridize: [true, false]}}"
    )

    assert [check.id for check in checks(found)] == [
        f"mxnet-{version}-{place}/lenet-hybridize={value}"
        for version in ("1.9.1", "1.5.1")
        for place in ("cpu", "1_gpu")
        for value in ("true", "false")
    ]
    assert {check.system.name for check in checks(found)} == {"small", "1_gpu"}


def test_training_is_checked_where_cells_train(plan: Any) -> None:
    """One check serves training and inference, and one of inference alone asks for no training."""
    asked = [[check.trains for check in checks(plan(f"modes: {modes}"))] for modes in ("[train, infer]", "[infer]")]

    assert asked == [[True], [False]]


def test_no_framework_is_no_work_to_check(plan: Any) -> None:
    assert checks(plan("frameworks: [noop==1]")) == ()


def test_a_matrix_can_switch_parity_off(plan: Any) -> None:
    """A matrix can switch parity checks off, and an old plan that says nothing of parity has none."""
    found = plan("")

    assert len(checks(found)) == 1
    assert checks(plan("parity: false")) == ()
    assert checks(replace(found, parity=False)) == ()


def test_check_ids_are_distinct_legal_paths(plan: Any) -> None:
    """Ids of checks are paths, and values that paths cannot hold still give different ids."""
    (cell,) = plan("").cells

    names = [check_id(replace(cell, options=(("env.LIBRARY", value),))) for value in ("/a/b", "/a:b")]
    assert len(set(names)) == 2
    assert all(name.count("/") == 1 and ":" not in name for name in names)


def test_no_check_leaves_its_folder(plan: Any) -> None:
    """No plan leads a parity check out of its folder."""
    (cell,) = plan("").cells
    odd = replace(cell, image="bench/..", options=(), workload=replace(cell.workload, model=".."))

    first, second = check_id(odd).split("/")
    assert ".." not in {first, second}
