"""How a measurement can end short of a result: one class per exit code, every message one clear sentence."""


class Failure(Exception):
    """The measurement crashed; the message says why, for the last line on stderr."""

    exit_code = 1


class Diverged(Failure):
    """The loss is no finite number, so what was timed is not the training that was asked for."""


class Unsupported(Failure):
    """This framework, or this release of it, has no such mode, option, layer or device placement."""

    exit_code = 3


class ImportFailed(Failure):
    """The framework is installed wrongly or not at all."""

    exit_code = 4


class BadRequest(Failure):
    """What was asked for cannot be right in any framework."""

    exit_code = 5


class DeviceOutOfMemory(Failure):
    """The accelerator's memory did not suffice."""

    exit_code = 6
