import pytest

from orchestrator.domain import Framework
from orchestrator.matrix.model import parse_pin
from orchestrator.matrix.values import units


@pytest.mark.parametrize(
    ("text", "count"),
    [("8g", 8 * 1024**3), ("512M", 512 * 1024**2), ("1.5TiB", 3 * 2**39), ("65536 kb", 2**26), (2**30, 2**30)],
)
def test_sizes_are_powers_of_1024(text: object, count: int) -> None:
    assert units.size_bytes(text) == count


@pytest.mark.parametrize("value", ["8q", "g", "", "8", "-8g", "8gg", None, True, 1.5, 1, "1k", "9999999t", [8]])
def test_what_is_no_size_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        units.size_bytes(value)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("90s", 90), ("10m", 600), ("1h30m", 5400), ("1h 5s", 3605), ("0.5h", 1800), (600, 600), (2.5, 2.5)],
)
def test_durations_are_seconds(text: object, seconds: float) -> None:
    assert units.duration_s(text) == seconds


@pytest.mark.parametrize(
    "value", ["", " ", "10", "m", "10 parsecs", "5m10h", 0, -1, "0s", float("nan"), float("inf"), None, True, []]
)
def test_what_is_no_duration_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        units.duration_s(value)


KERAS = Framework("keras-mxnet", "2.2.4.3", backend=Framework("mxnet", "1.5.1"))


@pytest.mark.parametrize(
    ("text", "framework", "holds"),
    [
        ("mxnet", Framework("mxnet", "1.9.1"), True),
        ("mxnet", Framework("mxnet-mkl", "1.6.0"), False),
        ("mxnet==1.9.1", Framework("mxnet", "1.9.1"), True),
        ("mxnet == 1.9.1", Framework("mxnet", "1.9.1"), True),
        ("mxnet==1.9.1", Framework("mxnet", "1.9.0"), False),
        ("mxnet>=1.5,<1.9", Framework("mxnet", "1.8.0"), True),
        ("mxnet>=1.5,<1.9", Framework("mxnet", "1.9.0"), False),
        ("mxnet==1.*", Framework("mxnet", "1.9.0"), True),
        ("mxnet", KERAS, False),
        ("keras-mxnet", KERAS, True),
        ("keras-mxnet on mxnet<1.6", KERAS, True),
        ("keras-mxnet==2.2.4.3 on mxnet==1.9.1", KERAS, False),
        ("mxnet on mxnet", Framework("mxnet", "1.9.1"), False),
        ("torch==nightly", Framework("torch", "nightly", image="x:nightly"), True),
        ("torch<2", Framework("torch", "nightly", image="x:nightly"), False),
    ],
)
def test_a_pin_matches_only_its_frameworks(text: str, framework: Framework, holds: bool) -> None:
    """A pin holds for a framework or does not, by its name, version and backend."""
    assert parse_pin(text).holds(framework) is holds


@pytest.mark.parametrize(
    "text", ["", "==1", "mxnet=1", "mxnet==", "mxnet 1.9", "a on b on c", "mxnet<one", "on mxnet", "m/x"]
)
def test_what_is_no_pin_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        parse_pin(text)
