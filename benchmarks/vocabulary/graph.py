"""How a recorded graph is walked: where the values of a forward pass are kept."""


def places(layers):
    """Give every value a place: for each layer the places it takes its values from, and the one it yields into.

    The model's inputs are in the first places and its logits end up where the last layer yields. A place is used again
    once its value has been taken for the last time, so that a walk keeps nothing alive for longer than the model needs.
    Return the list of (tuple of places taken, place yielded into), and how many places there are.
    """
    last = {position: number for number, layer in enumerate(layers) for position in layer.inputs}
    inputs = sorted({0}.union(position for position in last if position < 0), reverse=True)
    place = {position: number for number, position in enumerate(inputs)}
    free, count, walk = [], len(inputs), []
    for number, layer in enumerate(layers):
        taken = tuple(place[position] for position in layer.inputs)
        free += [place[position] for position in sorted(set(layer.inputs)) if last[position] == number]
        if not free:
            free, count = [count], count + 1
        place[number + 1] = free.pop()
        walk.append((taken, place[number + 1]))
    return walk, count


def is_stack(layers):
    """Whether every layer takes only what the layer before it yields, so that nothing needs to be kept."""
    return all(layer.inputs == (number,) for number, layer in enumerate(layers))
