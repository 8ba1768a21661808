"""Greedy generation in PyTorch by a decoder as Llama is one, eager, with preallocated keys and values.

On a GPU it computes in float32 without TF32.
"""

import generating
import torch
from generating import DEPTH, EPSILON, HEADS, INNER, SHARED_HEADS, VOCABULARY, WIDTH
from torch import nn
from torch.nn import functional

args = generating.arguments()
torch.set_num_threads(args.threads)
torch.manual_seed(0)
device = torch.device("cuda:0" if args.device == "gpu" else "cpu")
SIZE = WIDTH // HEADS
COSINES, SINES = (torch.tensor(each, device=device) for each in generating.angles(args.prompt + args.output))


def turned(values, begin):
    first, second = values.chunk(2, dim=-1)
    end = begin + values.shape[2]
    cosines, sines = COSINES[begin:end], SINES[begin:end]
    return torch.cat((first * cosines - second * sines, second * cosines + first * sines), dim=-1)


class Layer(nn.Module):
    """Attention and a gate, each behind a norm."""

    def __init__(self):
        super().__init__()
        self.before, self.between = (nn.RMSNorm(WIDTH, eps=EPSILON) for _ in range(2))
        self.query = nn.Linear(WIDTH, WIDTH, bias=False)
        self.key = nn.Linear(WIDTH, SHARED_HEADS * SIZE, bias=False)
        self.value = nn.Linear(WIDTH, SHARED_HEADS * SIZE, bias=False)
        self.output = nn.Linear(WIDTH, WIDTH, bias=False)
        self.gate = nn.Linear(WIDTH, INNER, bias=False)
        self.up = nn.Linear(WIDTH, INNER, bias=False)
        self.down = nn.Linear(INNER, WIDTH, bias=False)
        shape = (args.batch, SHARED_HEADS, args.prompt + args.output, SIZE)
        self.keys, self.values = torch.zeros(shape, device=device), torch.zeros(shape, device=device)

    def forward(self, x, begin):
        batch, steps, _ = x.shape
        y, end = self.before(x), begin + steps
        query = turned(self.query(y).view(batch, steps, HEADS, SIZE).transpose(1, 2), begin)
        self.keys[:, :, begin:end] = turned(self.key(y).view(batch, steps, SHARED_HEADS, SIZE).transpose(1, 2), begin)
        self.values[:, :, begin:end] = self.value(y).view(batch, steps, SHARED_HEADS, SIZE).transpose(1, 2)
        attended = functional.scaled_dot_product_attention(
            query, self.keys[:, :, :end], self.values[:, :, :end], is_causal=steps > 1, enable_gqa=True
        )
        x = x + self.output(attended.transpose(1, 2).reshape(batch, steps, WIDTH))
        y = self.between(x)
        return x + self.down(functional.silu(self.gate(y)) * self.up(y))


class Decoder(nn.Module):
    """The logits after the last of some tokens, which begin at a position."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(VOCABULARY, WIDTH)
        self.layers = nn.ModuleList(Layer() for _ in range(DEPTH))
        self.norm = nn.RMSNorm(WIDTH, eps=EPSILON)
        self.head = nn.Linear(WIDTH, VOCABULARY, bias=False)

    def forward(self, tokens, begin):
        x = self.embedding(tokens)
        for layer in self.layers:
            x = layer(x, begin)
        return self.head(self.norm(x[:, -1]))


model = Decoder().to(device).eval()
batches = [torch.tensor(each, dtype=torch.long, device=device) for each in generating.prompts(args.batch, args.prompt)]


@torch.inference_mode()
def generate(prompt):
    tokens = model(prompt, 0).argmax(-1)
    streamed = [tokens.cpu()]
    for position in range(args.prompt, args.prompt + args.output - 1):
        tokens = model(tokens[:, None], position).argmax(-1)
        streamed.append(tokens.cpu())
    return streamed


generating.run(generate, batches, args)
