"""The tokens that a generator chooses after the fixed prompts, and how far each leads the other tokens."""

STEPS = 64
"""The most tokens of a prompt that are compared, as each of them is a number of the answer."""


def answer(session, lengths):
    """Return the logits after the prompts, and the tokens with their leads, each as a list of those of a prompt.

    The lead of a token is by how much its logit exceeds that of any other token, as a share of the root mean square of
    the logits. It is below 0 for a token that is not the most likely one.
    """
    import numpy

    steps = min(lengths.output, STEPS)
    handle = session.prefill(session.batches[0])
    first = logits = numpy.asarray(session.logits(handle), numpy.float64)
    tokens = [numpy.asarray(session.tokens(handle))]
    leads = [_leads(numpy, logits, tokens[0])]
    for _ in range(steps - 1):
        handle = session.decode(handle)
        tokens.append(numpy.asarray(session.tokens(handle)))
        logits = numpy.asarray(session.logits(handle), numpy.float64)
        leads.append(_leads(numpy, logits, tokens[-1]))
    each = {"tokens": numpy.stack(tokens, axis=1).tolist()}
    each["leads"] = [[float("%.3g" % lead) for lead in row] for row in numpy.stack(leads, axis=1)]
    return first, dict(each, prompt=lengths.prompt, output=lengths.output)


def _leads(numpy, logits, chosen):
    rows = numpy.arange(len(chosen))
    others = logits.copy()
    others[rows, chosen] = -numpy.inf
    scale = numpy.sqrt(numpy.square(logits).mean(axis=1))
    lead = logits[rows, chosen] - others.max(axis=1)
    return numpy.divide(lead, scale, out=numpy.zeros_like(lead), where=scale > 0)
