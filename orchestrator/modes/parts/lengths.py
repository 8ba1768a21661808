"""The lengths of a generation, as `benchmarks/timing/generation.py` has them."""

from dataclasses import dataclass
from typing import Annotated, Final

from pydantic import Field

PROMPT: Final = 32
OUTPUT: Final = 32
"""Tokens of a prompt, and tokens that are generated after it, by default."""


@dataclass(frozen=True, slots=True)
class Generation:
    """A prompt with the tokens that are generated after it, the first of them by the prompt itself."""

    prompt: int = PROMPT
    """Tokens of each prompt."""
    output: int = OUTPUT
    """Tokens that are generated after it."""

    @property
    def suffix(self) -> str:
        """Return what a cell's id says of it, such as `-prompt_length=128-output_length=64`."""
        named = (("prompt_length", self.prompt, PROMPT), ("output_length", self.output, OUTPUT))
        return "".join(f"-{name}={value}" for name, value, default in named if value != default)

    @property
    def whole_suffix(self) -> str:
        """Return the same with lengths at their defaults, where no lengths are another work."""
        return f"-prompt_length={self.prompt}-output_length={self.output}"


OwnGeneration = Annotated[Generation | None, Field(exclude_if=lambda generation: generation is None)]
"""The lengths of a cell that generates, which JSON holds only there: in `generate`, and in `requests` for tokens."""
