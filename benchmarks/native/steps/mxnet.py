"""The steps of MXNet: its losses and optimizers, and what a step of inference does."""

import mxnet as mx

from benchmarks.errors import Unsupported


def inference_step(forward):
    """Return a step of inference."""

    def step(batch):
        return forward(batch[0])

    return step


def with_terms(loss_of, terms):
    """Add L2 terms to the loss of each sample, whose mean then holds them once."""

    def losses(outputs, labels):
        squares = [factor * mx.nd.sum(mx.nd.square(weight.data())) for factor, weight in terms]
        return mx.nd.broadcast_add(loss_of(outputs, labels), mx.nd.add_n(*squares))

    return losses


def in_float32(network):
    """Return the network with its logits converted to float32, as a loss takes them in every precision."""
    return lambda inputs: network(inputs).astype("float32")


def optimizer(settings):
    """Return the name and the settings of MXNet's own optimizer.

    Raises `Unsupported` for an Adadelta with a learning rate.
    """
    rate = {"learning_rate": settings["learning_rate"]}
    if settings.get("decay"):
        rate["lr_scheduler"] = _Decay(settings["learning_rate"], settings["decay"])
    if settings["name"] == "adadelta":
        if settings["learning_rate"] != 1 or settings.get("decay"):
            raise Unsupported("MXNet's Adadelta has no learning rate; a model with one of 1 and no decay runs")
        return "adadelta", {"rho": settings["rho"], "epsilon": settings["epsilon"]}
    if settings["name"] == "adam":
        betas = {"beta1": settings["beta_1"], "beta2": settings["beta_2"]}
        return "adam", dict(rate, epsilon=settings["epsilon"], **betas)
    if settings["name"] == "rmsprop":
        return "rmsprop", dict(rate, gamma1=settings["rho"], epsilon=settings["epsilon"] ** 2)
    return "sgd", dict(rate, momentum=settings["momentum"])


class _Decay(mx.lr_scheduler.LRScheduler):
    """Keras' rule, by the number of steps before this one. MXNet counts this one too."""

    def __init__(self, rate, decay):
        super().__init__(base_lr=rate)
        self._decay = decay

    def __call__(self, num_update):
        return self.base_lr / (1.0 + self._decay * (num_update - 1))
