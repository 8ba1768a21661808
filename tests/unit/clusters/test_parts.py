"""The parts of a plan: what is compared stays together."""

from collections.abc import Sequence
from dataclasses import replace

from orchestrator.clusters.parts import NodeNeeds, Part, parts
from orchestrator.domain import Cell, Mode, Plan, Skip, System, Workload
from orchestrator.modes.parts.settings import Scaling
from orchestrator.studies import Claim, PublishedValue, Study
from tests.unit.reporting import synthetic as s

ONE, TWO = System("1_gpu", gpus=1), System("2_gpu", gpus=2, gpu="*H100*")
LIKE_TWO = replace(ONE, gpu="*H100*")


def split(plan: Plan) -> list[tuple[Part, Plan]]:
    return list(parts(plan, lambda own: 10.0 * len(own.cells)))


def ids(several: Sequence[tuple[Part, Plan]]) -> list[list[str]]:
    return [[cell.id for cell in plan.cells] for _, plan in several]


def claim(of: Cell | str, over: Cell | str) -> Claim:
    names = [each if isinstance(each, str) else each.id for each in (of, over)]
    return Claim(f"{names}", "", "throughput", *names, PublishedValue(1.5), "table 1")


def test_a_part_has_all_cells_of_a_group() -> None:
    """Cells of one work on one system share a part, in the order of the plan; another work or system has its own."""
    cells = [s.cell(s.MXNET), s.cell(s.MXNET, s.MLP), s.cell(s.TORCH), s.cell(s.TORCH, s.MLP)]

    found = split(s.plan(cells))
    assert ids(found) == [[cells[0].id, cells[2].id], [cells[1].id, cells[3].id]]
    assert [part for part, _ in found] == [
        Part("000", ("lenet-train-b200 on cpu",), 6, 20.0, NodeNeeds(cpus=2)),
        Part("001", ("mlp-train-b32 on cpu",), 6, 20.0, NodeNeeds(cpus=2)),
    ]


def test_a_part_has_only_what_its_cells_need() -> None:
    plan = s.plan([s.cell(s.MXNET), s.cell(s.TORCH, s.MLP)], (Skip("x/y", "no"),), ("careful",))

    (_, first), _ = split(plan)
    assert [image.name for image in first.images] == ["bench/mxnet:1.9.1-cpu"]
    assert (first.skips, first.warnings, first.seed, first.name) == ((), (), plan.seed, plan.name)


def test_numbers_of_gpus_of_one_work_share_a_part() -> None:
    """The efficiency of two GPUs is over one of the same node."""
    strong = replace(s.LENET, scaling=Scaling.STRONG)
    cells = [s.cell(s.TORCH, system=LIKE_TWO), s.cell(s.TORCH, strong, system=TWO), s.cell(s.TORCH)]

    (part, _), (other, _) = split(s.plan(cells))
    assert part.groups == ("lenet-train-b200 on 1_gpu", "lenet-train-b200-scaling=strong on 2_gpu")
    assert part.needs == NodeNeeds(gpus=2, gpu="*H100*")
    assert other.needs == NodeNeeds(cpus=2)


def test_other_gpus_or_inference_share_no_part() -> None:
    infer = Workload("lenet", Mode.INFER, 200)
    other_kind = [s.cell(s.TORCH, system=ONE), s.cell(s.TORCH, system=TWO)]
    inference = [s.cell(s.TORCH, infer, system=LIKE_TWO), s.cell(s.TORCH, infer, system=TWO)]

    assert [len(split(s.plan(cells))) for cells in (other_kind, inference)] == [2, 2]


def test_both_cells_of_a_claim_share_a_part() -> None:
    """A claim keeps its part, and one on a cell that was left out brings the reason along."""
    one, two, three = s.cell(s.MXNET), s.cell(s.MXNET, s.MLP), s.cell(s.MXNET, s.MLP_EPOCHS)
    claims = (claim(one, three), claim(two, "gone/cell"))
    plan = replace(s.plan([one, two, three], (Skip("gone/cell", "no"), Skip("x/y", "no"))), study=Study(claims=claims))

    (_, first), (_, second) = split(plan)
    assert [cell.id for cell in first.cells] == [one.id, three.id]
    assert [plan.study and plan.study.claims for plan in (first, second)] == [claims[:1], claims[1:]]
    assert [skip.cell_id for skip in second.skips] == ["gone/cell"]


def test_names_of_parts_sort_as_numbers() -> None:
    cells = [s.cell(s.MXNET, Workload("lenet", Mode.TRAIN, size)) for size in range(1, 1002)]

    names = [part.name for part, _ in split(s.plan(cells))]
    assert (names[0], names[-1]) == ("0000", "1000")
    assert names == sorted(names)
