"""The check that an environment holds what was asked for."""

import pytest

from orchestrator.catalog.versions import is_release, mismatches


@pytest.mark.parametrize(
    ("wanted", "found", "met"),
    [
        ("1.7.0", "1.7.0", True),
        ("1.7.0", "1.7", True),
        ("1.7.0", "1.7.0.post2", True),
        ("1.7.0.post1", "1.7.0.post2", False),
        ("1.7.0.post2", "1.7.0", False),
        ("2.13.0", "2.13.0+cpu", True),
        ("2.13.0+cpu", "2.13.0+cu126", False),
        ("2.13.0+cpu", "2.13.0", False),
        ("2.13.0", "2.13.1", False),
        ("2.13.0", "2.13.0rc1", False),
        ("2.13.0rc1", "2.13.0rc1", True),
        ("2.13.0", "2.13.0.dev3", False),
        ("1.0", "1!1.0", False),
        ("nightly", "nightly", True),
        ("1.0", "unknown", False),
    ],
)
def test_post_and_local_releases_match_their_release(wanted: str, found: str, met: bool) -> None:
    """Post releases and local builds count as their release."""
    assert is_release(wanted, found) is met


def test_every_version_mismatch_is_named() -> None:
    """Every mismatch is named, whatever the spelling of the name."""
    expected = (("Keras_MXNet", "2.2.4.3"), ("numpy", "1.16.6"), ("torch[x]", "2.0"), ("six", "1.0"))
    found = {"keras-mxnet": "2.2.4.3", "numpy": "1.17.0", "Torch": "2.0", "six": None}

    assert mismatches(expected, found) == (
        "numpy 1.16.6 was asked for, 1.17.0 is there",
        "six 1.0 was asked for and is not there",
    )
