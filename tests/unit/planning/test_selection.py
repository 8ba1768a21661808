from typing import Any

import pytest


def test_a_selection_keeps_only_what_matches(plan: Any) -> None:
    """A selection keeps the cells, images and skips that match it."""
    found = plan(
        "frameworks: [mxnet==1.9.1, mxnet==2.0.0, torch==2.13.0]\nmodels: [lenet, mlp]",
        select=("mxnet-*",),
        exclude=("mlp-*",),
    )

    assert plan.ids(found) == ["mxnet-1.9.1-cpu/lenet-train-b200"]
    assert list(plan.skips(found)) == ["mxnet-2.0.0-cpu/lenet-train-b200"]
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
def test_globs_match_whole_ids_or_either_part(plan: Any, glob: str, matched: int) -> None:
    """A glob is compared with the whole id of a cell and with either of its parts."""
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
def test_a_selection_without_match_gives_a_hint(plan: Any, globs: tuple[str, ...], message: str) -> None:
    """A selection that matches nothing is a mistake with a hint."""
    assert plan.refusal("frameworks: [mxnet==1.9.1, mxnet==2.0.0]", select=globs).startswith(message)


def test_excluding_globs_must_leave_something(plan: Any) -> None:
    """An excluding glob that matches nothing is a warning, and globs that leave nothing are refused."""
    assert plan("", exclude=("torch-*",)).warnings == ("--exclude 'torch-*' matches nothing",)
    skipping = plan("frameworks: [mxnet==1.9.1, mxnet==2.0.0]", exclude=("mxnet-2*", "zzz"))
    assert skipping.warnings == ("--exclude 'zzz' matches nothing",)
    assert skipping.skips == ()
    assert plan.refusal("", exclude=("*",)) == (
        "--exclude leaves nothing to run of what is selected; drop one of its globs"
    )
