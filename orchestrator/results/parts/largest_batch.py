"""The search for the largest batch, as a result holds it."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from orchestrator.modes.parts.largest_batch import GAP

_Samples = Annotated[int, Field(ge=1, le=2**53)]


class BatchTry(BaseModel):
    """One size, tried in a process of its own."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    batch_size: _Samples
    fits: bool
    """False if the device ran out of memory."""
    wall_s: Annotated[float, Field(ge=0, le=1e9, allow_inf_nan=False)]
    peak_device_bytes: Annotated[int, Field(ge=0, le=2**60)] | None = None
    """None if the framework does not report it, or the size does not fit."""


class LargestBatch(BaseModel):
    """The largest batch that fits. Sizes are samples of a step, of all devices together."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    fits: _Samples
    """The largest size that fitted, whose try the rest of the result is of."""
    refused: _Samples | None
    """The smallest size that did not fit; None if none was refused."""
    bounded_by: Annotated[_Samples | None, Field(exclude_if=lambda samples: samples is None)] = None
    """The samples of the dataset, if all that fill a batch fit at once."""
    tries: Annotated[tuple[BatchTry, ...], Field(min_length=1)]
    """In their order."""


def broken_search(search: LargestBatch, devices: int) -> str | None:
    """Return what is wrong with a search over sizes that so many devices share, in one line, or None."""
    fitting = [each.batch_size for each in search.tries if each.fits]
    refused = [each.batch_size for each in search.tries if not each.fits]
    if (search.fits, search.refused) != (max(fitting, default=0), min(refused, default=None)):
        return "result.json has a largest batch that is not that of its tries"
    if search.refused is None:
        is_whole = search.bounded_by is not None and 0 <= search.bounded_by - search.fits < devices
        return None if is_whole else f"result.json has no batch above {search.fits} that was refused"
    if not search.fits < search.refused <= search.fits + max(devices, search.fits * GAP):
        return f"result.json has a largest batch of {search.fits}, and the next one refused is {search.refused}"
    return None
