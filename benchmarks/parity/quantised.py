"""Answers of a quantised session, next to the same session without quantisation.

Whether two models choose the same class means something only of a model that tells classes apart. The drawn weights do
not, and what infers alone cannot train. So the last dense layer is solved in closed form for labelled samples: digits
where the model takes them, else the workload's own data. The layers before it keep their drawn weights; a last layer
that yields its inputs reads what they make of the samples. Then both sessions choose the classes of other samples.
"""

from benchmarks import process, quantisation
from benchmarks.errors import BadRequest
from benchmarks.workload import prepared

SOLVED_WITH = 1024
FEWEST = 64
"""The most samples that the layer is solved with, and the fewest of them and of those that are answered."""
MULTIPLY_ADDS = 2e11
"""The number of them that the samples of one session may take, before samples are left out."""
FEATURES = 64
"""The most inputs of the last layer that are used."""
NOISE = 0.02
"""Noise of each feature that the solution expects, as a share of their size. Without it rounding would be enlarged."""


def answer(request, enter, started):
    """Return the choices of both sessions, and the logits of the fixed batch without quantisation.

    `started(request)` starts a session of inference, with other weights if they are given.
    """
    plain = request._replace(options=dict(request.options, **{quantisation.OPTION: quantisation.NONE}))
    session, _ = started(plain)
    enter("latency")
    logits = session.fetch(session.step(session.batches[0]))
    labelled, dataset = _labelled(request, enter)
    without = labelled._replace(options=plain.options)
    _, workload = started(without)
    size = _samples(workload)
    weights = _solved(started, without, workload, min(SOLVED_WITH, size))
    inputs, labels = _held_out(workload, size)
    chosen = [_chosen(started(each, weights)[0], inputs, workload.batch_size) for each in (labelled, without)]
    return logits, {
        "kind": quantisation.asked(request.options),
        "dataset": dataset,
        "chosen": [int(each) for each in chosen[0]],
        "unquantised": [int(each) for each in chosen[1]],
        "right": [int((each == labels).sum()) for each in chosen],
    }


def _labelled(request, enter):
    """Return a request for digits with the name of the dataset, or the request itself if the model takes no digits."""
    builder, _ = process.import_builder(request.builder, enter)
    digits = request._replace(dataset="digits", data=None, mode="infer")
    try:
        prepared(digits)(builder.OPTIONS)
    except BadRequest:
        return request, request.dataset
    return digits, "digits"


def _samples(workload):
    affordable = int(MULTIPLY_ADDS / max(1, workload.counts()["multiply_adds"]))
    return max(FEWEST, affordable)


def _held_out(workload, size):
    from benchmarks.inputs import kinds

    inputs, labels = workload.data.held_out()
    size = min(size, len(labels))
    return kinds.joined([inputs], size), labels[:size]


def _chosen(session, inputs, batch_size):
    """Return the class with the largest logit for each sample."""
    return _logits(session, inputs, batch_size).argmax(axis=1)


def _logits(session, inputs, batch_size):
    """Return the logits of samples in batches of one size, as an engine compiles each size anew."""
    import numpy

    from benchmarks.native import alike, parts

    count = len(parts(inputs)[0])
    found = []
    for first in range(0, count, batch_size):
        places = numpy.arange(first, first + batch_size) % count
        found.append(numpy.asarray(session.predict(alike(inputs, lambda each, at=places: each[at])), numpy.float64))
    return numpy.concatenate(found)[:count]


def _solved(started, request, workload, samples):
    """Return the drawn weights, with those of a last dense layer replaced by a least-squares solution for labels."""
    import numpy

    drawn = workload.weights()
    if workload.layers[-1].kind != "dense":
        return drawn
    weight, bias = [parameter.name for parameter in workload.layers[-1].parameters]
    size = min(workload.batch_size, samples)
    batches = list(workload.data.batches(size, max(1, min(samples, workload.data.samples) // size)))
    read = []
    for shown in _shown(*drawn[weight].shape):
        head = {weight: shown, bias: numpy.zeros_like(drawn[bias])}
        session, _ = started(request, dict(drawn, **head))
        some = numpy.concatenate([_logits(session, inputs, workload.batch_size) for inputs, _ in batches])
        read.append(some[:, : int(shown.sum())])
    given, labels = numpy.concatenate(read, axis=1), numpy.concatenate([some for _, some in batches])
    turned, shift = _least_squares(given, labels[:, None] == numpy.arange(drawn[weight].shape[1]))
    solved = numpy.zeros_like(drawn[weight])
    solved[_used(len(solved))] = turned
    return dict(drawn, **{weight: solved, bias: shift.astype(numpy.float32)})


def _used(features):
    """Return the places of the inputs of the last layer that are used, spread over all of them."""
    import numpy

    return numpy.linspace(0, features - 1, min(features, FEATURES)).astype(int)


def _shown(features, classes):
    """Yield weights of a last layer that yields features as its logits, so many at a time as it has classes."""
    import numpy

    used = _used(features)
    for first in range(0, len(used), classes):
        shown = numpy.zeros((features, classes), numpy.float32)
        for number, place in enumerate(used[first : first + classes]):
            shown[place, number] = 1.0
        yield shown


def _least_squares(given, wanted):
    """Return the weights and the bias of what is wanted of given features, for features as noisy as quantisation."""
    import numpy

    mean, middle = given.mean(axis=0), wanted.mean(axis=0)
    centred = given - mean
    noise = NOISE**2 * numpy.square(given).sum() / given.shape[1]
    squares = centred.T.dot(centred) + noise * numpy.eye(given.shape[1])
    turned = numpy.linalg.solve(squares, centred.T.dot(wanted - middle))
    return turned, middle - mean.dot(turned)
