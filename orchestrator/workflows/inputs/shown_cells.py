"""The cells of stored runs that `--select` and `--exclude` leave to be shown."""

from collections.abc import Sequence

from orchestrator.domain import Skip
from orchestrator.errors import InputError
from orchestrator.planning import Selection
from orchestrator.planning.selection import check, idle_globs
from orchestrator.workflows.host.host import Host


def check_shown(selection: Selection, names: Sequence[tuple[str, ...]], host: Host, skips: Sequence[Skip] = ()) -> None:
    """Report globs to exclude that match nothing. `names` are the ids of each thing that may be shown.

    Raises `InputError` for every glob to select that matches no id, and if nothing is left.
    """
    ids = list(dict.fromkeys(each for of_one in names for each in of_one))
    check(selection, ids, skips)
    for warning in idle_globs(selection, [*ids, *(skip.cell_id for skip in skips)]):
        host.say(f"warning: {warning}")
    if names and not any(selection.takes(*of_one) for of_one in names):
        raise InputError("--exclude leaves nothing to show of what is selected; drop one of its globs")
