"""Sides of a regression test, as they are written on the command line."""

import pytest

from orchestrator.catalog import Catalog
from orchestrator.errors import InputError
from orchestrator.regression.sides import Side, parse_side


def test_a_side_is_a_release_with_packages(five_frameworks: Catalog) -> None:
    """A side is a release with packages next to it."""
    found = parse_side("mxnet==1.9.1, NumPy==1.22.4,scipy==1.8", "--baseline", five_frameworks)

    assert found == Side("mxnet", "1.9.1", None, (("numpy", "1.22.4"), ("scipy", "1.8")))
    assert found.text == "mxnet==1.9.1,numpy==1.22.4,scipy==1.8"
    assert found.label == "mxnet 1.9.1 with numpy 1.22.4 and scipy 1.8"


def test_a_side_of_keras_names_its_backend(five_frameworks: Catalog) -> None:
    found = parse_side("keras-mxnet==2.2.4.3 on mxnet==1.5.1,h5py==2.10", "--candidate", five_frameworks)

    assert found == Side("keras-mxnet", "2.2.4.3", ("mxnet", "1.5.1"), (("h5py", "2.10"),))
    assert parse_side(found.text, "--candidate", five_frameworks) == found


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no pin of a framework; write one such as mxnet==1.9.1 or mxnet==1.9.1,numpy==1.22.4"),
        ("mxnet=1", "no pin of a framework; write one such as mxnet==1.9.1 or mxnet==1.9.1,numpy==1.22.4"),
        ("mxnett==1", "unknown framework 'mxnett'; did you mean 'mxnet'?"),
        ("mxnet", "names no one release; write it with '==', such as mxnet==1.9.1"),
        ("mxnet>=1.5", "names no one release; write it with '==', such as mxnet==1.9.1"),
        ("keras-mxnet==2.2", "'keras-mxnet' needs a backend: keras-mxnet==VERSION on mxnet==VERSION"),
        ("keras-mxnet==2.2 on mxnet", "the backend needs one version: mxnet==VERSION"),
        ("keras-mxnet==2.2 on torch==2", "unknown backend 'torch' of keras-mxnet; there is mxnet, mxnet-mkl"),
        ("mxnet==1.9.1 on torch==2", "'mxnet' runs on no backend; drop 'on torch'"),
        ("mxnet==1.9.1,numpy", "'numpy' is no package with its version, such as numpy==1.22.4"),
        ("mxnet==1.9.1,", "'' is no package with its version, such as numpy==1.22.4"),
        ("mxnet==1.9.1,numpy==new", "'new' in 'numpy==new' is no version such as 1.22.4"),
        ("mxnet==1.9.1,numpy==1.2,NumPy==1.3", "'NumPy' is pinned twice; keep one"),
        (
            "mxnet==1.9.1,mxnet==1.8",
            "'mxnet==1.8' pins the framework once more; its version stands at the beginning",
        ),
    ],
)
def test_each_mistake_of_a_side_has_a_remedy(five_frameworks: Catalog, text: str, said: str) -> None:
    """Every mistake of a side is reported with its remedy."""
    with pytest.raises(InputError) as caught:
        parse_side(text, "--baseline", five_frameworks)

    assert caught.value.messages == (f"--baseline {text!r}: {said}",)


def test_all_mistakes_of_a_side_come_at_once(five_frameworks: Catalog) -> None:
    with pytest.raises(InputError) as caught:
        parse_side("mxnet,numpy,scipy==x", "--baseline", five_frameworks)

    assert len(caught.value.messages) == 3


def test_a_side_may_be_a_package_of_the_matrix(five_frameworks: Catalog) -> None:
    """A package that the matrix names is a side, under its canonical name, with further packages next to it."""
    side = parse_side("NumPy==1.26.4,scipy==1.8", "--baseline", five_frameworks, {"numpy", "onnx"})

    assert side == Side("numpy", "1.26.4", None, (("scipy", "1.8"),), is_package=True)
    assert side.text == "numpy==1.26.4,scipy==1.8"
    assert side.pins == {"numpy": "1.26.4", "scipy": "1.8"}
    assert not parse_side("mxnet==1.9.1", "--baseline", five_frameworks, {"numpy", "mxnet"}).is_package


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "nunpy==1.26",
            "unknown framework 'nunpy', and the matrix names no such package in `packages`; did you mean 'numpy'?",
        ),
        ("numpy", "names no one release; write it with '==', such as numpy==1.22.4"),
        ("numpy>=1.2", "names no one release; write it with '==', such as numpy==1.22.4"),
        ("numpy==new", "'new' is no version such as 1.22.4"),
        ("numpy==1.2 on mxnet==1.5", "the package 'numpy' runs on no backend; drop 'on mxnet'"),
        ("numpy==1.2,NumPy==1.3", "'NumPy==1.3' pins numpy once more; its version stands at the beginning"),
    ],
)
def test_each_mistake_of_a_package_has_a_remedy(five_frameworks: Catalog, text: str, said: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_side(text, "--baseline", five_frameworks, {"numpy"})

    assert caught.value.messages == (f"--baseline {text!r}: {said}",)
