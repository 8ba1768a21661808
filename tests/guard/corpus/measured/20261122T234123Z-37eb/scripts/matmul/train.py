"""A script that multiplies matrices with NumPy."""
import sys, time
import numpy as np

np.random.seed(3)
one = np.random.rand(64, 64)
for epoch in range(3):
    start = time.time()
    for _ in range(20):
        one = one @ one / np.linalg.norm(one)
    print("speed: %.1f" % (20 / max(time.time() - start, 1e-9)))
print("norm: %.6f" % np.linalg.norm(one))
