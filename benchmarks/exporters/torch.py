"""PyTorch's own exporter, in the form and with the opset that its release takes by default."""

import io

import torch

NAME = "torch.onnx %s" % torch.__version__.partition("+")[0]


def write(session, inputs, path):
    """Export the network in evaluation mode. The memory format of images shows in no file."""
    batch = session.batches[0][0]
    args = tuple(batch) if len(inputs) > 1 else (batch,)
    written = io.BytesIO()  # beside a path the weights would get a file of their own
    names = [each.name for each in inputs]
    torch.onnx.export(session.network(), args, written, input_names=names, output_names=["logits"])
    with open(path, "wb") as file:
        file.write(written.getvalue())
    return False
