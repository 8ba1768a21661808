"""The output of an operator, made small, so that any two can be compared."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

_LARGEST = 1e100
_Size = Annotated[float, Field(ge=0, le=_LARGEST, allow_inf_nan=False)]
_Value = Annotated[float, Field(ge=-_LARGEST, le=_LARGEST, allow_inf_nan=False)]


class Outputs(BaseModel):
    """The output for the inputs of the first seed, and the largest error of any seed."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    elements: Annotated[int, Field(ge=1, le=2**53)]
    norm: _Size
    """Euclidean."""
    sketch: tuple[_Value, ...]
    """Its values where there are at most 1024, else a count sketch, as of every tensor of a parity check."""
    scale: _Size
    """Errors and distances are shares of it."""
    error: _Size
    """Norm of the distance from the reference in float64, at its largest."""
