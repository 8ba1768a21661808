"""Loss and accuracy of the current weights, computed in NumPy from a session's logits alone."""

from benchmarks.errors import Diverged, Failure
from benchmarks.vocabulary import losses


def evaluator(session, data, batch_size, classes, loss=losses.SOFTMAX_CROSS_ENTROPY):  # noqa: PLR0913, PLR0917 - all of them
    """Return a function that evaluates a session's current weights.

    It returns None if there are no logits. Else it returns `train_loss`, of as many training samples as are held out,
    `test_loss` and `test_accuracy`, all in evaluation mode. The samples are drawn at the first call.
    """
    predict = getattr(session, "predict", lambda _inputs: None)
    sets = []

    def evaluate():
        if not sets:
            sets.extend((data.seen(batch_size), data.held_out()))
        seen, held_out = (scores(predict, samples, batch_size, classes, loss) for samples in sets)
        if seen is None or held_out is None:
            return None
        return {"train_loss": seen[0], "test_loss": held_out[0], "test_accuracy": held_out[1]}

    return evaluate


def scores(predict, samples, batch_size, classes, loss=losses.SOFTMAX_CROSS_ENTROPY):
    """Return mean loss (without L2 terms) and accuracy of `predict` over (inputs, labels), or None without logits.

    Every call gets a full batch, the last one filled up from the beginning. A batch of another size would make
    frameworks plan anew, and the training that goes on would pay for it.
    """
    import numpy

    inputs, labels = samples
    total, right = 0.0, 0
    for begin in range(0, len(labels), batch_size):
        chosen = numpy.arange(begin, begin + batch_size) % len(labels)
        several = isinstance(inputs, tuple)
        predicted = predict(tuple(each[chosen] for each in inputs) if several else inputs[chosen])
        if predicted is None:
            return None
        logits = numpy.asarray(predicted, numpy.float64)
        # A model that predicts the next token has labels of each step.
        expected = (batch_size,) + labels.shape[1:] + (classes,)
        if logits.shape != expected:
            raise Failure("the predicted logits have the shape %s, not %s" % (logits.shape, expected))
        if not numpy.isfinite(logits).all():
            raise Diverged("the predicted logits are not all finite: what diverged is no measurement")
        count = min(batch_size, len(labels) - begin)
        added, named = losses.scores(loss, logits[:count], labels[begin : begin + count])
        total, right = total + added, right + named
    return total / labels.size, right / labels.size
