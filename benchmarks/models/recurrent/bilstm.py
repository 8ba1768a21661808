"""Two bidirectional LSTMs that tell good reviews of films from bad ones, as Keras' example for IMDB has them.

It has 2 757 890 parameters, for a vocabulary of 20 000 words and reviews of 200. Keras' example ends in one sigmoid and
has 129 parameters fewer.
"""

TITLE = "Bidirectional LSTM"
INPUT_SHAPE = (200,)
VOCABULARY = 20000
CLASSES = 2
BATCH_SIZE = 32
SAMPLES = 25000
OPTIMIZER = {"name": "adam", "learning_rate": 0.001}
QUICK = {"batch_size": 8, "repeats": 1}


def build(net):
    """Read the words both ways, then what both ways make of each word, and decide by the last outputs."""
    words = net.input(*INPUT_SHAPE, name="words", kind="integer", vocabulary=VOCABULARY)
    x = net.lstm(net.embedding(words, 128), 64, sequences=True, bidirectional=True)
    return net.dense(net.lstm(x, 64, bidirectional=True), CLASSES)
