"""Places on a host: a plan that is carried from one host to another names none."""

from dataclasses import replace
from functools import cache
from pathlib import PurePath

from orchestrator.domain import Framework, Plan
from orchestrator.errors import InputError


def without_places(plan: Plan) -> Plan:
    """Return a plan as it is carried: of the user's own Dockerfiles their names alone, for images are built by then."""

    @cache
    def plain(framework: Framework) -> Framework:
        return replace(framework, dockerfile=PurePath(framework.dockerfile).name if framework.dockerfile else None)

    return replace(
        plan,
        data=(),
        images=tuple(replace(image, framework=plain(image.framework)) for image in plan.images),
        cells=tuple(replace(cell, framework=plain(cell.framework)) for cell in plan.cells),
    )


def checked_places(plan: Plan) -> Plan:
    """Return a plan that came in a bundle; raises `InputError` where it says which folders of this host to show.

    Dockerfiles keep their names alone: earlier versions carried their places too, which nothing opens.
    """
    if plan.data:
        raise InputError(
            *(
                f"the plan names a folder of a host, {data.folder[:200]!r}, for {data.name[:100]!r}"
                for data in plan.data
            )
        )
    return without_places(plan)
