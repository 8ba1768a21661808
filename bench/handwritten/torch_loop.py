"""LeNet in PyTorch, eager, tuned for a CPU by channels last in memory and a fused optimizer where there are such."""

import argparse
import time

import learnable
import torch
from torch import nn

parser = argparse.ArgumentParser()
for name in ("threads", "batch", "warmup", "steps", "every"):
    parser.add_argument("--" + name, type=int, required=True)
args = parser.parse_args()
torch.set_num_threads(args.threads)
torch.manual_seed(0)

model = nn.Sequential(
    nn.Conv2d(1, 6, 5),
    nn.ReLU(),
    nn.AvgPool2d(2),
    nn.Conv2d(6, 16, 3),
    nn.ReLU(),
    nn.AvgPool2d(2),
    nn.Flatten(),
    nn.Linear(400, 120),
    nn.ReLU(),
    nn.Linear(120, 84),
    nn.ReLU(),
    nn.Linear(84, 10),
)
TUNED = not torch.__version__.startswith("1.")
if TUNED:
    model = model.to(memory_format=torch.channels_last)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=0.001, **({"fused": True} if TUNED else {}))
batches = [(torch.tensor(x), torch.tensor(y, dtype=torch.long)) for x, y in learnable.batches(args.batch)]


def train(first, count):
    for i in range(first, first + count):
        x, y = batches[i % len(batches)]
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()


train(0, args.warmup)
for start in range(0, args.steps, args.every):
    tic = time.perf_counter()
    train(start, args.every)
    learnable.report(args.every * args.batch, tic)
