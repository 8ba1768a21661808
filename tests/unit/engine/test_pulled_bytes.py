"""The bytes of a pull, by what an engine says of its layers."""

from itertools import count
from typing import Any

from orchestrator.engine.pulled_bytes import PulledBytes


def said(layer: str, status: str, current: int | None = None, total: int | None = None) -> dict[str, Any]:
    return {"id": layer, "status": status, "progressDetail": {"current": current, "total": total} if total else {}}


def test_layers_are_summed() -> None:
    told: list[tuple[int, int]] = []
    pulled = PulledBytes(lambda done, total: told.append((done, total)), count(step=10).__next__)
    for message in (
        said("a", "Pulling fs layer"), said("a", "Downloading", 5, 100), said("b", "Downloading", 20, 50),
        said("a", "Downloading", 60, 100), said("b", "Download complete"), said("b", "Extracting", 1, 50),
        said("c", "Already exists"), said("a", "Pull complete"), {"status": "Digest: sha256:0"},
    ):  # fmt: skip
        pulled.hear(message)

    assert told == [(5, 100), (25, 150), (80, 150), (110, 150), (150, 150)]


def test_it_is_not_told_too_often() -> None:
    told: list[tuple[int, int]] = []
    moments = iter([0.0, 0.4, 0.9, 1.0, 1.5])
    pulled = PulledBytes(lambda done, total: told.append((done, total)), lambda: next(moments))
    for done in range(1, 6):
        pulled.hear(said("a", "Downloading", done, 9))

    assert told == [(1, 9), (4, 9)]
