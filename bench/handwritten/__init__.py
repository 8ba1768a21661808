"""Training loops as people write them by hand, one per framework, for comparison with the harness.

Each is a separate script that imports nothing of ours. `--threads 2 --batch 200 --warmup 20 --steps 200 --every 20`
trains on random images and random labels that are placed before the loop, and prints the samples/s of every so many
steps. A step may take longer once a model has learned, so that both sides of a comparison are to have trained as long.
They train LeNet; those of serving engines infer what is in a file. Those of PyTorch and JAX also take `--model`
(resnet20, vgg19, lstm or encoder) and `--device gpu`, and that of TensorFlow `--model encoder`.

Scripts whose names end in `_generation` generate tokens by a decoder after `--prompt` tokens, `--output` of them, and
print the tokens/s of every so many generations.
"""
