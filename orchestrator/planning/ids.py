"""Names of cells and images.

They are readable, safe in paths, globs, tags and anchors, and show every axis that is off its default.
"""

import hashlib
import re

from orchestrator.domain import Framework, Options, OptionValue, System

MAX_PART = 200
"""File systems take 255 bytes in a component."""
DEFINED = "-definition=own"
"""The end of the id of a cell that runs the framework's own definition of a model, which makes it another cell."""
MAX_ALIAS = 100
"""Engines take 128 characters in a tag, and the content hash needs some of them."""
_UNSAFE = re.compile(r"[^A-Za-z0-9._=+-]")
_UNSAFE_TAG = re.compile(r"[^A-Za-z0-9._-]")


def environment(framework: Framework, default_python: str) -> str:
    """Return the part of a name that tells the environments of a framework apart.

    An example is `1.9.1-python=3.12-numpy=2.3.0`.
    """
    parts = [framework.version]
    if framework.backend:
        parts.append(f"on-{framework.backend.name}-{framework.backend.version}")
    if framework.image or framework.dockerfile:
        parts.append("image" if framework.image else "dockerfile")
    if framework.python and framework.python != default_python:
        parts.append(f"python={framework.python}")
    parts.extend(f"{name}={version}" for name, version in framework.packages)
    return "-".join(parts)


def first_part(framework: Framework, special: str, system: System) -> str:
    """Return the first part of a cell's id, such as `mxnet-1.9.1-cpu`."""
    return bounded(_UNSAFE.sub("_", f"{framework.name}-{special}-{system.name}"), MAX_PART)


def second_part(workload_label: str, option_suffix: str) -> str:
    """Return the second part of a cell's id, such as `lenet-train-b200-hybridize=false`."""
    return bounded(_UNSAFE.sub("_", workload_label + option_suffix), MAX_PART)


def option_suffix(options: Options, defaults: dict[str, OptionValue]) -> str:
    """Return the options that are off their default, each after a dash."""
    return "".join(
        f"-{name}={option_text(value)}" for name, value in options if name not in defaults or value != defaults[name]
    )


def option_text(value: OptionValue) -> str:
    """Return a value as YAML writes it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def image(framework: Framework, special: str, system: System) -> tuple[str, str]:
    """Return the repository and the alias of an image, such as `bench/mxnet` and `1.9.1-cpu`."""
    alias = _UNSAFE_TAG.sub("_", f"{special.replace('=', '')}-{system.image_class}")
    return f"bench/{framework.name.lower()}", bounded(alias, MAX_ALIAS)


def bounded(text: str, limit: int) -> str:
    """Return a text within a limit, where a digest replaces what is cut off."""
    if len(text) <= limit:
        return text
    digest = hashlib.sha256(text.encode()).hexdigest()[:12]
    return f"{text[: limit - 13]}-{digest}"
