"""PyTorch's `DataLoader` over a `TensorDataset`, with worker processes if there are any."""

import torch
from torch.utils.data import DataLoader, TensorDataset


class TorchLoader:
    """A loader for a session, whose batches `place` brings to the device."""

    def __init__(self, place, pinned):
        self.place, self._pinned = place, pinned

    def __call__(self, samples, workers):
        """Yield batches that PyTorch collates of single samples."""
        dataset = TensorDataset(*self.native(samples.inputs, samples.labels))
        loader = DataLoader(dataset, batch_sampler=samples.chosen(), num_workers=workers, pin_memory=self._pinned)
        for batch in loader:
            yield tuple(batch)

    @staticmethod
    def lay(inputs):
        """Return the inputs, which are channels first already."""
        return inputs

    @staticmethod
    def native(inputs, labels):
        """Return tensors that share the memory of the arrays."""
        return torch.from_numpy(inputs), torch.from_numpy(labels)
