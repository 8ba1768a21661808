"""VGG16 for images of 224 x 224 pixels (Simonyan and Zisserman 2015), with 138 357 544 parameters."""

TITLE = "VGG16"
INPUT_SHAPE = (3, 224, 224)
CLASSES = 1000
BATCH_SIZE = 8
SAMPLES = 1000
OPTIMIZER = {"name": "rmsprop", "learning_rate": 0.001}
BLOCKS = 5
LATENCY_STEPS = 10
PARITY_BATCH = 2
PARITY_LEARNING_RATE = 0.001
QUICK = {"batch_size": 2, "repeats": 1}


def build(net):
    """Build thirteen convolutions of size 3 in five stages, each stage ending in a pool, then three dense layers."""
    x = net.input(*INPUT_SHAPE)
    for filters, convolutions in ((64, 2), (128, 2), (256, 3), (512, 3), (512, 3)):
        for _ in range(convolutions):
            x = net.relu(net.conv2d(x, filters, 3, padding="same"))
        x = net.max_pool(x, 2)
    x = net.flatten(x)
    for units in (4096, 4096):
        x = net.relu(net.dense(x, units))
    return net.dense(x, CLASSES)
