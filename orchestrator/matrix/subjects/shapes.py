"""The shape of a section for each mode with subjects of its own."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, create_model, model_validator

from orchestrator.matrix.values.kinds import Axis, Positive
from orchestrator.matrix.values.shapes import Shape, or_short
from orchestrator.modes import OF_SUBJECTS
from orchestrator.modes.parts.subjects import Subjects

# Made of values that are known at run time alone, which no checker of types reads.
_LIST: Any = list
_AXIS: Any = Axis
_LITERAL: Any = Literal
_SETTINGS = ("warmup_steps", "timeout", "repeats", "output")


def with_sections(matrix: type[BaseModel], settings: type[BaseModel]) -> type[BaseModel]:
    """Return the shape of a matrix with a section for each such mode, whose entries take some of the settings."""
    sections: dict[str, Any] = {
        mode: (_LIST[entry(mode, subjects, settings)], Field([], description=_described(mode, subjects)))
        for mode, subjects in OF_SUBJECTS.items()
    }
    made = create_model("MatrixFile", __base__=matrix, __doc__=matrix.__doc__, **sections)
    # As if all keys stood in one class, so that hints name those of a matrix before the settings.
    made.__annotations__ = {**matrix.__annotations__, **made.__annotations__}
    return made


def entry(mode: str, subjects: Subjects, settings: type[BaseModel]) -> type[BaseModel]:
    """Return the shape of an entry of a section."""

    class Short(Shape):
        model_config = ConfigDict(json_schema_extra=or_short(f"Name of one {subjects.kind}.", [subjects.names[0]]))

        @model_validator(mode="before")
        @classmethod
        def _from_name(cls, value: object) -> object:
            return {subjects.kind: value} if isinstance(value, str) else value

    fields: dict[str, Any] = {
        subjects.kind: (
            _AXIS[_LITERAL[subjects.names]] | None,
            Field(None, description="One or several; left out: every one."),
        )
    }
    for axis in subjects.axes:
        fields[axis.name] = (Axis[Positive] | None, Field(None, description=axis.help))
    for name in _SETTINGS:
        field = settings.model_fields[name]
        fields[name] = (field.rebuild_annotation(), Field(None, description=field.description))
    return create_model(f"{mode.capitalize()}Entry", __base__=Short, __doc__=_described(mode, subjects), **fields)


def _described(mode: str, subjects: Subjects) -> str:
    return f"What the mode {mode} measures: each {subjects.kind} with the values of its axes."
