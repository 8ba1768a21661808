"""Gluon's `DataLoader` over an `ArrayDataset`, with worker processes if there are any."""

import mxnet as mx
from mxnet.gluon.data import ArrayDataset, DataLoader


class GluonLoader:
    """A loader for a session on a device."""

    def __init__(self, context):
        self._context = context

    def __call__(self, samples, workers):
        """Yield batches that Gluon collates of single samples."""
        mx.nd.waitall()  # a worker that is forked while the engine computes may inherit a lock that nobody opens
        loader = DataLoader(
            ArrayDataset(samples.inputs, samples.labels), batch_sampler=_Sampler(samples), num_workers=workers
        )
        for batch in loader:
            yield tuple(batch)

    def place(self, inputs, labels):
        """Copy a batch to the device, if it is not there already."""
        return inputs.as_in_context(self._context), labels.as_in_context(self._context).astype("int32")

    @staticmethod
    def lay(inputs):
        """Return the inputs, which are channels first already."""
        return inputs

    @staticmethod
    def native(inputs, labels):
        """Return arrays in the host's memory."""
        return mx.nd.array(inputs, mx.cpu()), mx.nd.array(labels, mx.cpu(), dtype="int32")


class _Sampler:
    """The planned order as Gluon takes it."""

    def __init__(self, samples):
        self._samples = samples

    def __iter__(self):
        return self._samples.chosen()

    def __len__(self):
        return len(self._samples.order)
