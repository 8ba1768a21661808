"""The process that exports: `python -m benchmarks.exporters.worker FOLDER`, as `benchmarks.native.exported` starts it.

It writes the file, the weights, and then its answer, or why there is none.
"""

import json
import os
import pickle
import sys
import traceback

import numpy

from benchmarks import definitions, process
from benchmarks.errors import Failure, Unsupported
from benchmarks.native import exported


def main(folder):
    """Export the work of a folder into it."""
    try:
        with open(os.path.join(folder, exported.WORK), "rb") as file:
            answer = _export(pickle.load(file), folder)
    except Failure as failure:
        traceback.print_exc()
        answer = {"failure": type(failure).__name__, "reason": str(failure)}
    except Exception as error:
        traceback.print_exc()
        answer = {"failure": "Failure", "reason": process.describe(error)}
    with open(os.path.join(folder, exported.ANSWER), "w") as file:
        json.dump(answer, file)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)  # what a framework does while it is torn down concerns nobody


def _export(workload, folder):
    builder, _ = process.import_builder(workload.builder, _enter)
    exporter, _ = process.import_builder(workload.builder, _enter, package="exporters")
    workload.options = dict(builder.OPTIONS)
    session = definitions.start(builder, workload)
    try:
        channels_last = exporter.write(session, workload.inputs, os.path.join(folder, exported.MODEL))
    except Exception as error:  # whatever it raises, this model has no file by this exporter
        raise Unsupported("%s cannot export this model: %s" % (exporter.NAME, process.describe(error))) from error
    numpy.savez(os.path.join(folder, exported.WEIGHTS), **session.weights())
    layers = [(name, [int(extent) for extent in shape], int(count)) for name, shape, count in session.native_layers()]
    return {"exporter": exporter.NAME, "channels_last": bool(channels_last), "layers": layers}


def _enter(_phase):
    """Report no phase, since the process that is timed is in the phase `build`."""


if __name__ == "__main__":
    main(sys.argv[1])
