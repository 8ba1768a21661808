"""The beginning of a run, as those who watch it hear of it."""

from collections.abc import Iterable, Mapping, Sequence

from orchestrator.domain import ImageSpec, Outcome, Plan
from orchestrator.events import CellToRun, ImageToMake, RunStarted
from orchestrator.running.order import Repeat
from orchestrator.running.surroundings import Expected


def started(
    plan: Plan,
    todo: Sequence[Repeat],
    recorded: Mapping[tuple[str, int], Outcome | None],
    images: Iterable[ImageSpec],
    expected: Expected,
) -> RunStarted:
    """Return the event of a run that begins or goes on, with what is known of each repeat."""
    left = {(cell.id, number) for cell, number in todo}

    def status(cell_id: str, number: int) -> str:
        outcome = recorded[cell_id, number]
        return "" if outcome is None or (cell_id, number) in left else outcome.status.value

    return RunStarted(
        planned=len(todo),
        done=len(recorded) - len(left),
        cells=tuple(
            CellToRun(
                cell.id,
                tuple(status(cell.id, number) for number in range(cell.repeats)),
                expected.repeats_s.get(cell.id),
            )
            for cell in plan.cells
        ),
        images=tuple(ImageToMake(image.name, expected.images_s.get(image.name)) for image in images),
    )
