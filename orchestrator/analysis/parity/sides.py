"""The sides of a pair, each with its parity answer and its tensors ready for comparison."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

from orchestrator.domain import Cell, Framework, Options
from orchestrator.modes.parts.settings import PARITY_BATCH
from orchestrator.results.evidence import read_outputs
from orchestrator.results.parity.contract import ParityResult, Sample, Tensor
from orchestrator.results.parts.outputs import Outputs
from orchestrator.results.store import Run

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


FULL_PRECISION: Final = "fp32"
UNQUANTISED: Final = "none"
NOISE: Final = 1e-5
"""Share of the norm of all gradients together below which that of one tensor is rounding; two such are equal."""


def quantisation(options: Options) -> str:
    """Return the kind of quantisation that options set, or `none`."""
    return str(dict(options).get("quantisation", UNQUANTISED))


@dataclass(frozen=True, slots=True)
class OutputEvidence:
    """The outputs that the results of a cell hold, and the bar that they must keep."""

    bar: float
    outputs: Outputs | None
    """None if no result holds any."""
    measurement_version: int | None = None


def output_evidence(run: Run, cell: Cell) -> OutputEvidence:
    """Read the outputs of a cell whose mode states a bar for each of its subjects."""
    bar, stored = cell.workload.rules.parity.output_bars.get(cell.workload.model, 0.0), read_outputs(run, cell)
    return OutputEvidence(bar, *stored) if stored else OutputEvidence(bar, None)


@dataclass(frozen=True)
class ParitySide:
    """One cell of a pair, with the answer of its parity container or the reason that there is none."""

    label: str
    framework: Framework
    options: Options
    result: ParityResult | None
    why_not: str = ""
    """One line; empty only if there is a result."""
    batch_size: int = PARITY_BATCH
    """Samples of the batch that it was checked on."""
    output: OutputEvidence | None = None
    """Of a mode whose results hold outputs, in place of a parity container."""

    @property
    def precision(self) -> str:
        """Return the precision that the options set, or that of the side's own file if it has less."""
        asked = str(dict(self.options).get("precision", FULL_PRECISION))
        return asked if asked != FULL_PRECISION else self._arithmetic

    @property
    def _arithmetic(self) -> str:
        """Return what an exported network computes in, as its file says."""
        file = self.result.facts.get("onnx") if self.result and self.result.network else None
        return str(file.get("arithmetic", FULL_PRECISION)) if isinstance(file, Mapping) else FULL_PRECISION

    @property
    def quantisation(self) -> str:
        """Return the kind of quantisation that the options set."""
        return quantisation(self.options)

    @cached_property
    def tensors(self) -> Mapping[str, "Stack"]:
        """Return initial weights, first gradients and logits of timed inference, ready for comparison.

        The outputs of an exported network stand for logits.
        """
        if self.result is None:
            return {}
        inferred, outputs = self.result.inferred, self.result.outputs
        return {
            **({"unquantised": Stack.of({"logits": self.result.quantised.logits})} if self.result.quantised else {}),
            "weights": Stack.of(self.result.weights),
            "gradients": Stack.of(self.result.gradients),
            "logits": Stack.of({"logits": inferred}) if inferred else Stack.of(outputs, noise=0.0),
        }

    @cached_property
    def sampled(self) -> "Sampled | None":
        """Return the changes of a few elements of each tensor in the timed steps, or None if they were not recorded."""
        steps = self.result.optimizer if self.result else None
        return Sampled.of({name: tensor.sample for name, tensor in steps.tensors.items()}) if steps else None


@dataclass(frozen=True, slots=True)
class Sampled:
    """Sampled elements of all tensors in one row, with the length of each tensor's part."""

    names: tuple[str, ...]
    lengths: tuple[int, ...]
    moved: "npt.NDArray[np.float64]"
    gradients: "npt.NDArray[np.float64]"
    """0 for an element that is left out."""

    @classmethod
    def of(cls, samples: Mapping[str, Sample]) -> "Sampled":
        """Lay samples out in the order of their names, without tensors that have no elements."""
        import numpy as np  # noqa: PLC0415 - as below

        names = tuple(name for name in sorted(samples) if samples[name].moved)
        return cls(
            names,
            tuple(len(samples[name].moved) for name in names),
            np.array([value for name in names for value in samples[name].moved], dtype=np.float64),
            np.array([value for name in names for value in samples[name].gradients], dtype=np.float64),
        )

    def apart(self, other: "Sampled", least: float) -> "npt.NDArray[np.float64]":
        """Return the relative norm of the difference of each tensor.

        Only elements whose gradients are above `least` on both sides count.
        """
        import numpy as np  # noqa: PLC0415 - as below

        counted = np.minimum(self.gradients, other.gradients) > least
        starts = np.concatenate([[0], np.cumsum(self.lengths)[:-1]]).astype(int)

        def norms(values: "npt.NDArray[np.float64]") -> "npt.NDArray[np.float64]":
            return np.sqrt(np.add.reduceat(np.where(counted, values, 0.0) ** 2, starts))

        largest = np.maximum(norms(self.moved), norms(other.moved))
        distances = norms(self.moved - other.moved)
        relative: npt.NDArray[np.float64] = np.divide(
            distances, largest, out=np.zeros_like(distances), where=largest > 0
        )
        return relative


@dataclass(frozen=True, slots=True)
class Stack:
    """Sketches of tensors in one row of numbers, with the length of each tensor's part."""

    names: tuple[str, ...]
    lengths: tuple[int, ...]
    values: "npt.NDArray[np.float64]"
    norms: "npt.NDArray[np.float64]"
    noise: float = NOISE
    """Share of the norm of all tensors up to which one is rounding. Outputs of a network have units of their own: 0."""

    @classmethod
    def of(cls, tensors: Mapping[str, Tensor], noise: float = NOISE) -> "Stack":
        """Lay tensors out in the order of their names."""
        import numpy as np  # noqa: PLC0415 - takes a fifth of a second, and only comparisons need it

        names = tuple(sorted(tensors))
        return cls(
            names,
            tuple(len(tensors[name].sketch) for name in names),
            np.array([value for name in names for value in tensors[name].sketch], dtype=np.float64),
            np.array([tensors[name].norm for name in names], dtype=np.float64),
            noise,
        )

    def apart(self, other: "Stack") -> "npt.NDArray[np.float64]":
        """Return the relative norm of the difference of each tensor, for tensors of the same names and lengths.

        The difference of two sketches is the sketch of the difference, whose norm estimates that of the difference
        itself, with a standard error of √(2/1024), 4 %. A sketch that is the values themselves makes it exact.
        """
        import numpy as np  # noqa: PLC0415 - as above

        starts = np.concatenate([[0], np.cumsum(self.lengths)[:-1]]).astype(int)
        distances = np.sqrt(np.add.reduceat((self.values - other.values) ** 2, starts))
        largest = np.maximum(self.norms, other.norms)
        significant = largest > self.noise * float(np.sqrt(np.sum(largest**2)))
        relative: npt.NDArray[np.float64] = np.divide(
            distances, largest, out=np.zeros_like(distances), where=significant
        )
        return relative
