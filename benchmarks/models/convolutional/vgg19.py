"""VGG-19 with batch norm for images of 32 x 32 pixels (Simonyan and Zisserman 2015).

It has 20 040 522 parameters.
"""

TITLE = "VGG-19-BN"
INPUT_SHAPE = (3, 32, 32)
CLASSES = 10
BATCH_SIZE = 128
SAMPLES = 50000
OPTIMIZER = {"name": "adam", "learning_rate": 0.001}
# At 0.01 three plain steps take the loss from 2.9 to 0.2, and rounding of 1e-6 with it to 9 %.
PARITY_LEARNING_RATE = 0.0001
QUICK = {"batch_size": 32, "repeats": 1}


def build(net):
    """Build sixteen convolutions of size 3 in five stages, each stage ending in a pool, then one dense layer."""
    x = net.input(*INPUT_SHAPE)
    for filters, convolutions in ((64, 2), (128, 2), (256, 4), (512, 4), (512, 4)):
        for _ in range(convolutions):
            x = net.relu(net.batch_norm(net.conv2d(x, filters, 3, padding="same")))
        x = net.max_pool(x, 2)
    return net.dense(net.flatten(x), CLASSES)
