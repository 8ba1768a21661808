"""The steps of TensorFlow: its losses, optimizers, and what a step of training or of inference does."""

import tensorflow as tf


def training_step(network, workload, compiled, replicas):
    """Return the step's `tf.function` (None if eager), and the step."""
    squares = workload.loss == "mean_squared_error"
    loss_of = _loss(squares, replicas)
    optimizer = _optimizer(workload.optimizer)
    variables = network.trainable_variables
    if replicas and hasattr(optimizer, "build"):  # its variables cannot be made inside a step of several devices
        optimizer.build(variables)
    # The gradient of an embedding has an entry for each time that a row is looked up. Keras 3 squares the entries and
    # not their sum, for Adam and RMSprop, and SGD adds them to the row one by one and rounds each time.
    summed = any(layer.kind == "embedding" for layer in workload.layers)

    def train(inputs, labels):
        with tf.GradientTape() as tape:
            loss = loss_of(labels, tf.cast(network(inputs, training=True), tf.float32))
            if network.losses:  # the L2 terms of its layers
                loss += tf.cast(tf.add_n(network.losses), tf.float32)
            share = loss / replicas.count if replicas else loss
        gradients = tape.gradient(share, variables)
        if summed:
            gradients = [tf.convert_to_tensor(gradient) for gradient in gradients]
        optimizer.apply_gradients(zip(gradients, variables))
        return loss

    run = replicas.spread(train) if replicas else train
    function = compiled(run) if compiled else None
    run = function or run

    def step(batch):
        return run(*batch)

    return function, step


def _loss(squares, replicas):
    """Return the mean loss of a batch. By default Keras divides it by the number of devices, or says that it cannot."""
    reduction = {"reduction": "none"} if replicas else {}
    if squares:
        each = tf.keras.losses.MeanSquaredError(**reduction)
    else:
        each = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True, **reduction)
    return (lambda labels, outputs: tf.reduce_mean(each(labels, outputs))) if replicas else each


def inference_step(network, compiled):
    """Return the step's `tf.function` (None if eager), and the step."""

    def infer(inputs):
        return tf.cast(network(inputs, training=False), tf.float32)

    function = compiled(infer) if compiled else None
    infer = function or infer

    def step(batch):
        return infer(batch[0])

    return function, step


def _optimizer(settings):
    rate = settings["learning_rate"]
    if settings.get("decay"):
        rate = tf.keras.optimizers.schedules.InverseTimeDecay(rate, 1, settings["decay"])
    if settings["name"] == "adadelta":
        return tf.keras.optimizers.Adadelta(rate, rho=settings["rho"], epsilon=settings["epsilon"])
    if settings["name"] == "adam":
        betas = {"beta_1": settings["beta_1"], "beta_2": settings["beta_2"]}
        return tf.keras.optimizers.Adam(rate, epsilon=settings["epsilon"], **betas)
    if settings["name"] == "rmsprop":
        return tf.keras.optimizers.RMSprop(rate, rho=settings["rho"], epsilon=settings["epsilon"] ** 2)
    return tf.keras.optimizers.SGD(rate, momentum=settings["momentum"])
