"""Run SK Telecom's Gluon CNN without its entry script, which imports TensorFlow."""

import sys

from models.gluon_cnn_benchmark import GluonCNNBenchmark

GluonCNNBenchmark().run_benchmark(gpus=0, epochs=int(sys.argv[1]))
