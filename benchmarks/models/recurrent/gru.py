"""One GRU of 32 units over 40 random binary vectors, which resets before the product as Keras 2 has it by default.

It has 10 908 parameters.
"""

TITLE = "GRU 32"
INPUT_SHAPE = (40, 60)
BINARY_INPUTS = True
CLASSES = 60
BATCH_SIZE = 32
SAMPLES = 1000
OPTIMIZER = {"name": "rmsprop", "learning_rate": 0.001}


def build(net):
    """Build a GRU over 40 steps of 60 features, and one dense layer on its last output."""
    return net.dense(net.gru(net.input(*INPUT_SHAPE), 32, reset_after=False), CLASSES)
