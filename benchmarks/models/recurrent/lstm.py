"""One LSTM of 128 units over 40 random binary vectors, as a character model would see them.

It has 104 508 parameters.
"""

TITLE = "LSTM 128"
INPUT_SHAPE = (40, 60)
BINARY_INPUTS = True
CLASSES = 60
BATCH_SIZE = 32
SAMPLES = 50000
OPTIMIZER = {"name": "rmsprop", "learning_rate": 0.01}


def build(net):
    """Build an LSTM over 40 steps of 60 features, and one dense layer on its last output."""
    return net.dense(net.lstm(net.input(*INPUT_SHAPE), 128), CLASSES)
