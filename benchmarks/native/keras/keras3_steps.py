"""Training steps of Keras 3, made as `fit` makes them.

`train_on_batch` resets the metrics at every step, and on JAX it also puts the whole state back into the variables.
`fit` does both once an epoch. LeNet with 200 samples on one CPU loses 5 % on TensorFlow and 11 % on JAX that way.
So the steps between two synchronisations are an epoch here.
"""

from collections import namedtuple

Step = namedtuple("Step", "number logs before")
Step.__doc__ = """The logs of a step, whose loss is the mean over its epoch so far, and those of the step before it."""


class Steps:
    """The steps of a compiled network whose state is in its variables, as on TensorFlow and PyTorch."""

    def __init__(self, network):
        self._network = network
        self._number = 0
        self._logs = None

    def __call__(self, batch):
        """Train on a batch and return a `Step`, for which nothing has waited."""
        if self._network.train_function is None:
            # It makes the function, the optimizer's variables and the metrics.
            return Step(1, self._network.train_on_batch(*batch, return_dict=True), None)
        if self._number == 0:
            self._begin()
        before = self._logs
        self._logs = self._train(batch + (None,))
        self._number += 1
        return Step(self._number, self._logs, before)

    def end(self):
        """End an epoch. The next step begins another one."""
        self._number, self._logs = 0, None

    def _begin(self):
        self._network.reset_metrics()

    def _train(self, data):
        """Train on inputs, labels and weights of samples, and return the logs."""
        return self._network.train_function([data])


class StatelessSteps(Steps):
    """The steps of a network on JAX, whose state goes from step to step and is in the variables between epochs."""

    def __init__(self, network):
        super().__init__(network)
        self._state = None

    def _begin(self):
        super()._begin()
        self._state = tuple([variable.value for variable in variables] for variables in self._variables())

    def _train(self, data):
        logs, self._state = self._network.train_function(self._state, iter([data]))
        return logs

    def end(self):
        """End an epoch, with its state in the variables."""
        super().end()
        if self._state is not None:
            for variables, values in zip(self._variables(), self._state):
                for variable, value in zip(variables, values):
                    variable.assign(value)
            self._state = None

    def _variables(self):
        network = self._network
        return (
            network.trainable_variables,
            network.non_trainable_variables,
            network.optimizer.variables,
            network.metrics_variables,
        )


def of(network, backend):
    """Return what trains a compiled network."""
    return StatelessSteps(network) if backend == "jax" else Steps(network)


def loss(step):
    """Return the mean over the batch of a step."""
    mean = float(step.logs["loss"])
    return mean if step.before is None else step.number * mean - (step.number - 1) * float(step.before["loss"])
