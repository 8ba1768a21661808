"""PyTorch's `DistributedDataParallel`, with one process for each device.

Gradients are averaged by NCCL between GPUs, and by Gloo between the processes that stand in for them on a CPU.
"""

import os

import torch
from torch import distributed


class TorchReplica:
    """The place of one process among those that train together."""

    def __init__(self, share, number, folder):
        # All of them are on this host, which may have no network.
        for library in ("GLOO", "NCCL"):
            os.environ.setdefault(library + "_SOCKET_IFNAME", "lo")
        self._backend = "nccl" if share.gpus else "gloo"
        self.device = torch.device("cuda:%d" % number if share.gpus else "cpu")
        self.threads = max(1, share.threads // share.devices) if share.threads else None
        if share.gpus:
            torch.cuda.init()  # which says what is wrong where there is no GPU, as `set_device` does not
            torch.cuda.set_device(self.device)
        meeting = "file://" + os.path.join(folder, "meeting")
        distributed.init_process_group(self._backend, init_method=meeting, rank=number, world_size=share.devices)

    def wrapped(self, network):
        """Return the network with its gradients averaged over all devices, and its weights those of the first one."""
        ids = [self.device.index] if self.device.type == "cuda" else None
        return torch.nn.parallel.DistributedDataParallel(network, device_ids=ids)

    @property
    def averaging(self):
        """Return how gradients are averaged."""
        return "mean, by DistributedDataParallel over %s" % self._backend
