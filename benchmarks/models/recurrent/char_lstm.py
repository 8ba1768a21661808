"""A character model of one LSTM, which is told 40 characters and predicts the next one.

It has 102 585 parameters with the 57 characters of Keras' example.
"""

TITLE = "Character LSTM"
INPUT_SHAPE = (40, 57)
BINARY_INPUTS = True
CLASSES = 57
BATCH_SIZE = 128
SAMPLES = 200285
OPTIMIZER = {"name": "rmsprop", "learning_rate": 0.01}


def build(net):
    """Build an LSTM of 128 units over one-hot characters, and one dense layer on its last output."""
    return net.dense(net.lstm(net.input(*INPUT_SHAPE), 128), CLASSES)
