"""The losses that models may name, and the L2 terms of their weights.

- `softmax_cross_entropy`: the mean over the batch of the softmax cross-entropy of the logits. A model that names no
  loss has this one.
- `mean_squared_error`: the mean over the batch and all outputs of (output - target)². The target is 1 for the output of
  the sample's class and 0 for the others. A model of one output has two classes, whose targets are 0 and 1.
- `next_token`: the mean over the batch and all steps of the softmax cross-entropy of the logits of each step, with the
  token that follows the step.

An L2 term is added to each of them. The loss that a training step reports holds the terms, and `facts.loss` of its
result says so. Losses of an evaluation are without them.
"""

NAMES = ("mean_squared_error", "next_token", "softmax_cross_entropy")
SOFTMAX_CROSS_ENTROPY = "softmax_cross_entropy"
NEXT_TOKEN = "next_token"


def known(name):
    """Return the name of a loss. Raises `ValueError` for what the vocabulary lacks."""
    if name not in NAMES:
        raise ValueError("no loss %r; there are %s" % (name, ", ".join(NAMES)))
    return name


def refuse_outputs(loss, inputs, outputs):
    """Raise `ValueError` if a model of these inputs cannot yield logits of the shape `outputs` to a loss."""
    if loss != NEXT_TOKEN:
        if len(outputs) != 1:
            raise ValueError("%s takes flat outputs, not the shape %s" % (loss, outputs))
    elif len(inputs) != 1 or inputs[0].kind != "integer" or outputs != inputs[0].shape + (inputs[0].vocabulary,):
        message = "next_token takes one input of whole numbers, and logits of (time, vocabulary), not the shape %s"
        raise ValueError(message % (outputs,))


def classes(loss, outputs):
    """Return the number of classes that labels tell apart, for so many outputs."""
    return 2 if outputs == 1 and loss == "mean_squared_error" else outputs


def targets(loss, labels, outputs):
    """Return labels as a loss takes them, which are class numbers, or float32 targets of every output."""
    if loss in (SOFTMAX_CROSS_ENTROPY, NEXT_TOKEN):
        return labels
    import numpy

    if outputs == 1:
        return labels.astype(numpy.float32)[:, None]
    return numpy.eye(outputs, dtype=numpy.float32)[labels]


def scores(loss, outputs, labels):
    """Return the sum of the losses of float64 outputs, and the number of samples, or steps, whose class they name."""
    import numpy

    if loss == NEXT_TOKEN:
        outputs, labels = outputs.reshape(-1, outputs.shape[-1]), labels.ravel()
    if loss in (SOFTMAX_CROSS_ENTROPY, NEXT_TOKEN):
        shifted = outputs - outputs.max(axis=1, keepdims=True)
        losses = numpy.log(numpy.exp(shifted).sum(axis=1)) - shifted[numpy.arange(len(labels)), labels]
    else:
        losses = ((outputs - targets(loss, labels, outputs.shape[1])) ** 2).mean(axis=1)
    named = (outputs[:, 0] > 0.5).astype(int) if outputs.shape[1] == 1 else outputs.argmax(axis=1)
    return float(losses.sum()), int((named == labels).sum())


def l2_terms(layers):
    """Return the name of each weight that has an L2 term, with the term's factor."""
    return [(layer.parameters[0].name, layer.settings["l2"]) for layer in layers if layer.settings.get("l2")]


def fact(loss, layers):
    """Return the loss that a step reports in words, or None for the cross-entropy alone, as results always had it."""
    terms = l2_terms(layers)
    if loss == SOFTMAX_CROSS_ENTROPY and not terms:
        return None
    return loss + (" + L2 terms of %d weights" % len(terms) if terms else "")
