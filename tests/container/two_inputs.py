"""Two inputs of whole numbers, joined as in a model that answers questions; momentum at a rate that decays."""

INPUT_SHAPE = (9,)
CLASSES = 5
BATCH_SIZE = 32
SAMPLES = 1024
TITLE = "Two inputs"
OPTIMIZER = {"name": "sgd", "learning_rate": 0.01, "momentum": 0.9, "decay": 0.1}


def build(net):  # type: ignore[no-untyped-def]  # as in benchmarks/models, which Python 3.6 reads
    """A story and a question, each of its own length."""
    story = net.embedding(net.input(*INPUT_SHAPE, name="story", kind="integer", vocabulary=11), 6)
    asked = net.embedding(net.input(4, name="question", kind="integer", vocabulary=11), 6)
    asked = net.lstm(net.dropout(asked, 0.3), 6)
    x = net.tanh(net.time_distributed(story, "dense", 7))
    x = net.add(net.lstm(x, 6), net.sigmoid(asked))
    return net.dense(net.softmax(net.dense(x, 8)), CLASSES)
