"""The precision in which a GPU multiplies, shown by the error of one product of matrices.

A framework says which precision it was set to. The error says which one the GPU computed in. The operands have 24 bits:
float32 keeps all of them, TF32 11 and bfloat16 8.
"""

import os

from benchmarks.errors import Failure, Unsupported

FULL, TF32 = "fp32", "tf32"
ARITHMETIC = {FULL: FULL, TF32: TF32, "bf16": "bf16", "amp": "bf16"}
"""The arithmetic of products for each value of the option `precision`."""

SIZE = 256
SEED = 14
_LARGEST_ERRORS = ((FULL, 1e-5), (TF32, 1.3e-3), ("bf16", 1e-2))
"""Largest relative error of a product in each arithmetic.

Of these operands the error is 3e-7 in float32, 3e-4 in TF32 or 8e-4 where its operands are cut off and not rounded, and
2e-3 to 4e-3 in bfloat16.
"""
_OVERRIDE = "NVIDIA_TF32_OVERRIDE"
LEAST_CAPABILITY = (8, 0)
"""The lowest compute capability whose tensor cores multiply in TF32."""


def set_override(options):
    """Forbid NVIDIA's libraries to round to TF32 unless it is asked for. This counts before they are loaded."""
    if options.get("precision") == TF32:
        os.environ.pop(_OVERRIDE, None)
    else:
        os.environ[_OVERRIDE] = "0"


def require_tf32(capability, has_switch):
    """Raise `Unsupported` unless a GPU has TF32 and the framework a switch for it.

    `capability` is the compute capability of the GPU as two numbers, or None on a CPU.
    """
    if capability is None:
        raise Unsupported("tf32 is arithmetic of GPUs, which a CPU lacks; fp32 runs on it")
    if tuple(capability) < LEAST_CAPABILITY:
        needed = "tf32 needs a GPU of compute capability %d.%d or more; this one has %d.%d"
        raise Unsupported(needed % (LEAST_CAPABILITY + tuple(capability)))
    if not has_switch:
        raise Unsupported("this release of the framework has no switch for tf32")


def require_asked(request, workload, session):
    """Raise a `Failure` if a session with a GPU multiplies in another precision than the one that was asked for.

    Return what was asked, what the error shows, and the error. Return None on a CPU, and of a session that has no
    `product`, such as one of a user's own definition.
    """
    multiply = getattr(session, "product", None) if request.gpus else None
    if multiply is None:
        return None
    asked = workload.options.get("precision", FULL)
    error = error_of(multiply(*operands()))
    shown = arithmetic_of(error)
    if shown != ARITHMETIC[asked]:
        message = "asked for precision %s, and a product on the GPU has the relative error %.2g, which is that of %s"
        raise Failure(message % (asked, error, shown or "no precision known here"))
    return {"asked": asked, "shown": shown, "error": float("%.3g" % error)}


def operands():
    """Return two matrices of float32 values that use all of its bits."""
    import numpy

    return numpy.random.RandomState(SEED).standard_normal((2, SIZE, SIZE)).astype(numpy.float32)


def error_of(product):
    """Return how far a product of the operands is from that in float64, relative to its norm."""
    import numpy

    left, right = operands().astype(numpy.float64)
    exact = left.dot(right)
    return float(numpy.linalg.norm(numpy.asarray(product, numpy.float64) - exact) / numpy.linalg.norm(exact))


def arithmetic_of(error):
    """Return the arithmetic that has such an error, or None if there is none."""
    return next((name for name, largest in _LARGEST_ERRORS if error <= largest), None)
