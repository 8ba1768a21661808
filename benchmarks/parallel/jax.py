"""JAX's `shard_map` over a mesh of devices, within the one `jax.jit` of a step.

Each device computes loss and gradients of its part of a batch, and `pmean` averages them. So batch norm normalises each
part by itself, as other frameworks do it. Left to itself, `jax.jit` would compute as if there were one device.
"""

import jax
import numpy
from jax import numpy as jnp
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from benchmarks import parallel

AXIS = "devices"
AVERAGING = "mean, by pmean in shard_map"
RUNNING_VALUES = "mean over the devices"


class JaxReplicas:
    """The devices of a mesh, which share each batch and all have every weight."""

    def __init__(self, count):
        parallel.require_devices(len(jax.devices()), count)
        self._mesh = Mesh(numpy.array(jax.devices()[:count]), (AXIS,))

    def sharded(self, array):
        """Place an array with an equal part of its rows on each device."""
        return jax.device_put(array, NamedSharding(self._mesh, PartitionSpec(AXIS)))

    def replicated(self, arrays):
        """Place arrays as a whole on each device."""
        return jax.device_put(arrays, NamedSharding(self._mesh, PartitionSpec()))

    def averaged(self, graded):
        """Return a function of loss, variables and gradients whose results are the mean over all devices.

        Each device draws what it drops from a key of its own. The next step begins from the common keys again, with the
        counts that they come with.
        """

        def over_all(weights, variables, inputs, labels):
            own = [_folded(each) if _is_key(each) else each for each in variables]
            (loss, after), gradients = graded(weights, own, inputs, labels)
            loss, gradients = jax.lax.pmean((loss, gradients), AXIS)
            after = [_kept(before, each) for before, each in zip(variables, after)]
            return (loss, after), gradients

        return over_all

    def spread(self, train):
        """Return a training step that runs on every device with its part of the batch."""
        whole, part = PartitionSpec(), PartitionSpec(AXIS)
        # The averaging is written down, so that JAX must not add any by itself.
        return jax.shard_map(
            train, mesh=self._mesh, in_specs=(whole, whole, whole, part, part), out_specs=whole, check_vma=False
        )

    def names(self):
        """Return the name of each device, by arrays that they compute."""
        computed = self.sharded(jnp.zeros(self._mesh.size)) + 1
        return [str(shard.device) for shard in computed.addressable_shards]

    def peak_bytes(self):
        """Return the highest use of XLA's own allocator on any of the devices, or None if one does not tell."""
        peaks = [(device.memory_stats() or {}).get("peak_bytes_in_use") for device in self._mesh.devices.flat]
        return None if None in peaks else max(peaks)


def _is_key(value):
    return jnp.issubdtype(value.dtype, jax.dtypes.prng_key)


def _folded(key):
    return jax.random.fold_in(key, jax.lax.axis_index(AXIS))


def _kept(before, after):
    """Return the value of a variable after a step, which all devices must have alike."""
    if _is_key(before):
        return before
    return jax.lax.pmean(after, AXIS) if jnp.issubdtype(after.dtype, jnp.floating) else after
