"""The ways in which a measurement ends without a result.

Each exit code has a class, and every message is one clear sentence.
"""


class Failure(Exception):
    """The work that ran is not the requested work.

    The message gives the reason, for the last line on stderr. The same work fails in the same way again, and a crash
    may not.
    """

    exit_code = 7


class Diverged(Failure):
    """The loss is no finite number, so the timed work is not the requested training."""


class Unsupported(Failure):
    """This framework, or this release of it, has no such mode, option, layer or device placement."""

    exit_code = 3


class CannotTrain(Unsupported):
    """This framework has no training as it is defined here."""


class ImportFailed(Failure):
    """The framework is installed wrongly or not at all."""

    exit_code = 4


class BadRequest(Failure):
    """The request cannot be right in any framework."""

    exit_code = 5


class DeviceOutOfMemory(Failure):
    """The accelerator's memory did not suffice."""

    exit_code = 6


class NoUsableDevice(Failure):
    """The process has no usable GPU, or computes elsewhere than on the one it was given."""

    exit_code = 8
