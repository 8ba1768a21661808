"""The answer of a parity container and the outcome of its check, below `<run>/parity/`.

A parity container measures no time. It says what the framework's own layers are and what they compute, so that the
host can tell which cells do the same work; `docs/measurement.md` explains how that is judged.
"""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from orchestrator.domain import Status
from orchestrator.results.contract import SCHEMA, Finite, Seconds, Strict
from orchestrator.results.parts.facts import Facts
from orchestrator.wording import clean_line

REVISION = 4
"""Of what a check asks and answers: raised with it, so that no answer from before stands for what it never held."""
LARGEST = 1e100
"""A larger value has diverged; the square of this one is still a number."""
Name = Annotated[str, Field(min_length=1, max_length=200)]
Count = Annotated[int, Field(ge=0, le=2**53)]
Norm = Annotated[float, Field(ge=0, le=LARGEST, allow_inf_nan=False)]
Value = Annotated[float, Field(ge=-LARGEST, le=LARGEST, allow_inf_nan=False)]


class NativeLayer(Strict):
    """One layer, as the framework's own object says or as the model's definition counts it."""

    name: Name
    """Of the vocabulary: `conv2d_1`; what precedes the number is its kind."""
    shape: tuple[Count, ...]
    """Of its output without the batch, channels first."""
    parameters: Count
    """Trainable and logical: a framework that stores two biases for one counts one."""


class Tensor(Strict):
    """A tensor made small, so that the relative difference of any two can be worked out from their files."""

    norm: Norm
    """Euclidean."""
    sketch: tuple[Value, ...]
    """Its values in canonical order where there are at most 1024, else a count sketch of 1024 buckets with a fixed seed
    (Charikar, Chen and Farach-Colton, "Finding frequent items in data streams", 2002)."""


class Dropout(Strict):
    """The effect of one dropout in training while no other one drops, and nothing is learned."""

    rate: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
    """By the model's definition."""
    losses: Annotated[tuple[Finite, ...], Field(min_length=2)]
    """Mean loss of the fixed batch at each of some steps at a learning rate of 0."""


class Form(Strict):
    """One form of an optimizer's rule, worked out in float64 from the framework's own gradients."""

    moved: Norm
    """Norm of what the rule makes of the gradients."""
    apart: Norm
    """Norm of the difference between that and what the framework's steps did."""


class Sample(Strict):
    """Some elements of a tensor, the same ones in every framework: all of them where there are at most 256."""

    moved: tuple[Value, ...]
    """The effect of the steps on each."""
    gradients: tuple[Norm, ...]
    """Least gradient of each in any step, as a share of the tensor's root mean square; 0 for an element that is left
    out, and for one in which the forms of the rule differ by more than 1 %."""

    @model_validator(mode="after")
    def _pairs(self) -> Self:
        if len(self.moved) != len(self.gradients):
            raise ValueError("a sample holds as many gradients as values")
        return self


class Stepped(Strict):
    """The effect of the timed steps on one tensor."""

    elements: Count
    left_out: Count
    """Elements whose gradient is rounding in some step; the norms are of all others."""
    weights: Norm
    """Of the tensor after the steps."""
    moved: Norm
    """Of what the steps did to it."""
    forms: Annotated[dict[Name, Form], Field(min_length=1)]
    """By name: frameworks add Adam's and RMSprop's epsilon in different places."""
    sample: Sample


class OptimizerSteps(Strict):
    """The effect of the timed steps: the model's own optimizer from the initial weights, without dropout."""

    settings: Annotated[dict[Name, Finite | Name], Field(max_length=20)]
    """Of the optimizer, as the model has them: `name`, `learning_rate` and its own."""
    steps: Annotated[int, Field(ge=1)]
    tensors: dict[Name, Stepped]
    """By parameter name."""


class Quantised(Strict):
    """The answers of a quantised session that stand beside those of the same session without quantisation.

    A linear layer in closed form makes the model choose classes; `docs/measurement.md` says how.
    """

    kind: Literal["dynamic", "static"]
    dataset: Name
    """Of the labelled samples: `digits` where the model takes them, else that of the cell."""
    chosen: Annotated[tuple[Count, ...], Field(min_length=1, max_length=10_000)]
    """The class with the largest logit of each sample."""
    unquantised: Annotated[tuple[Count, ...], Field(min_length=1, max_length=10_000)]
    """The same without quantisation."""
    right: tuple[Count, Count]
    """The numbers of both that are the label's."""
    logits: Tensor
    """Of the fixed batch with the initial weights by the step that is timed, without quantisation."""

    @model_validator(mode="after")
    def _pairs(self) -> Self:
        if len(self.chosen) != len(self.unquantised):
            raise ValueError("both sessions choose a class for each sample")
        return self


Tokens = Annotated[tuple[Annotated[int, Field(ge=0, le=2**31)], ...], Field(min_length=1, max_length=1024)]
Leads = Annotated[tuple[Value, ...], Field(min_length=1, max_length=1024)]


