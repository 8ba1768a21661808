"""Environment variables as options of any framework, written `env.NAME`."""

import re

from orchestrator.domain import VARIABLE, OptionValue
from orchestrator.matrix.values import kinds

OURS = frozenset({
    "BENCH_BUILDER", "CUDA_DEVICE_ORDER", "CUDA_VISIBLE_DEVICES", "HOME", "LANG", "MKL_NUM_THREADS",
    "NUMEXPR_NUM_THREADS", "NVIDIA_DRIVER_CAPABILITIES", "NVIDIA_TF32_OVERRIDE", "NVIDIA_VISIBLE_DEVICES",
    "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "PATH", "PYTHONPATH", "TMPDIR", "VECLIB_MAXIMUM_THREADS",
})  # fmt: skip
"""Variables that the runtimes set from what a system asks for.

A matrix that set them too would measure something else.
"""


def is_variable(option: str) -> bool:
    """Return true if an option's name is that of an environment variable."""
    return option.startswith(VARIABLE)


def name_problem(option: str) -> str | None:
    """Return the reason that `env.NAME` is no valid option, or None if it is valid."""
    name = option.removeprefix(VARIABLE)
    if not re.fullmatch(kinds.VARIABLE, name):
        return f"{name[:100]!r} is no name of an environment variable: letters, digits and _"
    if name in OURS:
        return f"{name} is set by the runtime, from `systems` and the image; drop this"
    return None


def value_problem(option: str, value: OptionValue) -> str | None:
    """Return the reason that a variable cannot take a value, or None if it can."""
    if isinstance(value, bool):
        return f'{option} takes text: write "{str(value).lower()}" or "{int(value)}" in quotes'
    if isinstance(value, str) and ("\0" in value or "\n" in value):
        return f"{option} takes one line of text"
    if isinstance(value, str) and len(value) > kinds.MAX_TEXT:
        return f"{option} takes at most {kinds.MAX_TEXT:,} characters"
    return None
