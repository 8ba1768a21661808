# ruff: noqa: E501 — each message stands on one line, as it is printed
"""Frameworks' own definitions of a model: found beside it, read without being run, refused with their place."""

import hashlib
from pathlib import Path

import pytest

from orchestrator import catalog, resources
from tests.documented import blocks

(MODEL,) = blocks("models.md", "A model of your own", "python")
IN_MXNET, IN_TORCH = blocks("models.md", "A framework's own definition", "python")
SHIPPED = catalog.load_models(resources.BENCHMARKS / "models")
BUILDERS = ", ".join(sorted(path.stem for path in (resources.BENCHMARKS / "frameworks").glob("[a-z]*.py")))


def read(folder: Path, **texts: str) -> tuple[dict[str, catalog.ModelInfo], list[str]]:
    """Read a folder with the model `wide` and these files beside it: `wide__torch` is `wide/torch.py`."""
    for name, text in {"wide": MODEL, **texts}.items():
        path = (folder / name.replace("__", "/")).with_suffix(".py")
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    found, mistakes = catalog.own_models(folder, SHIPPED, "mine")
    return found, list(mistakes.values())


def test_documented_definitions_are_read_with_their_model(tmp_path: Path) -> None:
    """The documented definitions are read with their text, and go with the model."""
    found, mistakes = read(tmp_path, wide__mxnet=IN_MXNET, wide__torch=IN_TORCH)

    assert mistakes == []
    defined = found["wide"].definitions
    assert [(each.model, each.builder, each.source) for each in defined] == [
        ("wide", "mxnet", IN_MXNET), ("wide", "torch", IN_TORCH)
    ]  # fmt: skip
    assert [each.sha256 for each in defined] == [
        hashlib.sha256(text.encode()).hexdigest() for text in (IN_MXNET, IN_TORCH)
    ]
    own = found["wide"].own
    assert own is not None
    assert own.files == {"wide.py": MODEL, "wide/mxnet.py": IN_MXNET, "wide/torch.py": IN_TORCH}


def test_nothing_of_a_definition_is_executed(tmp_path: Path) -> None:
    ran = tmp_path / "ran"

    assert read(tmp_path, wide__torch=f"{IN_TORCH}\nopen({str(ran)!r}, 'w')\n")[1] == []
    assert not ran.exists()


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("wide__pytorch", IN_TORCH, f"mine/wide/pytorch.py:1:1: not a definition: no framework builder is called 'pytorch'; there is {BUILDERS}"),
        ("wide__torch", "x = (", "mine/wide/torch.py:1:5: not a definition: '(' was never closed"),
        ("wide__torch", IN_TORCH.replace("def start(", "def begin("), "mine/wide/torch.py:1:1: not a definition: it has no function start(workload)"),
        ("wide__torch", IN_TORCH.replace("def start(workload)", "def start()"), "mine/wide/torch.py:6:1: not a definition: start takes one argument, workload"),
        ("wide__mxnet", IN_MXNET.replace('OPTIONS = ["hybridize"]', 'OPTIONS = {"hybridize": True}'), 'mine/wide/mxnet.py:6:11: not a definition: OPTIONS must be a literal list of names, such as ["layout"]'),
        ("wider__torch", IN_TORCH, "mine/wider/torch.py:1:1: not a definition: there is no model mine/wider.py next to it"),
        ("lenet__torch", IN_TORCH, "mine/lenet/torch.py:1:1: not a definition: there is no model mine/lenet.py next to it"),
    ],
)  # fmt: skip
def test_a_bad_definition_is_one_placed_mistake(tmp_path: Path, name: str, text: str, message: str) -> None:
    """A file that is no definition is one mistake with its place."""
    found, mistakes = read(tmp_path, **{name: text})

    assert mistakes == [message]
    assert found["wide"].definitions == ()


def test_folders_that_are_not_meant_are_left_alone(tmp_path: Path) -> None:
    found, mistakes = read(tmp_path, notes__plots="x = (", wide___part="x = (")

    assert (list(found), mistakes) == (["wide"], [])


def test_models_of_the_program_may_have_them_too(tmp_path: Path) -> None:
    read(tmp_path, wide__torch=IN_TORCH)

    assert [each.builder for each in catalog.load_models(tmp_path)["wide"].definitions] == ["torch"]
