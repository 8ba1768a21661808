"""Exports public architectures with random weights as ONNX files, in an interpreter with PyTorch and Transformers.

    python architectures.py FOLDER [NAME …]

Nothing is downloaded. Weights are drawn, and no tensor keeps the zeros and ones that a new model has, so that each of
them could have been learned.
"""

import sys
from pathlib import Path

import torch
import transformers

IMAGES = (torch.randn(1, 3, 224, 224),)
WORDS = (torch.randint(0, 1000, (1, 128)),)
SMALL = {"hidden_size": 256, "num_hidden_layers": 4, "num_attention_heads": 4, "intermediate_size": 1024}


def resnet():
    """Return ResNet-50."""
    return transformers.ResNetForImageClassification(transformers.ResNetConfig()), IMAGES


def mobilenet():
    """Return MobileNet V2."""
    return transformers.MobileNetV2ForImageClassification(transformers.MobileNetV2Config()), IMAGES


def vit():
    """Return a vision transformer of four layers."""
    return transformers.ViTForImageClassification(transformers.ViTConfig(**SMALL)), IMAGES


def bert():
    """Return BERT with four layers."""
    return transformers.BertModel(transformers.BertConfig(**SMALL)), WORDS


def gpt2():
    """Return GPT-2 with four layers."""
    config = transformers.GPT2Config(n_embd=256, n_layer=4, n_head=4, use_cache=False, attn_implementation="eager")
    return transformers.GPT2Model(config), WORDS


ARCHITECTURES = {each.__name__: each for each in (resnet, mobilenet, vit, bert, gpt2)}


class First(torch.nn.Module):
    """A model that yields its first output alone, without what is cached for a next step."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, given):
        """Return the first output."""
        return self.model(given, return_dict=False)[0]


def main(folder, *names):
    """Export the named architectures, or all of them."""
    torch.manual_seed(0)
    for name in names or ARCHITECTURES:
        model, example = ARCHITECTURES[name]()
        with torch.no_grad():
            for tensor in model.parameters():
                tensor.add_(0.02 * torch.randn_like(tensor))
            for key, tensor in model.named_buffers():
                if key.endswith("running_var"):
                    tensor.uniform_(0.5, 1.5)
                elif key.endswith("running_mean"):
                    tensor.normal_(0, 0.1)
        path = str(Path(folder) / (name + ".onnx"))
        torch.onnx.export(First(model.eval()), example, path, opset_version=17, dynamo=False)


if __name__ == "__main__":
    main(*sys.argv[1:])
