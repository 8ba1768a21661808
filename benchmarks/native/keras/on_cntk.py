"""CNTK under Keras 2, with recurrent layers written out, as CNTK has no loop over an axis of fixed length."""

import cntk

from benchmarks.native.keras import keras2

LAYOUT = "channels_first"


def prepare(threads, gpu):
    """Set the threads (CNTK's choice without them) and the device, and return the device's name."""
    if threads:
        cntk.cntk_py.set_max_num_cputhreads(threads)
    device = cntk.device.gpu(0) if gpu else cntk.device.cpu()
    is_set = cntk.device.try_set_default_device(device)
    return "gpu(0)" if gpu and is_set else "cpu"


def version():
    """Return the version that CNTK reports."""
    return cntk.__version__


def facts():
    """Return the threads that CNTK reports."""
    return {"threads": int(cntk.cntk_py.get_max_num_cputhreads())}


class CntkBuilder(keras2.Keras2Builder):
    """A maker of layers without loops."""

    unroll = True


BUILDER = CntkBuilder
