"""The time that a run will probably still take, with the environments that are still to be made."""

from statistics import fmean

from orchestrator.reporting.live.progress import PENDING, Progress


def left_s(progress: Progress, now_s: float) -> float | None:
    """Return the seconds to go, or None if nothing tells how long a repeat takes.

    A repeat takes as long as earlier ones of its cell, or else as it was expected to, corrected by how far others were
    off, or else as the mean of all. What lies between the repeats, and what runs side by side, is in the ratio of the
    time since the first launch to the sum of the repeats.
    """
    building_s = _building_s(progress, now_s)
    if progress.planned <= progress.done:
        return building_s
    repeats_s = _repeats_s(progress, now_s)
    return None if repeats_s is None else building_s + repeats_s


def _building_s(progress: Progress, now_s: float) -> float:
    """Return the seconds of the images that are not there yet, after each other unless several are being made."""
    durations = progress.durations
    typical_s = fmean(durations.builds_s) if durations.builds_s else None
    began = {item.image: item.started_s for item in progress.building}
    left = 0.0
    for image, expected_s in durations.images_s.items():
        whole_s = typical_s if typical_s is not None else expected_s or 0.0
        left += max(0.0, whole_s - (now_s - began[image])) if image in began else whole_s
    return left / max(1, len(began))


def _repeats_s(progress: Progress, now_s: float) -> float | None:
    durations = progress.durations
    taken = [seconds for of_cell in durations.repeats_s.values() for seconds in of_cell]
    known = {cell: fmean(of_cell) for cell, of_cell in durations.repeats_s.items()}
    off = _correction(progress, known)
    typical_s = fmean(taken) if taken else None

    def each_s(cell: str) -> float | None:
        if cell in known:
            return known[cell]
        expected_s = durations.expected_s.get(cell)
        return typical_s if expected_s is None else expected_s * off

    total = 0.0
    for cell, count in _left(progress).items():
        seconds = each_s(cell)
        if seconds is None:
            return None
        total += count * seconds
    begun = 0.0
    for item in progress.running:
        begun += min(now_s - item.started_s, each_s(item.cell_id) or 0.0)
    return max(0.0, total - begun) * _stretch(progress, taken, now_s)


def _left(progress: Progress) -> dict[str, int]:
    """Return the repeats that have not ended, by cell. If the cells are not known, they count for no cell."""
    if not progress.cells:
        return {"": progress.planned - progress.done}
    return {cell: states.count(PENDING) for cell, states in progress.cells.items() if PENDING in states}


def _correction(progress: Progress, known: dict[str, float]) -> float:
    """Return how much longer repeats took than they were expected to."""
    expected = progress.durations.expected_s
    both = [cell for cell in known if expected.get(cell)]
    return sum(known[cell] for cell in both) / sum(expected[cell] for cell in both) if both else 1.0


def _stretch(progress: Progress, taken: list[float], now_s: float) -> float:
    """Return the time since the first launch over the time that repeats were under way in it."""
    under_way_s = sum(taken) + sum(now_s - item.started_s for item in progress.running)
    if progress.measuring_s is None or not under_way_s or not taken:
        return 1.0
    return (now_s - progress.measuring_s) / under_way_s
