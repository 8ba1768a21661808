"""The walk of a recorded graph, with a place for each value of a forward pass."""


def places(layers):
    """Return the places that each layer takes from and yields into, and the number of places.

    An entry is (tuple of places taken, place yielded into). The model's inputs are in the first places, and its logits
    end up where the last layer yields. A place is used again once its value has been taken for the last time, so that a
    walk stores nothing for longer than the model needs.
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


def straight(layers, calls):
    """Return one function of a model's one input, which makes the call of each layer in its turn.

    Its text is written out, as a loop over the layers takes more than 1 % of the time of a small decoder's step.
    """
    walk, _ = places(layers)
    lines = ["def forward(v0):"]
    for number, (taken, into) in enumerate(walk):
        lines.append("    v%d = call%d(%s)" % (into, number, ", ".join("v%d" % place for place in taken)))
    lines.append("    return v%d" % walk[-1][1])
    names = {"call%d" % number: call for number, call in enumerate(calls)}
    exec("\n".join(lines), names)
    return names["forward"]


def is_stack(layers):
    """Return whether every layer takes only what the layer before it yields, so that no places are needed."""
    return all(layer.inputs == (number,) for number, layer in enumerate(layers))
