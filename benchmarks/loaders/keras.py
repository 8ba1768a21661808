"""Keras' own path for NumPy arrays, which cuts the samples of each batch out of the arrays as `fit` does."""

from benchmarks.errors import Unsupported


class KerasLoader:
    """A loader for a session, which takes arrays of NumPy."""

    def __init__(self, place, lay):
        self.place, self.lay = place, lay

    @staticmethod
    def __call__(samples, workers):
        """Yield batches that Keras cuts out. Raises `Unsupported` if workers are asked for."""
        if workers:
            raise Unsupported("Keras' path for NumPy arrays has no workers; set workers to 0")
        slice_arrays = _slicer()
        for chosen in samples.chosen():
            yield tuple(slice_arrays([samples.inputs, samples.labels], chosen))

    @staticmethod
    def native(inputs, labels):
        """Return the arrays themselves."""
        return inputs, labels


def _slicer():
    """Return the function of Keras 2 that cuts samples out of arrays."""
    try:
        from keras.utils.generic_utils import slice_arrays
    except ImportError:
        # Keras before 2.1.
        from keras.engine.training import _slice_arrays as slice_arrays
    return slice_arrays
