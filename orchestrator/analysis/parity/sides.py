"""The sides of a pair: what each parity container answered, with its tensors ready to be compared."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

from orchestrator.domain import Framework, Options
from orchestrator.results.parity import ParityResult, Sample, Tensor

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

FULL_PRECISION: Final = "fp32"
NOISE: Final = 1e-5
"""Share of the norm of all tensors together below which a tensor is rounding: where both sides are, they are equal."""


@dataclass(frozen=True)
class Side:
    """One cell of a pair: who it is, and what its parity container answered or why there is no answer."""

    label: str
    framework: Framework
    options: Options
    result: ParityResult | None
    why_not: str = ""
    """One line; empty only where there is a result."""

    @property
    def precision(self) -> str:
        """As the options have it."""
        return str(dict(self.options).get("precision", FULL_PRECISION))

    @cached_property
    def tensors(self) -> Mapping[str, "Stack"]:
        """Initial weights, first gradients and logits of timed inference, ready to be compared."""
        if self.result is None:
            return {}
        logits = {"logits": self.result.inferred} if self.result.inferred else {}
        return {
            "weights": Stack.of(self.result.weights),
            "gradients": Stack.of(self.result.gradients),
            "logits": Stack.of(logits),
        }

    @cached_property
    def sampled(self) -> "Sampled | None":
        """What the timed steps did to a few elements of each tensor; None where that was not asked."""
        steps = self.result.optimizer if self.result else None
        return Sampled.of({name: tensor.sample for name, tensor in steps.tensors.items()}) if steps else None


@dataclass(frozen=True, slots=True)
class Sampled:
    """Sampled elements laid side by side, and where those of each tensor begin."""

    names: tuple[str, ...]
    lengths: tuple[int, ...]
    moved: "npt.NDArray[np.float64]"
    gradients: "npt.NDArray[np.float64]"
    """0 for an element that is left out."""

    @classmethod
    def of(cls, samples: Mapping[str, Sample]) -> "Sampled":
        """Lay them out in the order of their names; a tensor without elements is left out."""
        import numpy as np  # noqa: PLC0415 - as below

        names = tuple(name for name in sorted(samples) if samples[name].moved)
        return cls(
            names,
            tuple(len(samples[name].moved) for name in names),
            np.array([value for name in names for value in samples[name].moved], dtype=np.float64),
            np.array([value for name in names for value in samples[name].gradients], dtype=np.float64),
        )

    def apart(self, other: "Sampled", least: float) -> "npt.NDArray[np.float64]":
        """Relative norm of the difference of each tensor, by the elements whose gradients both are above `least`."""
        import numpy as np  # noqa: PLC0415 - as below

        kept = np.minimum(self.gradients, other.gradients) > least
        starts = np.concatenate([[0], np.cumsum(self.lengths)[:-1]]).astype(int)

        def norms(values: "npt.NDArray[np.float64]") -> "npt.NDArray[np.float64]":
            return np.sqrt(np.add.reduceat(np.where(kept, values, 0.0) ** 2, starts))

        largest = np.maximum(norms(self.moved), norms(other.moved))
        distances = norms(self.moved - other.moved)
        relative: npt.NDArray[np.float64] = np.divide(
            distances, largest, out=np.zeros_like(distances), where=largest > 0
        )
        return relative


@dataclass(frozen=True, slots=True)
class Stack:
    """Tensors laid side by side: the sketches in one row of numbers, and where each begins."""

    names: tuple[str, ...]
    lengths: tuple[int, ...]
    values: "npt.NDArray[np.float64]"
    norms: "npt.NDArray[np.float64]"

    @classmethod
    def of(cls, tensors: Mapping[str, Tensor]) -> "Stack":
        """Lay them out in the order of their names."""
        import numpy as np  # noqa: PLC0415 - a fifth of a second, which no command should pay that compares nothing

        names = tuple(sorted(tensors))
        return cls(
            names,
            tuple(len(tensors[name].sketch) for name in names),
            np.array([value for name in names for value in tensors[name].sketch], dtype=np.float64),
            np.array([tensors[name].norm for name in names], dtype=np.float64),
        )

    def apart(self, other: "Stack") -> "npt.NDArray[np.float64]":
        """Relative norm of the difference of each tensor; both must hold tensors of the same names and lengths.

        The difference of two sketches is the sketch of the difference, whose norm estimates that of the difference
        itself, with a standard error of √(2/1024), 4 %; where a sketch is the values themselves, it is exact.
        """
        import numpy as np  # noqa: PLC0415 - as above

        starts = np.concatenate([[0], np.cumsum(self.lengths)[:-1]]).astype(int)
        distances = np.sqrt(np.add.reduceat((self.values - other.values) ** 2, starts))
        largest = np.maximum(self.norms, other.norms)
        felt = largest > NOISE * float(np.sqrt(np.sum(largest**2)))
        relative: npt.NDArray[np.float64] = np.divide(distances, largest, out=np.zeros_like(distances), where=felt)
        return relative
