"""Training loops as people write them by hand, one per framework, for comparison with the harness.

Each is a separate script that imports nothing of ours. `--threads 2 --batch 200 --warmup 20 --steps 200 --every 20`
trains on random images and random labels that are placed before the loop, and prints the samples/s of every so many
steps. With such labels the loss stays near that of guessing for long; a step costs the same.
They train LeNet. Those of PyTorch and JAX also take `--model` (resnet20, vgg19 or lstm) and `--device gpu`.
"""
