"""Parity checks of a plan: one for each image, model and set of options, and none where nothing can be checked."""

from dataclasses import replace
from typing import Any

from orchestrator.planning import check_id, checks


def test_batch_sizes_modes_datasets_and_repeats_share_a_check_and_models_have_their_own(plan: Any) -> None:
    found = plan("models: [{name: lenet, batch_size: [32, 64]}, mlp]\nmodes: [train, infer]\nrepeats: 4")

    assert [check.id for check in checks(found)] == [
        "mxnet-1.9.1-cpu/lenet-hybridize=true",
        "mxnet-1.9.1-cpu/mlp-hybridize=true",
    ]
    assert {check_id(cell) for cell in found.cells} == {check.id for check in checks(found)}


def test_options_images_and_system_classes_have_checks_of_their_own_and_cpu_systems_share_one(plan: Any) -> None:
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


def test_no_framework_is_no_work_to_check(plan: Any) -> None:
    assert checks(plan("frameworks: [noop==1]")) == ()


def test_a_matrix_can_switch_parity_off_and_a_plan_of_old_says_nothing_of_it(plan: Any) -> None:
    found = plan("")

    assert len(checks(found)) == 1
    assert checks(plan("parity: false")) == ()
    assert checks(replace(found, parity=False)) == ()


def test_ids_of_checks_are_paths_and_values_that_paths_cannot_hold_are_told_apart(plan: Any) -> None:
    (cell,) = plan("").cells

    names = [check_id(replace(cell, options=(("env.LIBRARY", value),))) for value in ("/a/b", "/a:b")]
    assert len(set(names)) == 2
    assert all(name.count("/") == 1 and ":" not in name for name in names)


def test_no_plan_leads_a_check_out_of_its_folder(plan: Any) -> None:
    (cell,) = plan("").cells
    odd = replace(cell, image="bench/..", options=(), workload=replace(cell.workload, model=".."))

    first, second = check_id(odd).split("/")
    assert ".." not in {first, second}
