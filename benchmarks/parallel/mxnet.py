"""Gluon over several contexts, as its own examples have it: a part of the batch for each, and one Trainer."""

import mxnet as mx
from mxnet import autograd

from benchmarks.native.mxnet import computed_on

AVERAGING = "mean, by Gluon's Trainer over the contexts"
RUNNING_VALUES = "of the first device"


class GluonReplicas:
    """The contexts that share each batch and all have every weight."""

    def __init__(self, gpus, count):
        self.contexts = [mx.gpu(number) if gpus else mx.cpu(number) for number in range(count)]

    def training_step(self, forward, loss_of, trainer, batch_size):
        """Return a step whose gradients are summed over all contexts and divided by the batch of all."""
        contexts = self.contexts

        def step(parts):
            losses = []
            with autograd.record():
                for context, (inputs, labels) in zip(contexts, parts):
                    with context:
                        losses.append(loss_of(forward(inputs), labels))
            autograd.backward(losses)
            trainer.step(batch_size)
            return losses

        return step

    @staticmethod
    def loss(handle):
        """Return the mean over the batch, of which each context has the losses of its samples."""
        means = [float(each.asnumpy().astype("float64").mean()) for each in handle]
        return sum(means) / len(means)

    def names(self):
        """Return the name of each context, by an array that it computes."""
        return [computed_on(context) for context in self.contexts]