class Generated(Strict):
    """The tokens that a generator chose after the prompts of the fixed batch, by the steps that are timed."""

    prompt: Annotated[int, Field(ge=1)]
    """Tokens of each prompt."""
    output: Annotated[int, Field(ge=1)]
    """Tokens that are asked for after it, of which the first 64 are here."""
    tokens: Annotated[tuple[Tokens, ...], Field(min_length=1, max_length=4096)]
    """Those after each prompt."""
    leads: Annotated[tuple[Leads, ...], Field(min_length=1, max_length=4096)]
    """By how much the logit of each exceeds that of any other token, as a share of the root mean square of the logits;
    below 0 for a token that is not the most likely one."""

    @model_validator(mode="after")
    def _pairs(self) -> Self:
        lengths = {len(row) for row in (*self.tokens, *self.leads)}
        if len(self.tokens) != len(self.leads) or len(lengths) != 1:
            raise ValueError("each prompt has as many tokens as every other, each with its lead")
        return self


class ParityResult(Strict):
    """The answer of a parity container: `/io/result.json`."""

    schema_: Literal[1] = Field(SCHEMA, alias="schema")
    measurement_version: Annotated[int, Field(ge=1)]
    cell: str
    """The check's id, as the request has it."""
    started_at: str
    """ISO 8601, UTC."""
    parameters: Count
    """Trainable weights, asked of the framework."""
    layers: tuple[NativeLayer, ...]
    """Every recorded layer that has a native one, in the order of the model."""
    counted_parameters: Count
    """Counted from the model's definition, without a framework; as are the `counted` layers."""
    counted: tuple[NativeLayer, ...]
    """Every recorded layer."""
    weights: dict[Name, Tensor]
    """Initial weights by parameter name, `conv2d_1.weight`, read back from the framework in canonical layout."""
    first_loss: Finite | None
    """Mean loss of the fixed batch before any step; None of a model with batch norm in what infers alone."""
    losses: dict[Annotated[str, Field(pattern=r"^[1-9][0-9]*$")], Finite]
    """Mean loss of the same batch after so many plain SGD steps: after `1`, `3` and `10`."""
    learning_rate: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 0.01
    """Of those steps."""
    gradients: dict[Name, Tensor]
    """Of the first step, by parameter name."""
    logits: Tensor | None = None
    """Of the fixed batch with the initial weights by `session.predict`, which evaluates training; batch by classes."""
    network: Annotated[str | None, Field(exclude_if=lambda network: network is None)] = None
    """SHA-256 of an exported network, whose file is its definition; None for a model of the vocabulary."""
    outputs: Annotated[dict[Name, Tensor], Field(default_factory=dict, exclude_if=lambda outputs: not outputs)]
    """Of an exported network by name, from the step that is timed."""
    inferred: Tensor | None = None
    """The same by the step that is timed where inference is measured; None in older answers."""
    quantised: Annotated[Quantised | None, Field(exclude_if=lambda quantised: quantised is None)] = None
    """Of a session with the option `quantisation`."""
    generated: Annotated[Generated | None, Field(exclude_if=lambda generated: generated is None)] = None
    """Of the mode `generate`, whose logits after the prompts are `inferred`."""
    dropouts: dict[Name, Dropout] = Field(default_factory=dict)
    """By the name of the layer, `dropout_1`; none in older answers."""
    optimizer: OptimizerSteps | None = None
    """None in older answers, and where the session could not be asked."""
    lacking: tuple[str, ...] = ()
    """The questions that the session could not be asked, as one of a framework's own definition may: `weights`,
    `native_layers`, `predict`; or `given_weights`, where it starts from other weights than it is given."""
    wall_s: Seconds
    facts: Facts

    @model_validator(mode="after")
    def _loss_of_training(self) -> Self:
        if self.first_loss is None and "training" not in self.lacking:
            raise ValueError("first_loss is missing, although the framework trains")
        return self


class ParityOutcome(Strict):
    """The end of a check: `<run>/parity/<check>/outcome.json`, the last file it gets."""

    schema_: Literal[1] = Field(SCHEMA, alias="schema")
    check: str
    """Its id, which is its folder below the run's `parity`."""
    content: str
    """The content and the place of the check, as a hash: image, model, options, seed, models of the CPU and the GPUs. A
    check of other content is made anew."""
    status: Status
    reason: str = ""
    """One line; empty only when `ok`."""
    folder: str
    """The result's place below the run's `parity`; of another check if that had the same content."""
    log: str | None = None
    """Relative to the run's folder; None where the answer is an earlier run's."""
    reused: bool = False
    """True if an earlier run asked the same of the same content, and its answer was taken over."""
    started_at: str = ""
    wall_s: Seconds = 0.0
    exit_code: int | None = None
    image_id: str | None = None

    @property
    def shown_reason(self) -> str:
        """Return the reason without what steers a terminal."""
        return clean_line(self.reason)
