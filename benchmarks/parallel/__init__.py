"""Training on several devices, each of which takes an equal part of every batch.

The batch of a request is that of all devices together. So the harness counts it as any other, and nothing multiplies
it.
A module of this folder is named after the builder that it serves, or serves all whose devices need processes.
"""

from benchmarks.errors import NoUsableDevice
from benchmarks.native import alike

PER_DEVICE = "per device"
"""The values by which batch norm normalises a part of a batch, which are those of the part alone."""


def part(workload, inputs, labels, number):
    """Return the part of a NumPy batch that one device takes. Parts are cut in the order of the samples."""
    size = workload.batch_size // workload.devices
    chosen = slice(number * size, (number + 1) * size)
    return alike(inputs, lambda each: each[chosen]), labels[chosen]


def require_devices(shown, wanted):
    """Raise `NoUsableDevice` if a framework shows fewer devices than are to train: it might do with these alone."""
    if shown < wanted:
        raise NoUsableDevice("the framework shows %d devices, not the %d that are to train" % (shown, wanted))


def facts(workload, names, gradients, running_values):
    """Return the facts of a session on several devices.

    `names` are those of the devices, each of a tensor that it computed. `gradients` says how they are averaged, and
    `running_values` which ones batch norm keeps.
    """
    found = {
        "devices": len(names),
        "device_names": names,
        "global_batch": workload.batch_size,
        "device_batch": workload.batch_size // workload.devices,
        "gradients": gradients,
    }
    if any(layer.kind == "batch_norm" for layer in workload.layers):
        found.update(batch_norm=PER_DEVICE, batch_norm_running_values=running_values)
    return found
