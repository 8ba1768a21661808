"""The steps of PyTorch: its losses, optimizers, and what a step of training or of inference does."""

import torch


def make_loss(name, terms):
    """Return the loss of outputs and labels, with the L2 terms of weights if there are any."""
    loss_of = torch.nn.MSELoss() if name == "mean_squared_error" else torch.nn.CrossEntropyLoss()
    if name == "next_token":
        loss_of = _of_steps(loss_of)
    if not terms:
        return loss_of

    def with_terms(outputs, labels):
        return loss_of(outputs, labels) + sum(factor * weight.pow(2).sum() for factor, weight in terms)

    return with_terms


def _of_steps(loss_of):
    """Return the loss of logits (batch, time, tokens), each step of which is a sample to the loss of flat ones."""
    return lambda outputs, labels: loss_of(outputs.flatten(0, 1), labels.flatten())


def make_schedule(optimizer, settings):
    """Return what changes the learning rate after each step, or None for a rate that stays."""
    decay = settings.get("decay")
    return torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1.0 / (1.0 + decay * step)) if decay else None


def training_step(forward, loss_of, optimizer, schedule):
    """Return a step of training, after which the learning rate changes if `schedule` is there."""

    def step(batch):
        inputs, labels = batch
        optimizer.zero_grad()
        loss = loss_of(forward(inputs), labels)
        loss.backward()
        optimizer.step()
        return loss

    def decaying(batch):
        loss = step(batch)
        schedule.step()
        return loss

    return decaying if schedule else step


def without_gradients():
    """Return the context in which nothing is kept for gradients."""
    # `inference_mode` came with PyTorch 1.9; `no_grad` saves less bookkeeping.
    return getattr(torch, "inference_mode", torch.no_grad)()


def inference_step(forward):
    """Return a step of inference."""

    @without_gradients()
    def step(batch):
        return forward(batch[0])

    return step


def make_optimizer(parameters, settings):
    """Return the optimizer of a model by PyTorch's own class, in its fused form where there is one."""
    rate = settings["learning_rate"]
    if settings["name"] == "adam":
        betas = (settings["beta_1"], settings["beta_2"])
        return _fused(torch.optim.Adam, parameters, lr=rate, betas=betas, eps=settings["epsilon"])
    if settings["name"] == "rmsprop":
        # PyTorch adds epsilon outside the root: `optimizers` says why it stands here unsquared.
        return torch.optim.RMSprop(parameters, lr=rate, alpha=settings["rho"], eps=settings["epsilon"])
    if settings["name"] == "adadelta":
        return torch.optim.Adadelta(parameters, lr=rate, rho=settings["rho"], eps=settings["epsilon"])
    if _loses_updates(parameters):
        return torch.optim.SGD(parameters, lr=rate, momentum=settings["momentum"])
    return _fused(torch.optim.SGD, parameters, lr=rate, momentum=settings["momentum"])


def _loses_updates(parameters):
    """Return whether fused SGD leaves these weights as they are.

    It does so with whole vectors of bfloat16 on a CPU (seen with 2.13).
    """
    return any(weight.dtype == torch.bfloat16 and not weight.is_cuda for weight in parameters)


def _fused(kind, parameters, **settings):
    """Make the optimizer in its fused form, which PyTorch has for CPUs since 2.4, or else in its default form."""
    try:
        return kind(parameters, fused=True, **settings)
    except (TypeError, RuntimeError):
        return kind(parameters, **settings)


def optimizer_form(optimizer):
    """Return the name of the implementation that an optimizer runs, or None in inference."""
    if optimizer is None:
        return None
    if optimizer.defaults.get("fused"):
        return "fused"
    # Left to itself, PyTorch takes the foreach form for weights on a GPU only.
    on_gpu = optimizer.param_groups[0]["params"][0].is_cuda
    return "foreach" if on_gpu and "foreach" in optimizer.defaults else "for-loop"
