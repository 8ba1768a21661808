"""The walk of a recorded graph as one function."""

from collections import namedtuple

from benchmarks.vocabulary import graph

Layer = namedtuple("Layer", "inputs")


def test_a_straight_walk_calls_each_layer_in_its_turn():
    """Values that are needed later outlive those between, and a place that is free is used again."""
    layers = [Layer((0,)), Layer((1,)), Layer((0, 2)), Layer((3,)), Layer((3, 4))]
    calls = [lambda *taken, name=name: f"{name}({','.join(taken)})" for name in "abcde"]

    forward = graph.straight(layers, calls)

    assert forward("x") == "e(c(x,b(a(x))),d(c(x,b(a(x)))))"
    assert forward("y") == forward("x").replace("x", "y")
