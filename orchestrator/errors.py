"""The errors a person can cause or cure: one class per exit code, every message with its place and remedy."""

from collections.abc import Sequence


class OrchestratorError(Exception):
    """Something the person at the keyboard can act on; never shown with a traceback."""

    exit_code = 1


class InputError(OrchestratorError):
    """Bad input: what was asked for cannot be right on any host."""

    exit_code = 2

    def __init__(self, *messages: str) -> None:
        self.messages: Sequence[str] = messages
        super().__init__("\n".join(messages))


class HostError(OrchestratorError):
    """This host cannot do it: no engine, no disk, no permission."""

    exit_code = 3
