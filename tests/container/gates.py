"""GRUs, repeated and joined sequences, over two inputs of whole numbers."""

INPUT_SHAPE = (9,)
CLASSES = 5
BATCH_SIZE = 32
SAMPLES = 1024
TITLE = "Gates"
OPTIMIZER = {"name": "sgd", "learning_rate": 0.01}


def build(net):  # type: ignore[no-untyped-def]  # as in benchmarks/models, which Python 3.6 reads
    """A story and a question, each of its own length."""
    story = net.embedding(net.input(*INPUT_SHAPE, name="story", kind="integer", vocabulary=11), 6)
    asked = net.embedding(net.input(4, name="question", kind="integer", vocabulary=11), 6)
    asked = net.gru(net.dropout(asked, 0.3), 6)
    x = net.add(story, net.repeat(asked, 9))
    x = net.tanh(net.time_distributed(net.concatenate(x, net.gru(x, 3, sequences=True)), "dense", 7))
    x = net.concatenate(net.lstm(x, 5), net.sigmoid(asked))
    return net.dense(net.softmax(net.dense(x, 8)), CLASSES)
