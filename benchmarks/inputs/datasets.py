"""The data that models are trained with, which is synthetic or real samples.

A dataset has `samples` in an epoch, a `batch_count`, `batches` that are drawn one by one, `arrays(batch_size, count)`
of all samples with the indices that make up the same batches, `held_out()` samples that are never trained with, as many
`seen(batch_size)` ones that are, and `facts()`.
"""

from benchmarks.errors import BadRequest, Unsupported
from benchmarks.inputs import digits, kinds, mounted
from benchmarks.inputs.pictures import Pictures
from benchmarks.inputs.sequences import Sequences
from benchmarks.inputs.synthetic import Synthetic
from benchmarks.vocabulary import losses


def named(name, model, seed, data=None, inputs=()):
    """Prepare a dataset for a model. Raises `Unsupported` for a name that this image does not know.

    `data` describes a dataset in a folder of the user's own, as a request does. `inputs` are those that the model
    recorded; without them it has one of floats.
    """
    rows = data.get("inputs") if data else None
    if name != "synthetic" and not rows and kinds.are_mixed(inputs):
        raise BadRequest("%s holds images; this model takes %s" % (name, kinds.described(inputs)))
    if name != "synthetic" and getattr(model, "LOSS", None) == losses.NEXT_TOKEN:
        raise BadRequest("%s has a class for each sample; this model predicts the next token" % name)
    if data is not None:
        split = mounted.load(data)
        if rows:
            dealt = Sequences(name, split, rows, inputs, seed)
        else:
            dealt = Pictures(name, split, model.INPUT_SHAPE, model.CLASSES, seed)
        dealt.stand_in = data.get("stand_in", False)
        return dealt
    if name == "synthetic":
        return Synthetic(model, seed, inputs)
    if name == "digits":
        return Pictures(name, digits.load(seed), model.INPUT_SHAPE, model.CLASSES, seed)
    remedy = "it has 'synthetic' and 'digits', and reads others from a folder (--data by hand)"
    raise Unsupported("the dataset '%s' is not in this image; %s" % (name, remedy))
