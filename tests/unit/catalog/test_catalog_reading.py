from pathlib import Path

import pytest

from orchestrator import catalog, resources
from orchestrator.domain import Framework
from orchestrator.errors import InputError
from tests.seen_backends import seen_backends

GOOD = """\
title: A framework
builder: it
packages: {it: it}
known: ["1.0"]
releases:
  - {versions: ">=1,<2", python: ["3.11"]}
"""
OPTION = "options: {{{}: {{values: [1, 2], help: h{}}}}}\nknown:"
MXNET = "benchmarks/frameworks/mxnet.py"


def mistakes(folder: Path) -> list[str]:
    with pytest.raises(InputError) as caught:
        catalog.load(folder)
    return [message.replace(f"{folder}/", "") for message in caught.value.messages]


def test_every_known_release_has_an_environment() -> None:
    """The shipped catalog has an environment for every release that it claims to know."""
    shipped = catalog.load(resources.IMAGES / "catalog")

    assert {"mxnet", "mxnet-mkl", "noop"} <= set(shipped.names())
    for family, entry in shipped.entries.items():
        for version in shipped.seen(family):
            backend = next(iter(seen_backends(shipped, family, version)), None)
            environment = shipped.environment(Framework(family, version, backend=backend), 0)
            assert environment.builder == entry.builder
            assert environment.python


def test_a_good_file_loads(tmp_path: Path) -> None:
    (tmp_path / "it.yaml").write_text(GOOD)

    assert catalog.load(tmp_path).names() == ("it",)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("builder: it", "bilder: it", "2:1: unknown key 'bilder'"),
        ('">=1,<2"', '"1.x"', "6:16: releases.versions: '1.x' is no version range such as '>=1.5,<2'"),
        ('"1.0"', '"3.0"', "4:9: known: '3.0' is in no range of releases"),
        ("{it: it}", "{other: it}", "3:11: packages: has no line for 'it', the name of the file"),
        (
            '"]}',
            '"], requirements: ["a b"]}',
            "6:58: releases.requirements: 'a b' is no pip requirement such as 'numpy<1.24'",
        ),
        ("known:", OPTION.format("x", ""), "4:14: options.x: OPTIONS of benchmarks/frameworks/it.py has no option 'x'"),
        (
            'builder: it\npackages: {it: it}\nknown: ["1.0"]',
            OPTION.format("hybridize", "").replace("known:", "builder: mxnet\npackages: {it: it}"),
            "2:31: options.hybridize.values: the builder's default True is none of them",
        ),
        (
            'builder: it\npackages: {it: it}\nknown: ["1.0"]',
            OPTION.format("hybridize", ", default: 1").replace("known:", "builder: mxnet\npackages: {it: it}"),
            f"2:57: options.hybridize.default: the default stands in OPTIONS of {MXNET}; remove it here",
        ),
        ("title:", "title: again\ntitle:", "2:1: duplicate key 'title'; the first is on line 1"),
        ("known:", "backends: [there]\nknown:", "1:1: backends: there is no framework 'there' in FOLDER"),
    ],
)
def test_a_mistake_names_its_file_and_place(tmp_path: Path, old: str, new: str, expected: str) -> None:
    """A mistake names its file, its place and the thing that is wrong."""
    (tmp_path / "it.yaml").write_text(GOOD.replace(old, new))

    assert "it.yaml:" + expected.replace("FOLDER", str(tmp_path)) in mistakes(tmp_path)


def test_mistakes_of_every_file_are_told_at_once(tmp_path: Path) -> None:
    (tmp_path / "it.yaml").write_text("title: [")
    (tmp_path / "that.yaml").write_text("")

    found = mistakes(tmp_path)

    assert len(found) == 2
    assert found[0].startswith("it.yaml:1:9: not YAML:")
    assert found[1] == "that.yaml:1:1: the file is empty"


def test_one_name_in_two_files_is_a_mistake(tmp_path: Path) -> None:
    (tmp_path / "it.yaml").write_text(GOOD)
    (tmp_path / "that.yaml").write_text(GOOD.replace("{it: it}", "{that: that, it: it}"))

    assert mistakes(tmp_path) == ["that.yaml:1:1: packages: 'it' is already in it.yaml"]


def test_an_empty_folder_is_a_mistake(tmp_path: Path) -> None:
    assert "holds no framework" in mistakes(tmp_path)[0]


def test_models_are_read_without_being_executed(models: dict[str, catalog.ModelInfo]) -> None:
    assert list(models) == ["lenet", "mlp"]
    assert models["lenet"].batch_size == 200
    assert models["lenet"].input_shape == (1, 28, 28)
    assert models["lenet"].optimizer["name"] == "adam"


def test_the_shipped_models_load() -> None:
    assert {"lenet", "mlp"} <= set(catalog.load_models(resources.BENCHMARKS / "models"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("def (", "m.py:1:5: not a model: invalid syntax"),
        ('TITLE = "x"\n', "m.py:1:1: not a model: INPUT_SHAPE must be a literal tuple at the top of the file"),
        ("TITLE = open('x')\n", "m.py:1:9: not a model: TITLE must be a literal str at the top of the file"),
    ],
)
def test_a_file_that_is_no_model_is_named(tmp_path: Path, text: str, expected: str) -> None:
    (tmp_path / "m.py").write_text(text)

    with pytest.raises(InputError) as caught:
        catalog.load_models(tmp_path)

    assert str(caught.value).startswith(f"{tmp_path}/{expected}")


def test_a_batch_size_of_nothing_is_refused(tmp_path: Path) -> None:
    lines = 'TITLE="x"\nINPUT_SHAPE=(1,)\nCLASSES=2\nBATCH_SIZE=0\nSAMPLES=1\nOPTIMIZER={}\n'
    (tmp_path / "m.py").write_text(lines)

    with pytest.raises(InputError, match="BATCH_SIZE must be a whole number from 1"):
        catalog.load_models(tmp_path)
