"""The cells of runs on a cluster that may be compared, since one node has measured both."""

from collections.abc import Callable, Mapping, Sequence
from itertools import product

from orchestrator.errors import InputError
from orchestrator.regression.judge.comparable import Placed
from orchestrator.regression.stored_runs.operands import WorkKey
from orchestrator.results.records import RunRecord

Both = Mapping[WorkKey, tuple[Sequence[Placed], Sequence[Placed]]]
"""The cells of two sides by their work, each with the runs that measured it."""


def on_one_node(
    both: Both, records: Mapping[str, RunRecord], check: Callable[[Mapping[str, RunRecord]], object], *, same: bool
) -> tuple[Both, Mapping[WorkKey, str]]:
    """Return one run of each side for every work, and the reason for each work that no one node has measured.

    `check` raises `InputError` for records that cannot be compared. If both sides are of the same runs, cells are
    compared within a run. Raises `InputError` if nothing can be compared.
    """
    chosen: dict[WorkKey, tuple[Sequence[Placed], Sequence[Placed]]] = {}
    apart: dict[WorkKey, str] = {}
    for key, (ones, others) in both.items():
        for one, other in product(ones, others):
            reason = _reason(one, other, records, check, same=same)
            if not reason:
                chosen[key] = ([one], [other])
                apart.pop(key, None)
                break
            chosen.setdefault(key, ([one], [other]))
            apart.setdefault(key, reason)
    if len(apart) == len(both):
        raise InputError(next(iter(apart.values())))
    return chosen, apart


def _reason(
    one: Placed, other: Placed, records: Mapping[str, RunRecord], check: Callable[[Mapping[str, RunRecord]], object],
    *, same: bool,
) -> str:  # fmt: skip
    names = one[0].name, other[0].name
    if same and names[0] != names[1]:
        return f"measured in {names[0]} and in {names[1]}: cells of two nodes, or of two parts, are not compared"
    try:
        check({name: records[name] for name in names})
    except InputError as error:
        return error.messages[0]
    return ""
