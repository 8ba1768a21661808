"""The layers, optimizers and weights of which models are made, without any framework."""
