"""The parts that a mode is described with."""
