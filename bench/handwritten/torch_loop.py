"""Training in PyTorch, eager, tuned by a fused optimizer and on a CPU by channels last, where there are such.

On a GPU it computes in float32 without TF32, and has cuDNN look for the fastest algorithms.
"""

import argparse

import learnable
import torch
import torch_networks as networks
from torch import nn

parser = argparse.ArgumentParser()
for name in ("threads", "batch", "warmup", "steps", "every"):
    parser.add_argument("--" + name, type=int, required=True)
parser.add_argument("--model", choices=sorted(learnable.MODELS), default="lenet")
parser.add_argument("--device", choices=("cpu", "gpu"), default="cpu")
args = parser.parse_args()
torch.set_num_threads(args.threads)
torch.manual_seed(0)
device = torch.device("cuda:0" if args.device == "gpu" else "cpu")
torch.backends.cudnn.benchmark = args.device == "gpu"
torch.backends.cudnn.allow_tf32 = False

TUNED = not torch.__version__.startswith("1.")
channels_last = TUNED and args.device == "cpu"
model = getattr(networks, args.model)().to(device)
if channels_last:
    model = model.to(memory_format=torch.channels_last)
criterion = nn.CrossEntropyLoss()
trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
optimizer = networks.optimizer(args.model, trained, TUNED)
batches = []
for x, y in learnable.batches(args.batch, **learnable.MODELS[args.model]):
    kind = torch.long if x.dtype.kind == "i" else torch.float32
    inputs, labels = torch.tensor(x, dtype=kind, device=device), torch.tensor(y, dtype=torch.long, device=device)
    if channels_last and inputs.dim() == 4:
        inputs = inputs.contiguous(memory_format=torch.channels_last)
    batches.append((inputs, labels))


def train(first, count):
    for i in range(first, first + count):
        x, y = batches[i % len(batches)]
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
    if args.device == "gpu":
        torch.cuda.synchronize()


train(0, args.warmup)
for start in range(0, args.steps, args.every):
    tic = learnable.now()
    train(start, args.every)
    learnable.report(args.every * args.batch, tic)
