"""The parsing of a command line without the libraries that a shell would wait for.

Typer validates every value with pydantic, also the defaults, and formats descriptions for shells with rich.
Their imports take longer than all else that a completion or a help text needs.
"""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import typer

COMPLETE = "_ORCHESTRATOR_COMPLETE"
"""The variable by which a shell asks for completions."""


def validate_late(command: Any, context: typer.Context) -> None:
    """Validate the values of a command, and of those below it, only if a user gave them and the command may run."""
    for option in command.get_params(context):
        option.process_value = partial(_process, option, type(option).process_value)
    for below in getattr(command, "commands", {}).values():
        validate_late(below, context)


def _process(option: Any, validate: Callable[..., Any], context: typer.Context, value: Any) -> Any:
    """Return the value of an option. A completion takes it as it is written."""
    if context.resilient_parsing:
        return value
    source = context.get_parameter_source(option.name)
    if option.required or source is None or source.name != "DEFAULT":
        return validate(option, context, value)
    return option.callback(context, option, value) if option.callback else value


@contextmanager
def plain_completion() -> Iterator[None]:
    """Leave descriptions as they are written in a completion.

    Rich would also break long ones into lines, which shells take for further candidates.
    """
    if COMPLETE not in os.environ or "rich" in sys.modules:
        yield
        return
    sys.modules["rich"] = None  # type: ignore[assignment]  # Typer asks if there is such a module
    try:
        yield
    finally:
        del sys.modules["rich"]
