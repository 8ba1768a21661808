"""The settings of a measurement: its duration, its feed as `benchmarks/inputs/feeds.py` has it, and its scaling."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from enum import StrEnum
from typing import Annotated, Any, ClassVar, Final

from pydantic import Field, GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import CoreSchema, core_schema

BLOCKS: Final = 10
LATENCY_STEPS: Final = 150
"""Of the latency pass: three repeats of them bound a 99th percentile, which takes 368, with some to spare."""
PARITY_BATCH: Final = 128
"""The batch size of a parity check, whatever the cells' own.

With batch norm, smaller batches let rounding grow into chaos.
"""


class LaterFields:
    """A dataclass that leaves fields out of its JSON while they have their default.

    Documents that use none of them stay as they were before the fields existed.
    """

    __slots__ = ()
    LATER: ClassVar[Mapping[str, Any]]
    """The default of each of these fields."""

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Return the schema of the dataclass, with its short form as JSON."""
        schema = handler.resolve_ref_schema(handler(source))
        schema["serialization"] = core_schema.wrap_serializer_function_ser_schema(_without_defaults)  # type: ignore[index]
        return schema

    @classmethod
    def __get_pydantic_json_schema__(cls, core: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """Return the JSON Schema of the dataclass, which requires none of these fields."""
        body = handler(core)
        shape = handler.resolve_ref_schema(body)
        if "required" in shape:
            shape["required"] = [name for name in shape["required"] if name not in cls.LATER]
        return body


def _without_defaults(value: Any, serialize: Callable[[Any], dict[str, Any]]) -> dict[str, Any]:
    document = serialize(value)
    for name, default in value.LATER.items():
        if getattr(value, name) == default:
            document.pop(name, None)
    return document


@dataclass(frozen=True, slots=True)
class Duration(LaterFields):
    """The duration of a cell's measurement, in steps or in epochs over a dataset."""

    LATER: ClassVar[Mapping[str, Any]] = {
        "blocks": BLOCKS, "latency_steps": LATENCY_STEPS, "evaluate_every_epoch": True,
    }  # fmt: skip

    warmup_steps: int = 10
    steps: int | None = 50
    epochs: int | None = None
    blocks: int = BLOCKS
    """Fewest timed blocks; of no meaning if epochs are timed, each of which is a block."""
    latency_steps: int = LATENCY_STEPS
    """Most steps of the latency pass."""
    evaluate_every_epoch: bool = True
    """False if the test data is evaluated after the last epoch alone."""


@dataclass(frozen=True, slots=True)
class Shortening:
    """The settings that make the measurement of a heavy cell shorter, where None leaves the next level's own."""

    blocks: int | None = None
    latency_steps: int | None = None
    parity_batch: int | None = None
    evaluate_every_epoch: bool | None = None

    def over(self, other: "Shortening") -> "Shortening":
        """Return these settings, with those of `other` where these set none."""
        mine = {field.name: getattr(self, field.name) for field in fields(self)}
        return Shortening(**{
            name: getattr(other, name) if value is None else value for name, value in mine.items()
        })  # fmt: skip

    def of(self, duration: Duration) -> Duration:
        """Return a duration with these settings in place of its own."""
        return replace(
            duration,
            blocks=duration.blocks if self.blocks is None else self.blocks,
            latency_steps=duration.latency_steps if self.latency_steps is None else self.latency_steps,
            evaluate_every_epoch=(
                duration.evaluate_every_epoch if self.evaluate_every_epoch is None else self.evaluate_every_epoch
            ),
        )


@dataclass(frozen=True, slots=True)
class Profile:
    """A set of settings that takes the place of what matrix and models say, under one name."""

    name: str
    title: str
    """The name of such a run in reports."""
    warmup_steps: int
    steps: int
    blocks: int
    latency_steps: int
    repeats: int
    ends_of_sizes: bool = False
    """True if a mode that sweeps sizes runs its smallest and its largest alone."""

    def of_sizes(self, sizes: Sequence[int]) -> tuple[int, ...]:
        """Return the sizes of a sweep that are run."""
        return tuple(dict.fromkeys((min(sizes), max(sizes)))) if self.ends_of_sizes and sizes else tuple(sizes)


QUICK: Final = Profile(
    "quick", "smoke run", warmup_steps=1, steps=5, blocks=5, latency_steps=5, repeats=3, ends_of_sizes=True
)
"""Shows that every cell works. Its figures prove nothing."""


class Feed(StrEnum):
    """The ways in which batches reach the steps."""

    PLACED = "placed"
    FED = "fed"
    LOADER = "loader"


OwnFeed = Annotated[Feed, Field(exclude_if=lambda feed: feed == Feed.PLACED)]
"""The feed of a cell or a request, which JSON holds only if it is off its default, as it holds `OwnWorkers`."""
OwnWorkers = Annotated[int, Field(ge=0, exclude_if=lambda workers: workers == 0)]
"""Workers of the framework's own loader; 0 for any other feed."""


def feed_suffix(feed: Feed, workers: int) -> str:
    """Return what a cell's id says of its feed, such as `-feed=loader-workers=2`."""
    named = "" if feed is Feed.PLACED else f"-feed={feed}"
    return f"{named}-workers={workers}" if workers else named


class Scaling(StrEnum):
    """The ways in which several devices share the work of training."""

    WEAK = "weak"
    """Each device takes a whole batch."""
    STRONG = "strong"
    """All devices together take one batch, each an equal part."""


OwnScaling = Annotated[Scaling, Field(exclude_if=lambda scaling: scaling == Scaling.WEAK)]
"""The scaling of a cell, which JSON holds only if it is off its default."""


def scaling_suffix(scaling: Scaling) -> str:
    """Return what a cell's id says of its scaling, such as `-scaling=strong`."""
    return "" if scaling is Scaling.WEAK else f"-scaling={scaling}"
