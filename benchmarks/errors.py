"""How a measurement can end short of a result: one class per exit code, every message one clear sentence."""


class Failure(Exception):
    """What ran is not the work that was asked for; the message says why, for the last line on stderr.

    The same work ends the same way again, which tells this from a crash.
    """

    exit_code = 7


class Diverged(Failure):
    """The loss is no finite number, so what was timed is not the training that was asked for."""


class Unsupported(Failure):
    """This framework, or this release of it, has no such mode, option, layer or device placement."""

    exit_code = 3


class CannotTrain(Unsupported):
    """This framework has no training as it is defined here."""


class ImportFailed(Failure):
    """The framework is installed wrongly or not at all."""

    exit_code = 4


class BadRequest(Failure):
    """What was asked for cannot be right in any framework."""

    exit_code = 5


class DeviceOutOfMemory(Failure):
    """The accelerator's memory did not suffice."""

    exit_code = 6
