"""Loss and accuracy of the current weights, computed in NumPy from a session's logits alone."""

from benchmarks.errors import Diverged, Failure


def evaluator(session, data, batch_size, classes):
    """Return a function that evaluates a session's current weights.

    It returns None if there are no logits. Else it returns `train_loss`, of as many training samples as are held out,
    `test_loss` and `test_accuracy`, all in evaluation mode. The samples are drawn at the first call.
    """
    predict = getattr(session, "predict", lambda _inputs: None)
    sets = []

    def evaluate():
        if not sets:
            sets.extend((data.seen(batch_size), data.held_out()))
        seen, held_out = (scores(predict, samples, batch_size, classes) for samples in sets)
        if seen is None or held_out is None:
            return None
        return {"train_loss": seen[0], "test_loss": held_out[0], "test_accuracy": held_out[1]}

    return evaluate


def scores(predict, samples, batch_size, classes):
    """Return mean softmax cross-entropy and accuracy of `predict` over (inputs, labels), or None without logits.

    Every call gets a full batch, the last one filled up from the beginning. A batch of another size would make
    frameworks plan anew, and the training that goes on would pay for it.
    """
    import numpy

    inputs, labels = samples
    loss, right = 0.0, 0
    for begin in range(0, len(labels), batch_size):
        chosen = numpy.arange(begin, begin + batch_size) % len(labels)
        predicted = predict(inputs[chosen])
        if predicted is None:
            return None
        logits = numpy.asarray(predicted, numpy.float64)
        if logits.shape != (batch_size, classes):
            raise Failure("the predicted logits have the shape %s, not %s" % (logits.shape, (batch_size, classes)))
        if not numpy.isfinite(logits).all():
            raise Diverged("the predicted logits are not all finite: what diverged is no measurement")
        count = min(batch_size, len(labels) - begin)
        shifted = logits[:count] - logits[:count].max(axis=1, keepdims=True)
        expected = labels[begin : begin + count]
        loss += float((numpy.log(numpy.exp(shifted).sum(axis=1)) - shifted[numpy.arange(count), expected]).sum())
        right += int((logits[:count].argmax(axis=1) == expected).sum())
    return loss / len(labels), right / len(labels)
