"""The entry of the container, `python -m benchmarks.run`.

With `--io DIR` it answers the harness, and else it measures by hand.

Exit status: 0 measured, 3 unsupported, 4 import failed, 5 bad request, 6 device out of memory, 7 not the requested work
(a loss that is no number, other parameters than counted), 8 no usable GPU, 1 a crash. If it is not 0, the last line on
stderr is one sentence with the reason.
"""

import os
import sys

from benchmarks import contract, modes, process
from benchmarks.errors import Failure
from benchmarks.timing import largest_batch


def harness(folder):
    """Answer `request.json` in a folder with `result.json`, and write to `phase` which phase runs."""
    request = contract.read_request(folder)

    def enter(phase):
        contract.write_atomically(folder, "phase", phase + "\n")

    if request.largest_batch:
        result, summary = largest_batch.answer(request, folder, enter)
    else:
        result, summary = modes.named(request.mode).answer(request, enter)
    contract.write_atomically(folder, "result.json", contract.result_text(result))
    print(summary)


def main(arguments):
    """Run with command-line arguments. Returns the exit code, after the reason is on stderr if it is not 0."""
    try:
        if len(arguments) == 2 and arguments[0] == "--io":
            harness(arguments[1])
        else:
            from benchmarks import by_hand

            by_hand.main(arguments)
    except Failure as failure:
        return _say(failure, str(failure), failure.exit_code)
    except SystemExit as error:
        if arguments[:1] != ["--io"]:  # as `--help` ends by hand
            raise
        return _say(error, process.describe(error), 1)
    except Exception as error:
        return _say(error, process.describe(error), 1)
    return 0


def _say(error, reason, exit_code):
    if not isinstance(error, Failure) or error.__cause__:
        import traceback

        traceback.print_exception(type(error), error, error.__traceback__)
    sys.stdout.flush()
    sys.stderr.write(reason.replace("\n", " ") + "\n")
    return exit_code


def _leave(exit_code):
    """End at once, because what frameworks print or crash on while they are torn down is not measured."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(exit_code)


if __name__ == "__main__":
    _leave(main(sys.argv[1:]))
