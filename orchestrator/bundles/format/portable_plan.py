"""Plans without the paths of a host, as a bundle carries them."""

from dataclasses import replace
from functools import cache
from pathlib import PurePath

from orchestrator.domain import Framework, Plan
from orchestrator.errors import InputError


def portable_plan(plan: Plan) -> Plan:
    """Return a plan without data folders, and with only the names of the user's own Dockerfiles.

    The images exist by then, so that nothing opens the Dockerfiles.
    """

    @cache
    def plain(framework: Framework) -> Framework:
        return replace(framework, dockerfile=PurePath(framework.dockerfile).name if framework.dockerfile else None)

    return replace(
        plan,
        data=(),
        images=tuple(replace(image, framework=plain(image.framework)) for image in plan.images),
        cells=tuple(replace(cell, framework=plain(cell.framework)) for cell in plan.cells),
    )


def checked_plan(plan: Plan) -> Plan:
    """Return a plan from a bundle without paths.

    Raises `InputError` if the plan names data folders of this host. Paths of Dockerfiles, which earlier versions
    carried, are cut to names.
    """
    if plan.data:
        raise InputError(
            *(
                f"the plan names a folder of a host, {data.folder[:200]!r}, for {data.name[:100]!r}"
                for data in plan.data
            )
        )
    return portable_plan(plan)
