"""Two LSTMs that answer a question about a story, as Keras' example for the second task of bAbI has them.

It has 45 836 parameters, for a vocabulary of 36 words, stories of 552 and questions of 5.
"""

TITLE = "bAbI RNN"
INPUT_SHAPE = (552,)
QUESTION = 5
CLASSES = 36
BATCH_SIZE = 32
SAMPLES = 1000
OPTIMIZER = {"name": "adam", "learning_rate": 0.001}
QUICK = {"batch_size": 8, "repeats": 1}


def build(net):
    """Add what an LSTM makes of the question to every word of the story, and read both with another LSTM."""
    story = net.input(*INPUT_SHAPE, name="story", kind="integer", vocabulary=CLASSES)
    question = net.input(QUESTION, name="question", kind="integer", vocabulary=CLASSES)
    story = net.dropout(net.embedding(story, 50), 0.3)
    question = net.dropout(net.embedding(question, 50), 0.3)
    asked = net.repeat(net.lstm(question, 50), INPUT_SHAPE[0])
    return net.dense(net.dropout(net.lstm(net.add(story, asked), 50), 0.3), CLASSES)
